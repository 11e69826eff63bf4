import type { Page } from 'playwright-core';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { accessibilityViolations, openBrowser, type TestBrowser } from '../../testing/browser.ts';
import {
  enterCredentials,
  fill,
  press,
  pressOn,
  reads,
  sees,
  startSite,
  type TestSite,
} from '../../testing/pages.ts';
import { PASSWORD } from '../../testing/population.ts';

const NEW = 'Brand-new-horse-9-staple';

let site: TestSite;
let browser: TestBrowser;
let tenant: Tenant;
let user: User;
let page: Page;
beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), openBrowser()]);
  tenant = await site.identity.people.tenant({ name: 'Analytical Engines Ltd' });
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});
beforeEach(async () => {
  user = await site.identity.people.user({ tenant });
  page = await browser.newPerson();
});
afterEach(async () => {
  await page.context().close();
  expect(browser.complaints()).toEqual([]);
});

const enter = async (visitor = page, password = PASSWORD) => {
  await visitor.goto(`${site.url}/sign-in`);
  await enterCredentials(visitor, user, password);
  await visitor.goto(`${site.url}/account/activity`);
};

/** Entries of the user, one per minute, newest first. */
const record = (...actions: string[]) =>
  site.identity.context.database.activityEntry.createMany({
    data: actions.map((action, index) => ({
      userId: user.id,
      tenantId: tenant.id,
      action,
      ipAddress: '192.0.2.7',
      userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0',
      createdAt: new Date(Date.UTC(2026, 9, 5, 12) - index * 60_000),
    })),
  });

const entries = (visitor = page) => visitor.locator('.items strong').allTextContents();

describe('the activity page', () => {
  test('shows activity in words, grouped by day, with device and address', async () => {
    await record('pin_set', 'member_updated');
    await enter();
    await sees(page, 'Activity');
    await sees(page, 'Today');
    await sees(page, 'Monday, October 5, 2026');
    expect(await entries()).toEqual([
      'Signed in',
      'Set a PIN',
      'Changed the role or permissions of a member',
    ]);
    await reads(page, /12:00.*Firefox on Windows · IP address 192.0.2.7/);
    await reads(page, /in Analytical Engines Ltd · Firefox on Windows/);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('is filtered by category and time', async () => {
    await record('pin_set', 'profile_updated');
    await enter();
    await page.getByLabel('Show', { exact: true }).selectOption('Security settings');
    await press(page, 'Apply');
    expect(await entries()).toEqual(['Set a PIN']);
    await page.getByLabel('Show', { exact: true }).selectOption('Everything');
    await page.getByLabel('Time range').selectOption('Last 24 hours');
    await press(page, 'Apply');
    expect(await entries()).toEqual(['Signed in']);
    expect(await page.getByLabel('Time range').inputValue()).toBe('day');
  });

  test('says if nothing matches, and links to all entries', async () => {
    await enter();
    await page.getByLabel('Show', { exact: true }).selectOption('Connected apps');
    await press(page, 'Apply');
    await reads(page, 'No activity matches this filter.');
    await page.getByRole('link', { name: 'Show all activity' }).click();
    await sees(page, 'Today');
  });

  test('is paginated and keeps its filters', async () => {
    await record(...Array.from({ length: 45 }, () => 'login'), 'pin_set');
    await enter();
    await page.goto(`${site.url}/account/activity?kind=sign_in`);
    await reads(page, 'Page 1 of 3');
    await page.getByRole('link', { name: 'Older' }).click();
    await reads(page, 'Page 2 of 3');
    await page.getByRole('link', { name: 'Older' }).click();
    await reads(page, 'Page 3 of 3');
    expect(await entries()).toHaveLength(6);
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Newer' }).click();
    await reads(page, 'Page 2 of 3');
  });

  test('shows that an administrator acted, but not who or from where', async () => {
    const chief = await site.identity.people.user({ data: { isSystemAdmin: true } });
    await site.identity.context.database.activityEntry.create({
      data: {
        userId: user.id,
        action: 'impersonated',
        impersonatorId: chief.id,
        ipAddress: '198.51.100.9',
      },
    });
    await enter();
    await reads(page, 'An administrator of this service accessed your account');
    const body = await page.locator('main').textContent();
    expect(body).toContain('Done by an administrator of this service');
    expect(body).not.toContain('198.51.100.9');
  });
});

describe('"This was not me"', () => {
  const dispute = async (visitor = page) => {
    await visitor
      .getByRole('link', { name: /^This was not me: Signed in/ })
      .first()
      .click();
    await sees(visitor, 'Secure your account');
  };

  test('replaces the password, signs out all other devices and lists what to check', async () => {
    const thief = await browser.newPerson();
    await enter(thief);
    await enter();
    await dispute();
    await reads(page, 'What you do not recognize');
    expect(await accessibilityViolations(page)).toEqual([]);
    await fill(page, {
      'Current password': PASSWORD,
      'New password': NEW,
      'Confirm new password': NEW,
    });
    await press(page, 'Secure my account');
    await sees(page, 'Your account is secured');
    await page.getByRole('link', { name: /^Two-factor authentication: turn it on/ }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await thief.reload();
    await sees(thief, 'Sign in');
    await thief.context().close();
    await page.goto(`${site.url}/account/activity`);
    expect(await entries()).toEqual(
      expect.arrayContaining(['Reported activity that was not yours', 'Changed the password']),
    );
    const mail = await site.mailbox.next('account_secured', user.email ?? '');
    expect(mail.link.href).toBe(`${site.url}/account/activity`);
  });

  test('works without JavaScript, and shows errors in the form', async () => {
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
    const plain = (await context?.newPage()) as Page;
    await enter(plain);
    await dispute(plain);
    await fill(plain, {
      'Current password': 'wrong',
      'New password': NEW,
      'Confirm new password': NEW,
    });
    await press(plain, 'Secure my account');
    await reads(plain, 'The current password is incorrect.');
    await reads(plain, 'What you do not recognize');
    await fill(plain, {
      'Current password': PASSWORD,
      'New password': NEW,
      'Confirm new password': NEW,
    });
    await press(plain, 'Secure my account');
    await sees(plain, 'Your account is secured');
    await context?.close();
  });

  test('sends a link to users who do not know their password', async () => {
    await enter();
    await dispute();
    await page.getByRole('link', { name: 'Get a link by email' }).click();
    await sees(page, 'Choose a new password by email');
    await press(page, 'Sign out everywhere else and send link');
    await sees(page, 'Check your email');
    const { link } = await site.mailbox.next('password_reset', user.email ?? '');
    await page.goto(link.href);
    await sees(page, 'Choose a new password');
  });

  test('has its own page for links in mails, also before signing in', async () => {
    await page.goto(`${site.url}/account/activity/not-me`);
    await enterCredentials(page, user);
    await sees(page, 'Secure your account');
    expect(await page.getByText('What you do not recognize').count()).toBe(0);
    await pressOn(page, page.getByRole('link', { name: 'It was me after all' }));
    await sees(page, 'Activity');
  });
});
