import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
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
  const tenant = await site.identity.people.tenant({ name: 'Analytical Engines Ltd' });
  user = await site.identity.people.user({ tenant, role: 'member' });
  page = await browser.newPerson();
});
afterEach(() => expect(browser.complaints()).toEqual([]));

const database = () => site.identity.context.database;
const enter = async (as: User = user) => {
  await page.goto(`${site.url}/account/data`);
  await enterCredentials(page, as);
  await sees(page, 'Your data');
};
const authenticatedLongAgo = () =>
  database().session.updateMany({
    data: { authenticatedAt: new Date(Date.now() - 3_600_000) },
  });
const choose = (name: string) => page.getByRole('link', { name, exact: true }).click();
const downloaded = async () => {
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  const download = await started;
  return {
    name: download.suggestedFilename(),
    data: JSON.parse(await readFile(await download.path(), 'utf8')),
  };
};

describe('the personal data of a user', () => {
  test('is downloaded as a file without leaving the page', async () => {
    await enter();
    await choose('Download your data');
    await sees(page, 'Download your data');
    const { name, data } = await downloaded();
    expect(name).toBe('account-data.json');
    expect(data).toMatchObject({ schema_version: 1, profile: { email: user.email } });
    expect(await accessibilityViolations(page)).toEqual([]);
    // And again.
    expect((await downloaded()).data.activity.length).toBe(data.activity.length + 1);
  });

  test('is downloaded after confirming the password if the last authentication is old', async () => {
    await enter();
    await authenticatedLongAgo();
    await choose('Download your data');
    await sees(page, 'Confirm that it is you');
    await fill(page, { Password: PASSWORD });
    await press(page, 'Continue');
    await sees(page, 'Download your data');
    expect((await downloaded()).data.profile.id).toBe(user.id);
  });
});

describe('the deletion of an account', () => {
  test('is confirmed, shown on every page, and can be cancelled on any of them', async () => {
    await enter();
    await authenticatedLongAgo();
    await choose('Delete your account');
    await sees(page, 'Confirm that it is you');
    await fill(page, { Password: PASSWORD });
    await press(page, 'Continue');
    await sees(page, 'Delete your account?');
    expect(await accessibilityViolations(page)).toEqual([]);
    await press(page, 'Delete my account');
    await reads(page, 'We have scheduled the deletion and sent you an email.');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.goto(`${site.url}/account`);
    await reads(page, /Your account will be deleted on /);
    expect(await accessibilityViolations(page)).toEqual([]);
    await press(page, 'Keep my account');
    await reads(page, 'Your account will not be deleted.');
    await page.goto(`${site.url}/account`);
    expect(await page.getByText('Your account will be deleted').count()).toBe(0);
    expect(await database().accountDeletion.count({ where: { userId: user.id } })).toBe(0);
  });

  test('can be cancelled with the link of the mail, in another browser without scripts', async () => {
    await enter();
    await choose('Delete your account');
    await press(page, 'Delete my account');
    const mail = await site.mailbox.next('account_deletion_requested', user.email ?? '');
    page = await browser.newPerson({ javaScriptEnabled: false });
    await page.goto(mail.link.href);
    await enterCredentials(page, user);
    await press(page, 'Keep my account');
    await reads(page, 'Your account will not be deleted.');
  });

  test('is rejected for the last owner with instructions', async () => {
    const tenant = await site.identity.people.tenant({ name: 'Difference Engines' });
    const owner = await site.identity.people.user({ tenant, role: 'owner' });
    await enter(owner);
    await choose('Delete your account');
    await sees(page, 'You cannot delete your account yet');
    await reads(page, 'Difference Engines');
    expect(await page.getByRole('button', { name: 'Delete my account' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await choose('Back to your data');
    await sees(page, 'Your data');
  });
});
