import type { Page } from 'playwright-core';
import sharp from 'sharp';
import type { User } from '../../generated/prisma/client.ts';
import { cookieValueOf } from '../../testing/cookies.ts';
import { look, type Pages, startLooks, testPages } from '../../testing/looks.ts';
import { enterCredentials, fill, press } from '../../testing/pages.ts';
import { stepsOf } from '../../testing/sign-in.ts';

const { site, browser, stranger, newUser, open, enter, stop } = await startLooks();
afterAll(stop);
afterEach(() => expect(browser.complaints()).toEqual([]));

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';
const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15';

/** Devices of a long-time user; returns one that is trusted and has two sessions. */
const makeDevices = async (user: User) => {
  const { http, context } = site.identity;
  const steps = stepsOf(site.identity);
  const phone = await steps.login(user, { 'user-agent': PHONE });
  await steps.login(
    user,
    { 'user-agent': PHONE, cookie: `device=${cookieValueOf(phone, 'device')}` },
    { remember: true },
  );
  await steps.login(user, { 'user-agent': WINDOWS });
  const mac = await steps.login(user, { 'user-agent': MAC });
  await http.post('/api/auth/logout').set(steps.bearerOf(mac));
  const { device, session } = context.database;
  const ofUser = { userId: user.id };
  await device.updateMany({
    where: { ...ofUser, browser: 'Safari', os: 'iOS' },
    data: {
      ipAddress: '203.0.113.7',
      trustedUntil: new Date(Date.now() + 20 * 86_400_000),
      lastUsedAt: new Date(Date.now() - 3 * 3600_000),
    },
  });
  await session.updateMany({
    where: { ...ofUser, userAgent: PHONE },
    data: { ipAddress: '203.0.113.7', lastActiveAt: new Date(Date.now() - 2 * 3600_000) },
  });
  await device.updateMany({
    where: { ...ofUser, os: 'Windows' },
    data: { ipAddress: '192.168.1.20', customName: 'Laptop in the office' },
  });
  return device.findFirstOrThrow({ where: { ...ofUser, os: 'iOS' } });
};

/** The applications of a user of three; returns the third-party one. */
const useApps = async (page: Page, user: User) => {
  const { flow, identity } = site;
  const { database } = identity.context;
  const cookie = await flow.signIn(user);
  const panel = await flow.client();
  await flow.tokens(panel, cookie);
  const own = await flow.client({ tenantId: user.tenantId ?? '' });
  await flow.tokens(own, cookie);
  await database.oAuthClient.update({
    where: { clientId: own.clientId },
    data: { name: 'Customer portal' },
  });
  const permissions =
    'tenant.*.crm.contacts.* tenant.*.crm.tasks.view tenant.*.crm.*.list identity.members.update';
  await stranger.begin(page, { scope: `openid email offline_access ${permissions}` });
  await press(page, 'Allow');
  return database.oAuthClient.findFirstOrThrow({ where: { name: 'Ledger' } });
};

