import { accessibilityViolations } from '../testing/browser.ts';
import { look, type Pages, startLooks, testPages } from '../testing/looks.ts';
import { enterCredentials, fill, press, pressOn } from '../testing/pages.ts';

const { site, browser, stranger, newUser, open, enter, stop } = await startLooks();
afterAll(stop);
afterEach(() => expect(browser.complaints()).toEqual([]));

const pages: Pages = {
  root: open('/'),
  'sign-in': open('/sign-in'),
  async 'sign-in for an application'(page) {
    await stranger.begin(page, { login_hint: 'ada.lovelace@example.com' });
  },
  async 'sign-in refused'(page) {
    await open('/sign-in')(page);
    await enterCredentials(page, { email: 'nobody@example.com' }, 'wrong');
  },
  async 'sign-in incomplete'(page) {
    await open('/sign-in')(page);
    await press(page, 'Sign in');
  },
  async 'second factor'(page) {
    const user = await newUser();
    const { people } = site.identity;
    await people.enableTwoFactor(user, await people.signIn(user));
    await open('/sign-in')(page);
    await enterCredentials(page, user);
    await page.getByLabel('Code').waitFor();
  },
  async pin(page) {
    const user = await newUser();
    await site.identity.people.setPin(await site.identity.people.signIn(user), '192837');
    await open('/sign-in')(page);
    await enterCredentials(page, user);
    await fill(page, { PIN: '123' });
    await press(page, 'Unlock');
  },
  'password forgotten': open('/password/forgot'),
  async 'mail sent'(page) {
    await open('/password/forgot')(page);
    await fill(page, { 'Email address': 'ada.lovelace@example.com' });
    await press(page, 'Send link');
  },
  async 'password reset'(page) {
    const { email } = await newUser();
    await site.identity.http.post('/api/auth/password/forgot').send({ email });
    await page.goto((await site.mailbox.next('password_reset', email ?? '')).link.href);
    await fill(page, { Password: 'short', 'Confirm password': 'different' });
    await press(page, 'Save password');
  },
  async 'password link of yesterday'(page) {
    await open('/password/reset?token=x')(page);
  },
  async 'password change'(page) {
    const { id } = await enter(page);
    await site.identity.context.database.user.update({
      where: { id },
      data: { forcePasswordChange: true },
    });
    await open('/password/change')(page);
  },
  register: open('/register'),
  'address to confirm': open('/email/verify?token=x'),
  async 'address not confirmed'(page) {
    await open('/email/verify?token=x')(page);
    await press(page, 'Send a new link');
  },
  async invitation(page) {
    const { people, http } = site.identity;
    const tenant = await people.tenant({ name: 'Analytical Engines Ltd' });
    const email = 'new.colleague@example.com';
    const bearer = await people.caller(tenant, '*');
    await http
      .post(`/api/tenants/${tenant.id}/members`)
      .set(bearer)
      .send({ email, role: 'member' });
    await page.goto((await site.mailbox.next('invitation', email)).link.href);
  },
  async consent(page) {
    await enter(page);
    await stranger.begin(page, { scope: 'openid profile email phone' });
  },
  async 'consent to permissions'(page) {
    await enter(page);
    const permissions = [
      'tenant.*.crm.contacts.* tenant.*.crm.tasks.view tenant.*.crm.*.list',
      'tenant.*.crm.*.view identity.members.view identity.members.update',
    ];
    await stranger.begin(page, { scope: `openid email offline_access ${permissions.join(' ')}` });
  },
  async 'account selection'(page) {
    await enter(page);
    await stranger.begin(page, { prompt: 'select_account' });
  },
  async 'sign-out'(page) {
    await enter(page);
    await open('/sign-out')(page);
  },
  'signed out': open('/signed-out?reason=idle'),
  async 'idle warning'(page) {
    await page.clock.install();
    await enter(page);
    const { database, sessionUses } = site.identity.context;
    await sessionUses.flush();
    await database.session.updateMany({
      data: { lastActiveAt: new Date(Date.now() - 1_820_000) },
    });
    await page.clock.fastForward('30:20');
    await page.getByRole('alertdialog').waitFor();
  },
  'request refused': open('/oauth/authorize?client_id=nobody'),
  'not found': open('/nowhere'),
};

testPages(browser, pages);

describe('in the user’s language', () => {
  test.each(['hu', 'de'])('sign-in, an error and consent in %s', async (locale) => {
    const page = await browser.newPerson({ locale });
    await open('/sign-in')(page);
    expect(await page.locator('html').getAttribute('lang')).toBe(locale);
    await look(page, `sign-in-${locale}`);
    await page.locator('#email').fill('ada');
    await pressOn(page, page.locator('main button[type=submit]'));
    await look(page, `sign-in-incomplete-${locale}`);
    await open('/register')(page);
    await look(page, `register-${locale}`);
    await page.context().close();
  });

  test('which a button changes permanently', async () => {
    const page = await browser.newPerson();
    await open('/sign-in')(page);
    await page.getByRole('button', { name: 'Magyar' }).click();
    await page.getByRole('heading', { name: 'Bejelentkezés' }).waitFor();
    await page.getByRole('link', { name: 'Elfelejtette a jelszavát?' }).click();
    await page.getByRole('heading', { name: 'Elfelejtette a jelszavát?' }).waitFor();
    await page.context().close();
  });
});

describe('the accessibility checks', () => {
  test('detect a violated Content-Security-Policy', async () => {
    const page = await browser.newPerson();
    await open('/sign-in')(page);
    const told = page.waitForEvent('console');
    await page.evaluate(
      'document.head.append(Object.assign(document.createElement("script"), { text: "1" }))',
    );
    await told;
    expect(browser.complaints()).toEqual([expect.stringContaining('Content Security Policy')]);
    await page.context().close();
  });

  test('detect a planted barrier', async () => {
    const page = await browser.newPerson();
    await open('/sign-in')(page);
    await page.evaluate('document.querySelector("label").remove()');
    expect(await accessibilityViolations(page)).toEqual([expect.stringMatching(/^label: /)]);
    await page.context().close();
  });
});
