import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../testing/browser.ts';
import { pkce } from '../testing/code-flow.ts';
import { enterCredentials, seesAccount, startSite, type TestSite } from '../testing/pages.ts';

/** A web application on another port: another origin of the same site, so its requests carry the session cookie. */
const startPanel = async () => {
  const server = createServer((_req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end('<!doctype html><title>Panel</title><h1>Panel</h1>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, stop: () => new Promise((resolve) => server.close(resolve)) };
};

let panel: Awaited<ReturnType<typeof startPanel>>;
let site: TestSite;
let browser: TestBrowser;
let page: Page;
beforeAll(async () => {
  panel = await startPanel();
  [site, browser] = await Promise.all([startSite({ CORS_ORIGINS: panel.url }), openBrowser()]);
  const tenant = await site.identity.people.tenant();
  page = await browser.newPerson();
  await page.goto(`${site.url}/account`);
  await enterCredentials(page, await site.identity.people.user({ tenant }));
  await seesAccount(page);
  await page.goto(panel.url);
});
afterAll(async () => {
  await browser.close();
  await site.stop();
  await panel.stop();
});

/** What a script of the panel reads of a path of identity: the text, or why it cannot. */
const readBy = (options: object, path: string): Promise<string> =>
  page.evaluate(
    `fetch(${JSON.stringify(site.url + path)}, ${JSON.stringify(options)})
      .then((answer) => answer.text(), (error) => error.message)`,
  );

const withCookie = { credentials: 'include' };

test('a script of a configured origin reads the API', async () => {
  const told = JSON.parse(await readBy(withCookie, '/api/health'));
  expect(told).toMatchObject({ status: 'ok' });
});

test.each([
  '/account',
  '/account/two-factor/set-up',
  '/account/two-factor/recovery-codes',
  '/account/devices',
  '/account/activity',
  '/session',
  '/sign-in',
  '/oauth/authorize?client_id=x',
  '/docs',
  '/account/nothing',
  '/',
])('it cannot read %s', async (path) => {
  const unreadable = 'Failed to fetch';
  expect(await readBy(withCookie, path)).toBe(unreadable);
  expect(await readBy({ ...withCookie, headers: { 'x-mine': '1' } }, path)).toBe(unreadable);
  expect(await readBy({ ...withCookie, method: 'POST' }, path)).toBe(unreadable);
  // An opaque response has no text.
  const opaque = await readBy({ ...withCookie, mode: 'no-cors' }, path);
  expect(['', unreadable]).toContain(opaque);
});

test('a form of another site begins an authorization in the session of the browser', async () => {
  // Another site than 127.0.0.1, whose forms come without the cookie of the session.
  const elsewhere = panel.url.replace('127.0.0.1', 'localhost');
  const redirectUri = `${elsewhere}/callback`;
  const client = await site.flow.client({ redirectUris: [redirectUri] });
  const query = site.flow.query(client, pkce().challenge, { state: 'mine' });
  const person = await page.context().newPage();
  await person.goto(elsewhere);
  await person.evaluate(`(() => {
    const form = document.body.appendChild(document.createElement('form'));
    form.method = 'post';
    form.action = ${JSON.stringify(`${site.url}/oauth/authorize`)};
    for (const [name, value] of Object.entries(${JSON.stringify(query)})) {
      const input = form.appendChild(document.createElement('input'));
      Object.assign(input, { name, value });
    }
    form.submit();
  })()`);
  await person.waitForURL((url) => url.pathname === '/callback');
  const told = new URL(person.url()).searchParams;
  expect([told.get('state'), told.get('code')]).toEqual(['mine', expect.stringMatching(/\S/)]);
});

test('the page and its own script still work', async () => {
  const person = await page.context().newPage();
  await person.goto(panel.url);
  const opened = `window.open(${JSON.stringify(`${site.url}/account`)}, '_self')`;
  await Promise.all([person.waitForURL(`${site.url}/account`), person.evaluate(opened)]);
  await seesAccount(person);
  const state = await person.evaluate("fetch('/session').then((answer) => answer.json())");
  expect(state).toMatchObject({ signed_in: true });
});
