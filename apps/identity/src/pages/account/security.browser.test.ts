import type { Page } from 'playwright-core';
import type { User } from '../../generated/prisma/client.ts';
import { totpAt } from '../../testing/authenticator.ts';
import { accessibilityViolations, openBrowser, type TestBrowser } from '../../testing/browser.ts';
import {
  enterCode,
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

const NEW = 'Another-horse-8-battery';
const PIN = '192837';

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
  page = await browser.newPerson({ permissions: ['clipboard-read', 'clipboard-write'] });
});
afterEach(() => expect(browser.complaints()).toEqual([]));

const open = (path: string) => page.goto(site.url + path);

const signIn = async (next: string): Promise<void> => {
  await open(`/sign-in?next=${encodeURIComponent(next)}`);
  await enterCredentials(page, user);
  await page.waitForURL(`${site.url}${next}`);
};

/** Sets the age of the last authentication. */
const wait = async (seconds: number): Promise<void> => {
  await site.identity.context.database.session.updateMany({
    where: { userId: user.id },
    data: { authenticatedAt: new Date(Date.now() - seconds * 1000) },
  });
};

const follow = async (name: string): Promise<void> =>
  pressOn(page, page.getByRole('link', { name, exact: true }));

/** Enables the second factor until its recovery codes are shown. */
const turnOn = async (): Promise<string> => {
  await press(page, 'Set up');
  await sees(page, 'Set up two-factor authentication');
  const secret = (await page.locator('.secret').textContent()) ?? '';
  await fill(page, { Code: totpAt(secret, Date.now()) });
  await press(page, 'Turn on');
  await sees(page, 'Save your recovery codes');
  return secret;
};

const codesShown = (): Promise<string[]> => page.locator('#codes li').allTextContents();

describe('the password', () => {
  test('can be changed, with rules checked while typing and announced to screen readers', async () => {
    await open('/.well-known/change-password');
    await enterCredentials(page, user);
    await page.waitForURL(`${site.url}/account/password`);
    await reads(page, 'You have not changed it yet.');
    const met = () => page.locator('.rules .met span:last-child').allTextContents();
    const at = page.getByLabel('New password', { exact: true });
    await at.fill('horse');
    await expect(met()).resolves.toContain('A lowercase letter');
    expect(await met()).not.toContain('An uppercase letter');
    await page.getByRole('status').filter({ hasText: 'Missing: At least 12 characters' }).waitFor();
    await at.fill(NEW);
    expect(await met()).not.toContain('The same in both fields');
    await fill(page, { 'Confirm new password': NEW, 'Current password': PASSWORD });
    await page.getByRole('status').filter({ hasText: 'The password meets these rules.' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await press(page, 'Change password');
    await reads(page, 'You have been signed out everywhere else.');
    await reads(page, 'Last changed:');
    const mail = await site.mailbox.next('password_changed', user.email ?? '');
    expect(mail.link.pathname).toBe('/password/forgot');
  });

  test('that only the server rejects shows the reason', async () => {
    await signIn('/account/password');
    const common = 'Password1234!';
    await fill(page, {
      'Current password': PASSWORD,
      'New password': common,
      'Confirm new password': common,
    });
    await press(page, 'Change password');
    await reads(page, 'Choose a less common password.');
  });
});

describe('the second factor', () => {
  test('can be set up: a wrong code keeps the QR code, and recovery codes are shown until saved', async () => {
    await signIn('/account/two-factor');
    await press(page, 'Set up');
    const picture = await page.locator('.qr').getAttribute('src');
    await fill(page, { Code: '000000' });
    await press(page, 'Turn on');
    await reads(page, 'This code is incorrect');
    expect(await page.locator('.qr').getAttribute('src')).toBe(picture);
    await page.getByText('Cannot scan the code?').click();
    const link = page.getByRole('link', { name: 'Open it in an app on this device' });
    expect(await link.getAttribute('href')).toMatch(/^otpauth:\/\/totp\//);
    await reads(page, user.email ?? '');
    expect(await accessibilityViolations(page)).toEqual([]);
    const secret = (await page.locator('.secret').textContent()) ?? '';
    await fill(page, { Code: totpAt(secret, Date.now()) });
    await press(page, 'Turn on');

    await reads(page, 'Two-factor authentication is on.');
    const codes = await codesShown();
    expect(codes).toHaveLength(8);
    expect(await accessibilityViolations(page)).toEqual([]);
    // The page can be left and reopened.
    await open('/account/two-factor');
    await sees(page, 'Save your recovery codes');
    expect(await codesShown()).toEqual(codes);
    await press(page, 'Done');
    await reads(page, 'Save the codes first');
    expect(await codesShown()).toEqual(codes);

    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes.join('\n'));
    const loading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const file = await loading;
    expect(file.suggestedFilename()).toBe('recovery-codes.txt');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
    expect(await page.getByText(codes[0] ?? '').isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });

    await page.getByLabel('I have saved these codes').check();
    await press(page, 'Done');
    await sees(page, 'Two-factor authentication');
    await reads(page, 'Recovery codes left');
    await open('/account/two-factor/recovery-codes');
    await sees(page, 'Two-factor authentication');
    expect(await page.content()).not.toContain(codes[0]);

    // A shown code works.
    const other = await browser.newPerson();
    await other.goto(`${site.url}/sign-in`);
    await enterCredentials(other, user);
    await enterCode(other, codes[0] ?? '');
    await other.waitForURL(`${site.url}/account`);
    await page.reload();
    expect(await page.locator('dd').last().textContent()).toBe('7');
  });

  test('can get new recovery codes and be disabled, with the password', async () => {
    await signIn('/account/two-factor');
    await turnOn();
    const first = await codesShown();
    await page.getByLabel('I have saved these codes').check();
    await press(page, 'Done');

    await follow('Create new recovery codes');
    await reads(page, 'Your current recovery codes stop working at once');
    await fill(page, { Password: 'Wrong-horse-8-battery' });
    await press(page, 'Create new codes');
    await reads(page, 'The password is incorrect.');
    // A form with a password does not ask for it again.
    await wait(601);
    await fill(page, { Password: PASSWORD });
    await press(page, 'Create new codes');
    await sees(page, 'Save your recovery codes');
    const second = await codesShown();
    expect(second).toHaveLength(8);
    expect(second).not.toContain(first[0]);
    await page.getByLabel('I have saved these codes').check();
    await press(page, 'Done');

    await follow('Turn off');
    await reads(page, 'your password alone is enough to sign in');
    expect(await accessibilityViolations(page)).toEqual([]);
    await fill(page, { Password: PASSWORD });
    await press(page, 'Turn off');
    await reads(page, 'Two-factor authentication is off.');
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    const mail = await site.mailbox.next('factor_removed', user.email ?? '');
    expect(mail.link.pathname).toBe('/account/activity');
  });

  test('can be set up without scripts: codes can be selected and downloaded', async () => {
    page = await browser.newPerson({ javaScriptEnabled: false });
    await signIn('/account/two-factor');
    await turnOn();
    const codes = await codesShown();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk));
    const lines = Buffer.concat(chunks).toString().split('\r\n');
    expect(lines[0]).toBe(`Recovery codes for ${user.email} at Tessera`);
    expect(lines).toEqual(expect.arrayContaining(codes));
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.getByLabel('I have saved these codes').check();
    await press(page, 'Done');
    await sees(page, 'Two-factor authentication');
  });
});

