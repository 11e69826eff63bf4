import type { Page } from 'playwright-core';
import type { User } from '../generated/prisma/client.ts';
import { openBrowser, type TestBrowser } from '../testing/browser.ts';
import {
  enterCredentials,
  fill,
  hasFocus,
  press,
  reads,
  sees,
  seesAccount,
  startSite,
  type TestSite,
} from '../testing/pages.ts';
import { PASSWORD } from '../testing/population.ts';

const NEW = 'Another-horse-8-battery';

let site: TestSite;
let browser: TestBrowser;
let user: User;
let page: Page;
beforeAll(async () => {
  [site, browser] = await Promise.all([startSite({ IDLE_SIGN_OUT_SECONDS: '600' }), openBrowser()]);
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

const signIn = async (password = PASSWORD): Promise<void> => {
  await page.goto(`${site.url}/sign-in`);
  await enterCredentials(page, user, password);
  await page.waitForURL(`${site.url}/account`);
};

const linkOf = async (kind: string, address: string | null): Promise<string> =>
  (await site.mailbox.next(kind, address ?? '')).link.href;

describe('a forgotten password', () => {
  test('is replaced with the mailed link, which works once', async () => {
    await page.goto(`${site.url}/sign-in`);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await fill(page, { 'Email address': user.email ?? '' });
    await press(page, 'Send link');
    await sees(page, 'Check your email');

    const link = await linkOf('password_reset', user.email);
    await page.goto(link);
    await fill(page, { Password: NEW, 'Confirm password': `${NEW}!` });
    await press(page, 'Save password');
    await reads(page, 'The passwords do not match.');
    await fill(page, { Password: NEW, 'Confirm password': NEW });
    await press(page, 'Save password');
    await reads(page, 'Your password has been changed. Sign in with your new password.');
    await enterCredentials(page, user, NEW);
    await page.waitForURL(`${site.url}/account`);

    await page.goto(link);
    await reads(page, 'This link is invalid or has expired.');
    await page.getByRole('link', { name: 'Request a new link' }).click();
    await sees(page, 'Forgot your password?');
  });
});

describe('a new account', () => {
  test('is registered, confirmed with a button, and then signed in to', async () => {
    const email = `grace-${process.pid}@example.test`;
    await page.goto(`${site.url}/sign-in`);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await fill(page, {
      'First name': 'Grace',
      'Last name': 'Hopper',
      'Company or team name': 'Compilers & Sons',
      'Email address': email,
      Password: NEW,
      'Confirm password': NEW,
    });
    await press(page, 'Create account');
    await sees(page, 'Check your email');

    const link = await linkOf('email_verification', email);
    const found = () => site.identity.context.database.user.findFirst({ where: { email } });
    await page.goto(link);
    expect((await found())?.emailVerifiedAt).toBeNull();
    await press(page, 'Confirm email address');
    await reads(page, 'Your email address is confirmed.');
    expect((await found())?.emailVerifiedAt).not.toBeNull();
    await enterCredentials(page, { email }, NEW);
    await seesAccount(page);
    await reads(page, email);
  });

  test('gets another link if the first is invalid', async () => {
    const { database } = site.identity.context;
    await database.user.update({ where: { id: user.id }, data: { emailVerifiedAt: null } });
    await page.goto(`${site.url}/email/verify?token=worthless`);
    await reads(page, 'This link is invalid or has expired.');
    await fill(page, { 'Email address': user.email ?? '' });
    await press(page, 'Send a new link');
    await sees(page, 'Check your email');
    // Another browser than the one that registered: the recipient chooses a new password.
    await page.goto(await linkOf('email_verification', user.email));
    await sees(page, 'Is this your account?');
    await fill(page, { Password: NEW, 'Confirm password': NEW });
    await press(page, 'Confirm and save password');
    await reads(page, 'Your email address is confirmed.');
    await enterCredentials(page, user, NEW);
    await seesAccount(page);
    await reads(page, user.email ?? '');
  });
});

describe('an invitation', () => {
  const invite = async (email: string | null): Promise<string> => {
    const { people, http } = site.identity;
    const tenant = await people.tenant({ name: 'Analytical Engines' });
    const bearer = await people.caller(tenant, '*');
    await http
      .post(`/api/tenants/${tenant.id}/members`)
      .set(bearer)
      .send({ email, role: 'member' })
      .expect(202);
    return linkOf('invitation', email);
  };

  test('creates an account for a new user', async () => {
    const email = `charles-${process.pid}@example.test`;
    await page.goto(await invite(email));
    await sees(page, 'Join Analytical Engines');
    await fill(page, {
      'First name': 'Charles',
      'Last name': 'Babbage',
      Password: NEW,
      'Confirm password': NEW,
    });
    await press(page, 'Accept invitation');
    await reads(page, 'You have joined the organization. Sign in to get started.');
    await enterCredentials(page, { email }, NEW);
    await page.waitForURL(`${site.url}/account`);
  });

  test('is accepted by the signed-in invited user, once', async () => {
    const { database } = site.identity.context;
    const data = { emailVerifiedAt: new Date() };
    await database.user.update({ where: { id: user.id }, data });
    const link = await invite(user.email);
    await page.goto(link);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await enterCredentials(page, user);
    await sees(page, 'Join Analytical Engines');
    await press(page, 'Accept invitation');
    await reads(page, 'You have joined the organization.');
    expect(await database.membership.count({ where: { userId: user.id } })).toBe(2);
    await page.goto(link);
    await reads(page, 'This link is invalid or has expired.');
  });
});

describe('a session', () => {
  test('ends when the user signs out, with its cookie', async () => {
    await signIn();
    await press(page, 'Sign out');
    await sees(page, 'You are signed out');
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('session');
    await page.goto(`${site.url}/account`);
    await sees(page, 'Sign in');
    await page.goBack();
    await page.reload();
    expect(await page.getByText(user.email ?? '').count()).toBe(0);
  });

  test('can change the password, which ends the other sessions', async () => {
    await signIn();
    const here = page;
    page = await browser.newPerson();
    await signIn();
    await here.getByRole('link', { name: 'Password', exact: true }).click();
    await fill(here, {
      'Current password': PASSWORD,
      'New password': NEW,
      'Confirm new password': NEW,
    });
    await press(here, 'Change password');
    await reads(here, 'Your password has been changed.');
    await page.reload();
    await sees(page, 'Sign in');
  });

  /** Simulates inactivity in the user's session in the database, because the server's clock decides. */
  const rest = (seconds: number) =>
    site.identity.context.database.session.updateMany({
      where: { userId: user.id },
      data: { lastActiveAt: new Date(Date.now() - seconds * 1000) },
    });
  const warningIn = (tab: typeof page) =>
    tab.getByRole('alertdialog', { name: 'Are you still there?' });

  test('without activity ends after a warning, unless the user reacts', async () => {
    await page.clock.install();
    await signIn();
    await site.identity.context.sessionUses.flush();
    const dialog = warningIn(page);
    await page.clock.fastForward('08:00');
    expect(await dialog.isVisible()).toBe(false);
    await rest(610);
    await page.clock.fastForward('01:50');
    await dialog.waitFor();
    await hasFocus(page, page.getByRole('button', { name: 'Stay signed in' }));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await site.identity.context.sessionUses.flush();
    await rest(700);
    await page.clock.fastForward('10:30');
    await page.waitForURL(`${site.url}/signed-out?reason=idle`);
    await reads(page, 'because of inactivity');
    await page.goto(`${site.url}/account`);
    await sees(page, 'Sign in');
  });

  test('shows no warning during activity in another tab or application', async () => {
    const { clock } = page.context();
    await clock.install();
    await signIn();
    const other = await page.context().newPage();
    await other.goto(`${site.url}/account`);
    await site.identity.context.sessionUses.flush();
    await rest(300);
    const told = page.waitForResponse(`${site.url}/session`);
    await clock.fastForward('10:00');
    await told;
    expect(await warningIn(page).isVisible()).toBe(false);
    await page.reload();
    await seesAccount(page);
    await site.identity.context.sessionUses.flush();
    await rest(700);
    await clock.fastForward('11:00');
    for (const tab of [page, other]) await tab.waitForURL(`${site.url}/signed-out?reason=idle`);
  });

  test('with "remember me" has no idle timeout', async () => {
    await page.clock.install();
    await page.goto(`${site.url}/sign-in`);
    await fill(page, { 'Email address': user.email ?? '', Password: PASSWORD });
    await page.getByLabel('Stay signed in').check();
    await press(page, 'Sign in');
    await seesAccount(page);
    await rest(86_400);
    await page.clock.fastForward('59:00');
    await page.reload();
    await seesAccount(page);
    expect(await warningIn(page).count()).toBe(0);
  });
});
