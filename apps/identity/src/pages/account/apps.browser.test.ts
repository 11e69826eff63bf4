import type { Page } from 'playwright-core';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { accessibilityViolations, openBrowser, type TestBrowser } from '../../testing/browser.ts';
import {
  enterCredentials,
  press,
  reads,
  sees,
  startSite,
  type TestSite,
} from '../../testing/pages.ts';
import { type RelyingParty, startRelyingParty } from '../../testing/relying-party.ts';
import { bearerOf } from '../../testing/sessions.ts';

const SCOPE = 'openid email tenant.*.crm.contacts.view';

let site: TestSite;
let browser: TestBrowser;
let ledger: RelyingParty;
let tenant: Tenant;
let user: User;
let page: Page;
beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), openBrowser()]);
  ledger = await startRelyingParty(site.identity, site.flow, {
    isTrusted: false,
    allowedScopes: ['tenant.*.crm.*.*'],
  });
});
afterAll(async () => {
  await browser.close();
  await ledger.stop();
  await site.stop();
});
beforeEach(async () => {
  tenant = await site.identity.people.tenant({ name: 'Analytical Engines' });
  user = await site.identity.people.user({ tenant });
  page = await browser.newPerson();
});
afterEach(async () => {
  await page.context().close();
  expect(browser.complaints()).toEqual([]);
});

/** Signs in through a third-party application and gives consent. */
const allowLedger = async (): Promise<string> => {
  await ledger.begin(page, { scope: SCOPE });
  await enterCredentials(page, user);
  await press(page, 'Allow');
  return (await ledger.finish(page)).access_token;
};
const isGood = async (token: string) =>
  (await site.identity.http.get('/api/user').set(bearerOf(token))).status === 200;
const item = (name: string) => page.getByRole('listitem').filter({ hasText: name });

describe('the apps page', () => {
  test('says so if no application has access', async () => {
    await page.goto(`${site.url}/account/apps`);
    await enterCredentials(page, user);
    await sees(page, 'No apps yet');
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('shows the permissions of a third-party application with tenant and times', async () => {
    await allowLedger();
    await page.goto(`${site.url}/account/apps`);
    await sees(page, 'Apps you gave access');
    const ledgerItem = item('Ledger').first();
    for (const text of [
      'Third-party app',
      'Organization: Analytical Engines',
      /Since: \w+ \d+, 20\d\d/,
      'Last used: now',
      'Contacts: view',
      'See your email address',
    ]) {
      await ledgerItem.getByText(text).first().waitFor();
    }
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('removes an application’s access after showing the effects', async () => {
    const token = await allowLedger();
    await page.goto(`${site.url}/account/apps`);
    await page.getByRole('link', { name: 'Remove access Ledger' }).click();
    await sees(page, 'Remove the access of Ledger?');
    await reads(page, 'Contacts: view');
    expect(await isGood(token)).toBe(true);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Remove access Ledger' }).click();
    await press(page, 'Remove access');
    await reads(page, 'The app no longer has access to your account.');
    await sees(page, 'No apps yet');
    expect(await isGood(token)).toBe(false);
    await ledger.begin(page, { scope: SCOPE });
    await sees(page, 'Ledger wants to access your account');
  });

  test('signs out of an application that needs no consent, without scripts', async () => {
    const person = await browser.newPerson({ javaScriptEnabled: false });
    const cookie = await site.flow.signIn(user);
    const client = await site.flow.client({ tenantId: tenant.id });
    const tokens = await site.flow.tokens(client, cookie);
    await person.goto(`${site.url}/account/apps`);
    await enterCredentials(person, user);
    await sees(person, 'Apps you are signed in to');
    await reads(person, 'Run by Analytical Engines');
    await person.getByRole('link', { name: 'Sign out Panel' }).click();
    await sees(person, 'Sign out of Panel?');
    await person.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
    await reads(person, 'You have been signed out of the app.');
    expect(await isGood(tokens.access_token)).toBe(false);
    await person.context().close();
  });
});
