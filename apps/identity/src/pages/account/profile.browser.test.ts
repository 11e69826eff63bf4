import type { Page } from 'playwright-core';
import sharp from 'sharp';
import type { User } from '../../generated/prisma/client.ts';
import { accessibilityViolations, openBrowser, type TestBrowser } from '../../testing/browser.ts';
import {
  enterCredentials,
  fill,
  press,
  reads,
  sees,
  startSite,
  type TestSite,
} from '../../testing/pages.ts';
import { PASSWORD } from '../../testing/population.ts';

const NEW = 'Another-horse-8-battery';

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

const enter = async (path: string): Promise<void> => {
  await page.goto(site.url + path);
  await enterCredentials(page, user);
  await page.waitForURL(site.url + path);
};
const linkOf = async (kind: string, address: string | null): Promise<string> =>
  (await site.mailbox.next(kind, address ?? '')).link.href;
const image = (format: 'png' | 'jpeg') =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: 'teal' } })
    .toFormat(format)
    .toBuffer();
const choose = async (buffer: Buffer, name = 'me.png'): Promise<void> => {
  const file = { name, mimeType: 'image/png', buffer };
  await page.getByLabel('Image file').setInputFiles(file);
};

describe('the profile', () => {
  test('can be changed, and uses the chosen language at once', async () => {
    await enter('/account/profile');
    expect(await accessibilityViolations(page)).toEqual([]);
    await fill(page, { 'First name': 'Augusta', 'Phone number': '+36 1 234 5678' });
    await page.getByLabel('Time zone').selectOption('Europe/Budapest');
    await page.getByRole('combobox', { name: 'Language' }).selectOption('hu');
    await press(page, 'Save');
    await reads(page, 'A profilját elmentettük.');
    expect(await page.locator('html').getAttribute('lang')).toBe('hu');
    const found = await site.identity.context.database.user.findUniqueOrThrow({
      where: { id: user.id },
    });
    expect(found).toMatchObject({
      firstName: 'Augusta',
      phone: '+36 1 234 5678',
      timezone: 'Europe/Budapest',
      locale: 'hu',
    });
    await page.getByLabel('Telefonszám').fill('');
    await press(page, 'Mentés');
    await reads(page, 'A profilját elmentettük.');
    expect(await page.getByLabel('Telefonszám').inputValue()).toBe('');
  });

  test('shows errors, and keeps what was typed and chosen', async () => {
    await enter('/account/profile');
    await fill(page, { 'First name': '', 'Phone number': 'call me' });
    await page.getByLabel('Time zone').selectOption('Asia/Kolkata');
    await press(page, 'Save');
    await reads(page, 'Enter your first name.');
    await reads(page, 'Enter a phone number');
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Kolkata');
    expect(await page.getByLabel('Phone number').inputValue()).toBe('call me');
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

describe('the picture', () => {
  test('can be uploaded, shown, replaced and removed', async () => {
    await enter('/account/profile');
    await page.getByRole('link', { name: 'Change picture' }).click();
    await sees(page, 'Picture');
    expect(await accessibilityViolations(page)).toEqual([]);
    await choose(await image('png'));
    await press(page, 'Save picture');
    await reads(page, 'Your picture has been saved.');
    const shown = page.getByRole('img', { name: 'Your picture' });
    expect(await shown.evaluate((img: { naturalWidth: number }) => img.naturalWidth)).toBe(256);
    await page.getByRole('link', { name: 'Change picture' }).click();
    await press(page, 'Remove picture');
    await reads(page, 'Your picture has been removed.');
    expect(await page.getByRole('img', { name: 'Your picture' }).count()).toBe(0);
  });

  test.each([
    ['no file at all', undefined],
    ['a file that is no image', Buffer.from('MZ not a picture')],
    ['a file that is too large', Buffer.alloc(11 * 1024 * 1024)],
  ])('is rejected with the reason: %s', async (_what, content) => {
    await enter('/account/profile/picture');
    if (content) await choose(content);
    await press(page, 'Save picture');
    await reads(page, 'Choose a JPEG, PNG, WebP, or GIF image of at most 10 MB');
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

describe('the email address', () => {
  test('is changed with the link to the new address, and restored with the link to the old one', async () => {
    const address = `new-${user.email}`;
    await enter('/account/profile');
    await page.getByRole('link', { name: 'Change email address' }).click();
    await sees(page, 'Change your email address');
    expect(await accessibilityViolations(page)).toEqual([]);
    await fill(page, { 'New email address': user.email ?? '' });
    await press(page, 'Send link');
    await reads(page, 'This is already your email address.');
    await fill(page, { 'New email address': address });
    await press(page, 'Send link');
    await reads(page, 'Check your new mailbox.');
    await reads(page, `We have sent a link to ${address}.`);
    expect(await accessibilityViolations(page)).toEqual([]);
    await press(page, 'Send again');
    const { link } = await site.mailbox.next('email_change', address, 2);
    await page.goto(link.href);
    await sees(page, 'Confirm your new email address');
    expect(await accessibilityViolations(page)).toEqual([]);
    await press(page, 'Confirm new address');
    await reads(page, 'Your email address has been changed.');
    await page.goto(link.href);
    await page.waitForURL(`${site.url}/account/profile?notice=email_changed`);

    const owner = await browser.newPerson();
    await owner.goto(await linkOf('email_replaced', user.email));
    await sees(owner, 'Undo the change of your email address?');
    expect(await accessibilityViolations(owner)).toEqual([]);
    await press(owner, 'Undo the change');
    await reads(owner, 'Your email address has been restored');
    await fill(owner, { Password: NEW, 'Confirm password': NEW });
    await press(owner, 'Save password');
    await enterCredentials(owner, user, NEW);
    await owner.waitForURL(`${site.url}/account`);
    await page.reload();
    await sees(page, 'Sign in');
  });

  test('stays unchanged when the change is cancelled, and the link stops working', async () => {
    const address = `new-${user.email}`;
    await enter('/account/profile/email');
    await fill(page, { 'New email address': address });
    await press(page, 'Send link');
    await press(page, 'Cancel change');
    await reads(page, 'Your email address stays as it is.');
    await page.goto(await linkOf('email_change', address));
    await reads(page, 'This link is invalid or has expired.');
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('is not taken from an account that has confirmed it meanwhile', async () => {
    const address = `new-${user.email}`;
    await enter('/account/profile/email');
    await fill(page, { 'New email address': address });
    await press(page, 'Send link');
    const link = await linkOf('email_change', address);
    await site.identity.people.user({ data: { email: address } });
    await page.goto(link);
    await press(page, 'Confirm new address');
    await reads(page, 'This email address already belongs to another account.');
  });

  test('asks for the password if the last authentication is old, and keeps what was typed', async () => {
    await enter('/account/profile/email');
    await site.identity.context.database.session.updateMany({
      where: { userId: user.id },
      data: { authenticatedAt: new Date(Date.now() - 3_600_000) },
    });
    await fill(page, { 'New email address': `new-${user.email}` });
    await press(page, 'Send link');
    await sees(page, 'Confirm that it is you');
    await fill(page, { Password: PASSWORD });
    await press(page, 'Continue');
    await reads(page, 'Check your new mailbox.');
  });
});

test('all of it works without JavaScript', async () => {
  const address = `plain-${user.email}`;
  page = await browser.newPerson({ javaScriptEnabled: false });
  await enter('/account/profile');
  await fill(page, { 'Last name': 'Lovelace' });
  await press(page, 'Save');
  await reads(page, 'Your profile has been saved.');
  await page.getByRole('link', { name: 'Change picture' }).click();
  await choose(await image('jpeg'));
  await press(page, 'Save picture');
  await reads(page, 'Your picture has been saved.');
  await page.getByRole('link', { name: 'Change email address' }).click();
  await fill(page, { 'New email address': address });
  await press(page, 'Send link');
  await page.goto(await linkOf('email_change', address));
  await press(page, 'Confirm new address');
  await reads(page, 'Your email address has been changed.');
});
