import type { Page } from 'playwright-core';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { accessibilityViolations, openBrowser, type TestBrowser } from '../../testing/browser.ts';
import { enterCredentials, reads, sees, startSite, type TestSite } from '../../testing/pages.ts';

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
  user = await site.identity.people.user({ tenant, role: 'admin' });
  page = await browser.newPerson();
});
afterEach(async () => {
  await page.context().close();
  expect(browser.complaints()).toEqual([]);
});

const enter = async () => {
  await page.goto(`${site.url}/sign-in`);
  await enterCredentials(page, user);
  await page.goto(`${site.url}/account`);
};

const items = () =>
  page.locator('.attention:not(.suggestions) li > :first-child').allTextContents();

/** A sign-in with the user's password from another device, some days ago. */
const signInFromElsewhere = async (daysAgo: number) => {
  const { database } = site.identity.context;
  const createdAt = new Date(Date.now() - daysAgo * 86_400_000);
  await database.device.create({
    data: {
      userId: user.id,
      secretHash: new Uint8Array(crypto.getRandomValues(new Uint8Array(32))),
      name: 'Firefox on Windows',
      type: 'desktop',
      browser: 'Firefox',
      os: 'Windows',
      createdAt,
      lastUsedAt: createdAt,
    },
  });
};

describe('the overview of an account', () => {
  test('shows the organization and the role', async () => {
    await enter();
    const facts = await page.locator('.facts').textContent();
    expect(facts).toContain('Analytical Engines Ltd');
    expect(facts).toContain('Administrator');
  });

  test('shows suggestions without alarm', async () => {
    await enter();
    await reads(page, 'Nothing needs your attention.');
    await sees(page, 'Make your account safer');
    await page.getByRole('link', { name: /^Turn on two-factor authentication/ }).waitFor();
    await page.getByRole('link', { name: /^Set a PIN/ }).waitFor();
  });

  test('does not say that nothing needs attention if the account is scheduled for deletion', async () => {
    await site.identity.context.database.accountDeletion.create({
      data: { userId: user.id, dueAt: new Date(Date.now() + 7 * 86_400_000) },
    });
    await enter();
    await page.getByRole('button', { name: 'Keep my account' }).waitFor();
    expect(await page.getByText('Nothing needs your attention.').count()).toBe(0);
    await page.getByRole('button', { name: 'Keep my account' }).click();
    await reads(page, 'Your account will not be deleted.');
    await page.goto(`${site.url}/account`);
    await reads(page, 'Nothing needs your attention.');
  });

  test('asks about sign-ins on new devices, and leads to "This was not me"', async () => {
    await signInFromElsewhere(2);
    await signInFromElsewhere(8);
    await enter();
    expect(await items()).toEqual([
      'New sign-in from Firefox on Windows, 2 days ago. Was this you?',
    ]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'This was not me' }).click();
    await sees(page, 'Secure your account');
  });

  test('warns about few recovery codes, after more urgent items', async () => {
    const { database } = site.identity.context;
    await signInFromElsewhere(1);
    await enter();
    await database.twoFactor.create({
      data: { userId: user.id, sealedSecret: new Uint8Array(8), confirmedAt: new Date() },
    });
    await database.recoveryCode.createMany({
      data: [1, 2].map((code) => ({
        userId: user.id,
        codeHash: new Uint8Array(32).fill(code),
        usedAt: code === 1 ? new Date() : null,
      })),
    });
    await page.reload();
    expect(await items()).toEqual([
      'New sign-in from Firefox on Windows, yesterday. Was this you?',
      'You have only 1 recovery code left. Create new ones before you run out.',
    ]);
    await database.recoveryCode.deleteMany({ where: { userId: user.id } });
    await page.reload();
    await reads(page, 'You have no recovery codes left.');
  });
});