describe('the PIN', () => {
  const setPin = () => fill(page, { 'New PIN': PIN, 'Confirm PIN': PIN });

  test('can be set, changed and removed', async () => {
    await signIn('/account/pin');
    await fill(page, { 'New PIN': '123456', 'Confirm PIN': '123456' });
    await press(page, 'Set PIN');
    await reads(page, 'Do not use digits in a row');
    await setPin();
    await press(page, 'Set PIN');
    await reads(page, 'Your PIN is set.');
    expect(await accessibilityViolations(page)).toEqual([]);

    await follow('Change PIN');
    await fill(page, { 'Current PIN': '918273', 'New PIN': '564738', 'Confirm PIN': '564738' });
    await press(page, 'Change PIN');
    await reads(page, 'The current PIN is incorrect.');
    await fill(page, { 'Current PIN': PIN, 'New PIN': '564738', 'Confirm PIN': '564738' });
    await press(page, 'Change PIN');
    await reads(page, 'Your PIN has been changed.');
    const mail = await site.mailbox.next('pin_changed', user.email ?? '');
    expect(mail.link.pathname).toBe('/account/activity');

    await follow('Remove PIN');
    await reads(page, 'Sessions that are still waiting for it will be signed out.');
    await fill(page, { Password: PASSWORD });
    await press(page, 'Remove PIN');
    await reads(page, 'Your PIN has been removed.');
  });

  test('that is locked after too many attempts shows until when', async () => {
    const { people, context } = site.identity;
    await people.setPin(await people.signIn(user), PIN);
    await context.database.pin.update({
      where: { userId: user.id },
      data: { failures: 5, lockedUntil: new Date(Date.now() + 300_000) },
    });
    await context.database.session.updateMany({ data: { pinPending: false } });
    await open('/sign-in');
    await enterCredentials(page, user);
    await sees(page, 'Enter your PIN');
    await context.database.session.updateMany({ data: { pinPending: false } });
    await open('/account/pin');
    await reads(page, /You can use your PIN again in 5 minutes/);
  });

  test('is set after confirming the password if the last authentication is old', async () => {
    await signIn('/account/pin');
    await setPin();
    await wait(601);
    await press(page, 'Set PIN');
    await sees(page, 'Confirm that it is you');
    expect(await accessibilityViolations(page)).toEqual([]);
    await fill(page, { Password: 'Wrong-horse-8-battery' });
    await press(page, 'Continue');
    await reads(page, 'The password is incorrect.');
    await fill(page, { Password: PASSWORD });
    await press(page, 'Continue');
    await reads(page, 'Your PIN is set.');
  });

  test('is set after confirming a code if the user prefers that', async () => {
    const { people } = site.identity;
    await signIn('/account/pin');
    const authenticator = await people.enableTwoFactor(user, await people.signIn(user));
    await setPin();
    await wait(601);
    await press(page, 'Set PIN');
    await press(page, 'Use a code instead');
    await enterCode(page, await authenticator.code());
    await reads(page, 'Your PIN is set.');
  });
});
