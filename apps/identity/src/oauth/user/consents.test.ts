import type { Origin } from '../../origin.ts';
import { CodeFlow, type TestClient } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { present } from '../../testing/tokens.ts';
import type { Consents } from './consents.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let consents: Consents;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  ({ consents } = identity.context.authorizationServer);
});
afterAll(() => identity.stop());

const origin: Origin = { ipAddress: null, userAgent: null };
const challenge = 'c'.repeat(43);
const secretOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1);

/** A user at the consent page of a client that nobody vouches for. */
const asked = async (changes: Record<string, string> = {}) => {
  const client = await flow.client({ isTrusted: false });
  const cookie = await flow.signIn(await identity.people.user());
  return { client, cookie, ...(await sendToConsent(client, cookie, changes)) };
};

const sendToConsent = async (
  client: TestClient,
  cookie: string,
  changes: Record<string, string> = {},
) => {
  const query = flow.query(client, challenge, { state: 's', scope: 'openid profile', ...changes });
  const answer = await flow.authorize(query, cookie);
  const address = new URL(answer.headers.location ?? '');
  expect([answer.status, address.origin]).toEqual([302, 'https://identity.test']);
  expect(address.pathname).toMatch(/^\/consent\/[\w-]{20,}$/);
  const [resume = ''] = [answer.headers['set-cookie'] ?? []].flat();
  return { uid: address.pathname.split('/').at(-1) ?? '', resume };
};

/** Goes where the browser is sent after the page, with its cookies. */
const goOn = (address: string, cookie: string, resume: string) => {
  const { origin: at, pathname } = new URL(address);
  expect(at).toBe('https://identity.test');
  return identity.http
    .get(pathname)
    .set('cookie', `${cookie}; ${resume.split(';')[0]}`)
    .redirects(0);
};

test('an untrusted client goes to the consent page, which is told who asks for what', async () => {
  const { client, cookie, uid, resume } = await asked();
  expect(await consents.show(uid, secretOf(cookie), origin)).toEqual({
    client: { id: client.clientId, name: 'Panel' },
    redirectUri: client.redirectUri,
    scopes: ['openid', 'profile', 'api'],
  });
  expect(resume).toMatch(new RegExp(`path=/oauth/authorize/${uid};.*; secure; httponly`, 'i'));
});

test('once the user accepts, the browser comes back with a code', async () => {
  const { client, cookie, uid, resume } = await asked();
  const answer = await goOn(await consents.accept(uid, secretOf(cookie), origin), cookie, resume);
  expect(answer.status).toBe(302);
  expect(Object.fromEntries(flow.told(answer))).toEqual({
    code: expect.any(String),
    state: 's',
    iss: 'https://identity.test',
  });
  expect(answer.headers.location).toContain(client.redirectUri);
});

test('the consent is remembered for as long as the session lasts, and for no other', async () => {
  const user = await identity.people.user();
  const cookie = await flow.signIn(user);
  const client = await flow.client({ isTrusted: false });
  const { uid, resume } = await sendToConsent(client, cookie);
  await goOn(await consents.accept(uid, secretOf(cookie), origin), cookie, resume);

  const first = await flow.tokens(client, cookie, { scope: 'openid' });
  const second = await flow.tokens(client, cookie, { scope: 'openid profile' });
  expect([first.scope, second.scope]).toEqual(['openid api', 'openid profile api']);
  expect((await present(identity.http, first.access_token)).status).toBe(200);
  await sendToConsent(client, cookie, { scope: 'openid email' });
  await sendToConsent(client, cookie, { prompt: 'consent' });
  await sendToConsent(await flow.client({ isTrusted: false }), cookie);
  await sendToConsent(client, await flow.signIn(user));
});

test('the end of one chain of tokens leaves the consent and other chains alone', async () => {
  const { client, cookie, uid, resume } = await asked();
  await goOn(await consents.accept(uid, secretOf(cookie), origin), cookie, resume);
  const kept = await flow.tokens(client, cookie);
  const given = await flow.code(client, cookie);
  await flow.exchange(client, given);
  expect((await flow.exchange(client, given)).status).toBe(400);
  expect((await present(identity.http, kept.access_token)).status).toBe(200);
  expect((await flow.tokens(client, cookie)).scope).toBe('api');
});

test('once the user refuses, the client is told access_denied', async () => {
  const { client, cookie, uid, resume } = await asked();
  const answer = await goOn(await consents.refuse(uid, secretOf(cookie), origin), cookie, resume);
  expect(answer.headers.location).toContain(client.redirectUri);
  expect(Object.fromEntries(flow.told(answer))).toMatchObject({
    error: 'access_denied',
    state: 's',
    iss: 'https://identity.test',
  });
});

test('a request is the business of its own session alone', async () => {
  const { uid, cookie } = await asked();
  const stranger = await flow.signIn(await identity.people.user());
  for (const secret of [secretOf(stranger), 'nonsense', '', undefined]) {
    for (const act of ['show', 'accept', 'refuse'] as const) {
      await expect(consents[act](uid, secret, origin)).rejects.toMatchObject({ status: 404 });
    }
  }
  const unknown = consents.accept('nonsense', secretOf(cookie), origin);
  await expect(unknown).rejects.toMatchObject({ status: 404 });
});

test('a request is answered once', async () => {
  const { uid, cookie } = await asked();
  await consents.refuse(uid, secretOf(cookie), origin);
  const again = consents.accept(uid, secretOf(cookie), origin);
  await expect(again).rejects.toMatchObject({ status: 409 });
});

test('nobody goes on without the answer, without the cookie or as somebody else', async () => {
  const { uid, cookie, resume } = await asked();
  const path = `https://identity.test/oauth/authorize/${uid}`;
  const stranger = await flow.signIn(await identity.people.user());
  for (const answer of [
    await goOn(path, cookie, ''),
    await goOn(path, stranger, resume),
    await goOn(path, '', resume),
    await goOn('https://identity.test/oauth/authorize/nonsense', cookie, ''),
  ]) {
    expect([answer.status, answer.body.success]).toEqual([400, false]);
    expect(answer.headers).not.toHaveProperty('location');
  }
  const unanswered = await goOn(path, cookie, resume);
  expect(unanswered.headers.location ?? '').not.toContain('code=');
});

test('a request that nobody answers is not kept for long', async () => {
  await asked();
  const rows = await identity.context.database.oAuthArtifact.findMany({
    where: { model: 'Interaction' },
  });
  expect(rows.length).toBeGreaterThan(0);
  const inTenMinutes = Date.now() + 600_000;
  for (const { expiresAt } of rows) expect(+(expiresAt ?? inTenMinutes)).toBeLessThan(inTenMinutes);
});

test('the session’s secret is not kept with the request', async () => {
  const { cookie } = await asked();
  const rows = await identity.context.database.oAuthArtifact.findMany();
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(secretOf(cookie));
});