const pages: Pages = {
  account: enter,
  async 'account activity'(page) {
    const { id: userId } = await enter(page);
    const { database } = site.identity.context;
    const device = {
      ipAddress: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
      userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0',
    };
    const actions = ['login_failed', 'token_reused', 'recovery_codes_replaced', 'pin_removed'];
    await database.activityEntry.createMany({
      data: [...actions, ...actions, ...actions, ...actions, ...actions].map((action, index) => ({
        ...device,
        userId,
        action,
        createdAt: new Date(Date.now() - index * 7 * 3600_000),
      })),
    });
    await open('/account/activity')(page);
  },
  async 'account not me'(page) {
    await enter(page);
    await open('/account/activity')(page);
    await page.getByRole('link', { name: /^This was not me/ }).click();
    await page.getByLabel('New password', { exact: true }).waitFor();
  },
  async 'account secured'(page) {
    await enter(page);
    await open('/account/activity/not-me/next')(page);
  },
  async 'account organizations'(page) {
    const { id: userId } = await enter(page);
    const { people, context } = site.identity;
    for (const [name, status] of [
      ['Donaudampfschifffahrtsgesellschaft Handelsregister GmbH', 'active'],
      ['Idle Hands Ltd', 'suspended'],
    ] as const) {
      const tenant = await people.tenant({ name, status });
      const roleId = await people.role(tenant, 'identity.members.list');
      await context.database.membership.create({ data: { tenantId: tenant.id, userId, roleId } });
    }
    await open('/account/tenants')(page);
  },
  async 'account organization to leave'(page) {
    await enter(page);
    await open('/account/tenants')(page);
    await page.getByRole('link', { name: /^Leave/ }).click();
    await page.getByRole('button', { name: 'Leave organization' }).waitFor();
  },
  async 'account devices'(page) {
    await makeDevices(await enter(page));
    await open('/account/devices')(page);
  },
  async 'account device'(page) {
    const device = await makeDevices(await enter(page));
    await open(`/account/devices/${device.id}`)(page);
  },
  async 'account sign-out everywhere'(page) {
    await enter(page);
    await open('/account/devices/sign-out-everywhere')(page);
  },
  async 'account apps'(page) {
    await useApps(page, await enter(page));
    await open('/account/apps')(page);
  },
  async 'account without apps'(page) {
    await enter(page);
    await open('/account/apps')(page);
  },
  async 'account app removal'(page) {
    const app = await useApps(page, await enter(page));
    await open(`/account/apps/${app.clientId}`)(page);
  },
  async 'account data'(page) {
    await enter(page);
    await open('/account/data')(page);
  },
  async 'account data download'(page) {
    await enter(page);
    await open('/account/data/download')(page);
  },
  async 'account deletion'(page) {
    await enter(page);
    await open('/account/data/delete')(page);
  },
  async 'account deletion refused'(page) {
    const { people } = site.identity;
    const tenant = await people.tenant({ name: 'Analytical Engines Ltd' });
    const owner = await people.user({ tenant, role: 'owner' });
    await open('/sign-in')(page);
    await enterCredentials(page, owner);
    await open('/account/data/delete')(page);
  },
  async 'account about to be deleted'(page) {
    const user = await enter(page);
    const { database } = site.identity.context;
    const dueAt = new Date(Date.now() + 14 * 86_400_000);
    await database.accountDeletion.create({ data: { userId: user.id, dueAt } });
    await open('/account')(page);
  },
  async 'account data about to be deleted'(page) {
    const user = await enter(page);
    const { database } = site.identity.context;
    const dueAt = new Date(Date.now() + 14 * 86_400_000);
    await database.accountDeletion.create({ data: { userId: user.id, dueAt } });
    await open('/account/data?notice=deletion_scheduled')(page);
  },
  async 'account profile'(page) {
    const { id } = await enter(page);
    await open('/account/profile/picture')(page);
    const buffer = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    const file = { name: 'me.png', mimeType: 'image/png', buffer };
    await page.getByLabel('Image file').setInputFiles(file);
    await press(page, 'Save picture');
    await open('/account/profile/email')(page);
    const address = `augusta.ada.king-noel.${id}@analytical-engines.example.com`;
    await fill(page, { 'New email address': address });
    await press(page, 'Send link');
  },
  async 'account profile in German'(page) {
    await enter(page);
    await open('/account/profile?ui_locales=de')(page);
  },
  async 'account picture'(page) {
    await enter(page);
    await open('/account/profile/picture')(page);
    await press(page, 'Save picture');
  },
  async 'account email'(page) {
    await enter(page);
    await open('/account/profile/email')(page);
  },
  async 'address to change and to give back'(page) {
    const { email } = await enter(page);
    const address = `new.${email}`;
    await open('/account/profile/email')(page);
    await fill(page, { 'New email address': address });
    await press(page, 'Send link');
    await page.goto((await site.mailbox.next('email_change', address)).link.href);
    await press(page, 'Confirm new address');
    await page.goto((await site.mailbox.next('email_replaced', email ?? '')).link.href);
  },
  async 'account password'(page) {
    await enter(page);
    await open('/account/password')(page);
    await fill(page, { 'New password': 'Horse-8' });
  },
  async 'account two-factor set-up'(page) {
    await enter(page);
    await open('/account/two-factor')(page);
    await press(page, 'Set up');
    await page.getByText('Cannot scan the code?').click();
  },
  async 'account pin'(page) {
    await enter(page);
    await open('/account/pin')(page);
  },
};

testPages(browser, pages);

describe('in the user’s language', () => {
  test.each(['hu', 'de'])('devices and apps in %s', async (locale) => {
    const page = await browser.newPerson({ locale });
    const user = await newUser();
    const cookie = await site.flow.signIn(user);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: site.url }]);
    await site.identity.context.database.user.update({ where: { id: user.id }, data: { locale } });
    const device = await makeDevices(user);
    await site.flow.tokens(await site.flow.client(), cookie);
    for (const [path, shot] of [
      ['/account/devices', 'account-devices'],
      [`/account/devices/${device.id}`, 'account-device'],
      ['/account/apps', 'account-apps'],
    ] as const) {
      await open(path)(page);
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      await look(page, `${shot}-${locale}`);
    }
    await page.context().close();
  });
});
