import type { Page } from 'playwright-core';
import type { User } from '../../generated/prisma/client.ts';
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
import { city, type PlaceFile, placeDatabase, placeFile } from '../../testing/place-database.ts';
import type { Bearer } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1';

let site: TestSite;
let places: PlaceFile;
let browser: TestBrowser;
let user: User;
let page: Page;
beforeAll(async () => {
  places = await placeFile(
    placeDatabase({ '203.0.113.0/24': city('AT', { en: 'Vienna', de: 'Wien' }) }),
  );
  [site, browser] = await Promise.all([
    startSite({ GEOIP_DATABASE: places.path, TRUSTED_PROXIES: '1' }),
    openBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await site.stop();
  await places.remove();
});
beforeEach(async () => {
  user = await site.identity.people.user({ tenant: await site.identity.people.tenant() });
  page = await browser.newPerson();
});
afterEach(async () => {
  await page.context().close();
  expect(browser.complaints()).toEqual([]);
});

/** Signs in on a phone in Vienna. */
const usePhone = async (): Promise<Bearer> => {
  const steps = stepsOf(site.identity);
  const headers = { 'user-agent': PHONE, 'x-forwarded-for': '203.0.113.7' };
  return steps.bearerOf(await steps.login(user, headers));
};
const isGood = async (bearer: Bearer) =>
  (await site.identity.http.get('/api/me').set(bearer)).status === 200;

const openDevices = async (person: Page = page) => {
  await person.goto(`${site.url}/account/devices`);
  await enterCredentials(person, user);
  await sees(person, 'Devices and sessions');
};
const item = (name: string, person: Page = page) =>
  person.getByRole('listitem').filter({ has: person.getByRole('link', { name, exact: true }) });

describe('the devices page', () => {
  test('lists where the user is signed in, in words, and marks the current device', async () => {
    await usePhone();
    await openDevices();
    const [here, phone] = [item('Chrome on Linux'), item('Safari on iOS')];
    expect(await here.textContent()).toMatch(/This device[\s\S]*Active now/);
    expect(await here.getByRole('button').count()).toBe(0);
    expect(await phone.textContent()).toContain('Vienna, Austria · Last used: now');
    expect(await page.locator('main').textContent()).not.toContain('203.0.113.7');
    expect(await phone.locator('time').getAttribute('title')).toMatch(/20\d\d at/);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('uses the user’s language', async () => {
    await usePhone();
    await openDevices();
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await sees(page, 'Geräte und Sitzungen');
    const phone = await item('Safari unter iOS').textContent();
    expect(phone).toContain('Wien, Österreich · Zuletzt verwendet: jetzt');
  });

  test.each([true, false])('signs out a device, with scripts: %s', async (javaScriptEnabled) => {
    const phone = await usePhone();
    const person = await browser.newPerson({ javaScriptEnabled });
    await openDevices(person);
    await pressOn(person, item('Safari on iOS', person).getByRole('button'));
    await reads(person, 'The device has been signed out.');
    expect(await item('Safari on iOS', person).count()).toBe(0);
    expect(await isGood(phone)).toBe(false);
    await person.context().close();
  });

  test('separates signed-out devices, and removes them', async () => {
    const phone = await usePhone();
    await site.identity.http.post('/api/auth/logout').set(phone);
    await openDevices();
    await sees(page, 'Signed out');
    await press(page, 'Remove Safari on iOS');
    await reads(page, 'The device has been removed.');
    expect(await item('Safari on iOS').count()).toBe(0);
  });

  test('shows a session whose device is not recorded, with its address, and ends it', async () => {
    const phone = await usePhone();
    const { device } = site.identity.context.database;
    await device.deleteMany({ where: { userId: user.id } });
    await openDevices();
    await reads(page, 'Vienna, Austria · Last used: now · 203.0.113.7');
    await press(page, 'Sign out Safari on iOS');
    await reads(page, 'The sign-in has ended.');
    expect(await isGood(phone)).toBe(false);
  });

  test('signs out everywhere else and keeps the current session', async () => {
    const phone = await usePhone();
    await openDevices();
    await page.getByRole('link', { name: 'Sign out everywhere else' }).click();
    await sees(page, 'Sign out everywhere else?');
    expect(await isGood(phone)).toBe(true);
    await press(page, 'Sign out everywhere else');
    await reads(page, 'You have been signed out everywhere else.');
    expect(await isGood(phone)).toBe(false);
    expect(await page.getByRole('link', { name: 'Sign out everywhere else' }).count()).toBe(0);
  });

  test('signs out everywhere including here, after a confirmation', async () => {
    const phone = await usePhone();
    await openDevices();
    const everywhere = page.getByRole('link', { name: 'Sign out everywhere', exact: true });
    await everywhere.click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(await isGood(phone)).toBe(true);
    await everywhere.click();
    await press(page, 'Sign out everywhere');
    await sees(page, 'You are signed out');
    expect(await isGood(phone)).toBe(false);
    await page.goto(`${site.url}/account/devices`);
    await sees(page, 'Sign in');
  });
});

describe('the page of a device', () => {
  const openPhone = async () => {
    await openDevices();
    await page.getByRole('link', { name: 'Safari on iOS', exact: true }).click();
    await sees(page, 'Safari on iOS');
  };

  test('shows its address and the exact time, and can rename it', async () => {
    await usePhone();
    await openPhone();
    const facts = await page.locator('.facts').textContent();
    expect(facts).toMatch(/Vienna, Austria[\s\S]*203\.0\.113\.7[\s\S]*20\d\d at \d/);
    expect(await accessibilityViolations(page)).toEqual([]);
    await fill(page, { 'Device name': 'My phone' });
    await press(page, 'Save name');
    await sees(page, 'My phone');
    await reads(page, 'The name has been saved.');
    await fill(page, { 'Device name': '' });
    await press(page, 'Save name');
    await sees(page, 'Safari on iOS');
  });

  test('revokes trust and keeps it signed in', async () => {
    const phone = await usePhone();
    await site.identity.context.database.device.updateMany({
      where: { userId: user.id },
      data: { trustedUntil: new Date(Date.now() + 86_400_000) },
    });
    await openPhone();
    await reads(page, /does not require a two-factor code until/);
    await press(page, 'Stop trusting this device');
    await reads(page, /The device is no longer trusted/);
    expect(await page.getByText('Stop trusting this device').count()).toBe(0);
    expect(await isGood(phone)).toBe(true);
  });

  test('ends one of several sessions on it', async () => {
    const first = await usePhone();
    const second = await usePhone();
    const { device, session } = site.identity.context.database;
    const { id } = await device.findFirstOrThrow({ where: { userId: user.id } });
    await session.updateMany({ where: { userId: user.id }, data: { deviceId: id } });
    await device.deleteMany({ where: { userId: user.id, id: { not: id } } });
    await openPhone();
    const ends = page.getByRole('button', { name: /^End the sign-in/ });
    expect(await ends.count()).toBe(2);
    await pressOn(page, ends.first());
    await reads(page, 'The sign-in has ended.');
    expect([await isGood(first), await isGood(second)].filter(Boolean)).toHaveLength(1);
  });

  test('signs it out', async () => {
    const phone = await usePhone();
    await openPhone();
    await pressOn(page, page.getByRole('main').getByRole('button', { name: 'Sign out' }));
    await reads(page, 'The device has been signed out.');
    expect(await isGood(phone)).toBe(false);
  });
});
