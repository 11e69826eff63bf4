import type { Page } from 'playwright-core';
import type { User } from '../../generated/prisma/client.ts';
import { accessibilityViolations, openBrowser, type TestBrowser } from '../../testing/browser.ts';
import { enterCredentials, press, sees, startSite, type TestSite } from '../../testing/pages.ts';

let site: TestSite;
let browser: TestBrowser;
let user: User;
let page: Page;
beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});
beforeEach(async () => {
  user = await site.identity.people.user({ tenant: await site.identity.people.tenant() });
  page = await browser.newPerson();
});
afterEach(() => expect(browser.complaints()).toEqual([]));

describe('the account', () => {
  test('is shown after a sign-in without application', async () => {
    await page.goto(`${site.url}/account`);
    await sees(page, 'Sign in');
    await enterCredentials(page, user);
    await page.waitForURL(`${site.url}/account`);
    await sees(page, `Hello, ${user.firstName}`);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('marks the current section in its navigation', async () => {
    await page.goto(`${site.url}/sign-in`);
    await enterCredentials(page, user);
    const current = page.getByRole('navigation', { name: 'Account' }).locator('[aria-current]');
    expect(await current.textContent()).toBe('Overview');
  });

  test('has a sign-out button on every page', async () => {
    await page.goto(`${site.url}/sign-in`);
    await enterCredentials(page, user);
    await press(page, 'Sign out');
    await sees(page, 'You are signed out');
  });
});
