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

let site: TestSite;
let browser: TestBrowser;
let acme: Tenant;
let zeta: Tenant;
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
  const { people } = site.identity;
  acme = await people.tenant({ name: 'Acme' });
  zeta = await people.tenant({ name: 'Zeta' });
  user = await people.user({ tenant: acme, role: 'member' });
  page = await browser.newPerson();
});
afterEach(async () => {
  await page.context().close();
  expect(browser.complaints()).toEqual([]);
});

const join = async (tenant: Tenant, role: string) => {
  const { database } = site.identity.context;
  const { id: roleId } = await database.role.findFirstOrThrow({
    where: { name: role, tenantId: null },
  });
  await database.membership.create({ data: { tenantId: tenant.id, userId: user.id, roleId } });
};

const enter = async (visitor = page) => {
  await visitor.goto(`${site.url}/sign-in`);
  await enterCredentials(visitor, user);
  await visitor.goto(`${site.url}/account/tenants`);
};

const current = async (visitor = page) =>
  visitor.locator('.items li', { hasText: 'Current' }).locator('strong').textContent();

describe('the organizations of a user', () => {
  test('are listed with the role, and the current one can be switched', async () => {
    await join(zeta, 'admin');
    await enter();
    await reads(page, /Role: Member · Member since/);
    await reads(page, /Role: Administrator · Member since/);
    expect(await current()).toBe('Acme');
    expect(await accessibilityViolations(page)).toEqual([]);
    await press(page, 'Switch to Zeta');
    await reads(page, 'You have switched to the organization.');
    expect(await current()).toBe('Zeta');
    await page.goto(`${site.url}/account`);
    expect(await page.locator('.facts').textContent()).toContain('Zeta');
    const bearer = await site.identity.people.signIn(user);
    const { body } = await site.identity.http.get('/api/me').set(bearer);
    expect(body.data.tenant_id).toBe(zeta.id);
  });

  test.each([
    ['provisioning', 'This organization is still being set up.'],
    ['failed', 'This organization could not be set up yet.'],
    ['suspended', 'This organization is suspended.'],
    ['deleting', 'This organization is being deleted.'],
  ])('cannot be switched to while they are %s, and the page says why', async (status, told) => {
    const idle = await site.identity.people.tenant({ name: 'Idle', status });
    await join(idle, 'member');
    await enter();
    await reads(page, told);
    expect(await page.getByRole('button', { name: 'Switch to Idle' }).count()).toBe(0);
  });

  test('can be left after a page with the effects, also without JavaScript', async () => {
    await join(zeta, 'admin');
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
    const plain = (await context?.newPage()) as Page;
    await enter(plain);
    await plain.getByRole('link', { name: 'Leave Acme' }).click();
    await sees(plain, 'Leave Acme?');
    await reads(plain, 'You lose your role and your access to everything in this organization.');
    await press(plain, 'Leave organization');
    await reads(plain, 'You have left the organization.');
    expect(await plain.locator('.items strong').allTextContents()).toEqual(['Zeta']);
    await site.mailbox.next('tenant_left', user.email ?? '');
    await context?.close();
  });

  test('cannot be left by their last owner, who gets instructions', async () => {
    await join(zeta, 'owner');
    await enter();
    await page.getByRole('link', { name: 'Leave Zeta' }).click();
    await sees(page, 'Leave Zeta?');
    await reads(page, 'Make another member an owner first.');
    expect(await page.getByRole('button', { name: 'Leave organization' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Stay' }).click();
    await sees(page, 'Organizations');
  });

  test('of others are not shown', async () => {
    await enter();
    await page.goto(`${site.url}/account/tenants/leave?tenant=${zeta.id}`);
    await sees(page, 'Organizations');
    expect(await page.getByText('Zeta').count()).toBe(0);
  });
});
