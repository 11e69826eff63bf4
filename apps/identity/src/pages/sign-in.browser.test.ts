import type { Page } from 'playwright-core';
import type { User } from '../generated/prisma/client.ts';
import { openBrowser, type TestBrowser } from '../testing/browser.ts';
import {
  enterCode,
  enterCredentials,
  fill,
  hasFocus,
  press,
  pressOn,
  reads,
  sees,
  seesAccount,
  startSite,
  type TestSite,
} from '../testing/pages.ts';
import { PASSWORD } from '../testing/population.ts';
import { type RelyingParty, startRelyingParty } from '../testing/relying-party.ts';

let site: TestSite;
let browser: TestBrowser;
let ledger: RelyingParty;
let user: User;
let page: Page;
beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), openBrowser()]);
  ledger = await startRelyingParty(site.identity, site.flow);
});
afterAll(async () => {
  await browser.close();
  await ledger.stop();
  await site.stop();
});
beforeEach(async () => {
  user = await newcomer();
  page = await browser.newPerson();
});
afterEach(() => expect(browser.complaints()).toEqual([]));

const newcomer = async (): Promise<User> =>
  site.identity.people.user({ tenant: await site.identity.people.tenant() });

const sessionCookie = async (): Promise<string | undefined> =>
  (await page.context().cookies()).find(({ name }) => name === 'session')?.value;

describe('the code flow of openid-client as a public client', () => {
  test('leads through the sign-in page, which names the application, to tokens', async () => {
    await ledger.begin(page);
    await sees(page, 'Sign in');
    await reads(page, 'to continue to Ledger');
    await enterCredentials(page, user);
    const tokens = await ledger.finish(page);
    expect(tokens.claims()).toMatchObject({ sub: user.id, email: user.email });
  });

  test('does not ask signed-in users again', async () => {
    await page.goto(`${site.url}/sign-in`);
    await enterCredentials(page, user);
    await page.waitForURL(`${site.url}/account`);
    await ledger.begin(page);
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
  });

  test('suggests the user given by the application, in the requested language', async () => {
    await ledger.begin(page, { login_hint: user.email ?? '', ui_locales: 'de' });
    await sees(page, 'Anmelden');
    expect(await page.getByLabel('E-Mail-Adresse').inputValue()).toBe(user.email);
    await hasFocus(page, page.getByLabel('Passwort', { exact: true }));
  });

  test('with a second factor: asks for a code, but not again on a trusted device', async () => {
    const phone = await site.identity.people.enableTwoFactor(
      user,
      await site.identity.people.signIn(user),
    );
    await ledger.begin(page);
    await enterCredentials(page, user);
    await sees(page, 'Two-factor authentication');
    expect(await sessionCookie()).toBeUndefined();
    await enterCode(page, phone.wrongCode());
    expect(await page.getByLabel('Code').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Trust this device').check();
    await enterCode(page, await phone.code());
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);

    await page.goto(`${site.url}/account`);
    await press(page, 'Sign out');
    await ledger.begin(page);
    await enterCredentials(page, user);
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
  });

  test('with a recovery code, once', async () => {
    const { recoveryCodes } = await site.identity.people.enableTwoFactor(
      user,
      await site.identity.people.signIn(user),
    );
    await ledger.begin(page);
    await enterCredentials(page, user);
    await enterCode(page, recoveryCodes[0] ?? '');
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
    const other = await browser.newPerson();
    await other.goto(`${site.url}/sign-in`);
    await enterCredentials(other, user);
    await enterCode(other, recoveryCodes[0] ?? '');
    await reads(other, 'has already been used');
  });

  test('with a PIN', async () => {
    await site.identity.people.setPin(await site.identity.people.signIn(user), '192837');
    await ledger.begin(page);
    await enterCredentials(page, user);
    await sees(page, 'Enter your PIN');
    await fill(page, { PIN: '111111' });
    await press(page, 'Unlock');
    await reads(page, 'The PIN is incorrect');
    await fill(page, { PIN: '192837' });
    await press(page, 'Unlock');
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
  });

  test('with a password that has to be changed first', async () => {
    const { database } = site.identity.context;
    await database.user.update({ where: { id: user.id }, data: { forcePasswordChange: true } });
    await ledger.begin(page);
    await enterCredentials(page, user);
    await reads(page, 'You need to choose a new password');
    await fill(page, {
      'Current password': 'Correct-horse-7-battery',
      'New password': 'short',
      'Confirm new password': 'short',
    });
    await press(page, 'Save password');
    expect(await page.locator('#new_password-error li').allInnerTexts()).toEqual([
      'Use at least 12 characters.',
      'Add an uppercase letter.',
      'Add a number.',
      'Add a special character, such as ! or -.',
      'Choose a less common password. Adding numbers or symbols at the end is not enough.',
    ]);
    await fill(page, {
      'Current password': 'Correct-horse-7-battery',
      'New password': 'Another-horse-8-battery',
      'Confirm new password': 'Another-horse-8-battery',
    });
    await press(page, 'Save password');
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
  });

  test('without JavaScript', async () => {
    page = await browser.newPerson({ javaScriptEnabled: false });
    const phone = await site.identity.people.enableTwoFactor(
      user,
      await site.identity.people.signIn(user),
    );
    await ledger.begin(page);
    await enterCredentials(page, user);
    await enterCode(page, await phone.code());
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
  });

  test('with the keyboard alone', async () => {
    await ledger.begin(page);
    await hasFocus(page, page.getByLabel('Email address'));
    await page.keyboard.type(user.email ?? '');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    // The address is filled in, so the password has the focus.
    await hasFocus(page, page.getByLabel('Password', { exact: true }));
    await page.keyboard.type('Correct-horse-7-battery');
    await page.keyboard.press('Tab');
    await hasFocus(page, page.getByRole('button', { name: 'Show: Password' }));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await page.getByLabel('Stay signed in').isChecked()).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
  });
});

describe('the form', () => {
  test.each([true, false])(
    'keeps what was typed in another language, scripts: %s',
    async (javaScriptEnabled) => {
      page = await browser.newPerson({ javaScriptEnabled });
      await ledger.begin(page);
      await fill(page, { 'Email address': user.email ?? '', Password: 'half a pass' });
      await page.getByLabel('Stay signed in').check();
      await pressOn(page, page.getByRole('button', { name: 'Deutsch' }));
      await sees(page, 'Anmelden');
      await reads(page, 'Weiter zu Ledger');
      expect(await page.getByLabel('E-Mail-Adresse').inputValue()).toBe(user.email);
      expect(await page.getByLabel('angemeldet bleiben').isChecked()).toBe(true);
      expect(await page.getByLabel('Passwort', { exact: true }).inputValue()).toBe('');
      await fill(page, { Passwort: PASSWORD });
      await press(page, 'Anmelden');
      expect((await ledger.finish(page)).claims()?.sub).toBe(user.id);
    },
  );

  test('can show the password, and sends it hidden', async () => {
    await page.goto(`${site.url}/sign-in`);
    const password = page.getByLabel('Password', { exact: true });
    await password.fill(PASSWORD);
    await page.getByRole('button', { name: 'Show: Password' }).click();
    expect(await password.getAttribute('type')).toBe('text');
    await page.getByRole('button', { name: 'Hide: Password' }).click();
    expect(await password.getAttribute('type')).toBe('password');
    await page.getByRole('button', { name: 'Show: Password' }).click();
    const sent =
      page.evaluate(`new Promise((resolve) => document.forms[0].addEventListener('submit', (event) => {
      event.preventDefault();
      resolve(document.getElementById('password').type);
    }))`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect(await sent).toBe('password');
  });

  test('uses a numeric keyboard for PINs and a full one for codes', async () => {
    const { people } = site.identity;
    const bearer = await people.signIn(user);
    await people.setPin(bearer, '192837');
    await page.goto(`${site.url}/sign-in`);
    await enterCredentials(page, user);
    expect(await page.getByLabel('PIN', { exact: true }).getAttribute('inputmode')).toBe('numeric');
  });
});

describe('a third-party application', () => {
  let stranger: RelyingParty;
  beforeAll(async () => {
    stranger = await startRelyingParty(site.identity, site.flow, {
      isTrusted: false,
      allowedScopes: ['tenant.*.crm.*.*', 'identity.members.*'],
      name: 'Stranger <b>',
    });
  });
  afterAll(() => stranger.stop());

  test('gets its tokens after the user’s consent', async () => {
    await stranger.begin(page);
    await enterCredentials(page, user);
    await sees(page, 'Stranger <b> wants to access your account');
    const asked = await page.locator('.scopes li').allInnerTexts();
    expect(asked).toContain('See your email address');
    await reads(page, `You will be redirected to ${new URL(stranger.url).host}`);
    await press(page, 'Allow');
    expect((await stranger.finish(page)).claims()?.sub).toBe(user.id);
  });

  test('asks for consent only once', async () => {
    const person = await newcomer();
    await stranger.begin(page);
    await enterCredentials(page, person);
    await press(page, 'Allow');
    await stranger.finish(page);
    await page.context().clearCookies();
    await stranger.begin(page);
    await enterCredentials(page, person);
    expect((await stranger.finish(page)).claims()?.sub).toBe(person.id);
  });

  test('shows the signed-in user, and allows switching the account for the same request', async () => {
    const [first, second] = [await newcomer(), await newcomer()];
    await stranger.begin(page);
    await enterCredentials(page, first);
    await reads(page, `You are signed in as ${first.email}.`);
    await page.getByRole('link', { name: 'Not you?' }).click();
    await enterCredentials(page, second);
    await reads(page, `You are signed in as ${second.email}.`);
    await press(page, 'Allow');
    expect((await stranger.finish(page)).claims()?.sub).toBe(second.id);
  });

  test('describes the requested permissions, broadest first and highlighted', async () => {
    await stranger.begin(page, {
      scope: 'openid email tenant.*.crm.tasks.view identity.members.* tenant.*.crm.contacts.update',
    });
    await enterCredentials(page, await newcomer());
    const items = page.locator('.scopes li');
    await items.first().waitFor();
    expect(await items.allInnerTexts()).toEqual([
      'Members: full access',
      'Contacts: edit',
      'Tasks: view',
      'Confirm your identity',
      'See your email address',
    ]);
    expect(await page.locator('.scopes strong').allInnerTexts()).toEqual(['Members: full access']);
  });

  test('can request account selection', async () => {
    const [first, second] = [await newcomer(), await newcomer()];
    for (const [someone, choose] of [
      [first, () => page.getByRole('link', { name: 'Continue as' }).click()],
      [
        second,
        async () => {
          await page.getByRole('link', { name: 'Use another account' }).click();
          await enterCredentials(page, second);
        },
      ],
    ] as const) {
      if (someone === first) {
        await page.goto(`${site.url}/sign-in`);
        await enterCredentials(page, first);
        await seesAccount(page);
      }
      await stranger.begin(page, { prompt: 'select_account' });
      await sees(page, 'Choose an account');
      await reads(page, `You are signed in as ${first.email}.`);
      await choose();
      await press(page, 'Allow');
      expect((await stranger.finish(page)).claims()?.sub).toBe(someone.id);
    }
  });

  test('is informed when the user refuses', async () => {
    await stranger.begin(page);
    await enterCredentials(page, await newcomer());
    await press(page, 'Do not allow');
    await expect(stranger.finish(page)).rejects.toMatchObject({ error: 'access_denied' });
  });
});

describe('an attacker', () => {
  test('must wait after five wrong passwords, even with the right one', async () => {
    const strict = await startSite({ RATE_LIMIT_LOGIN_FAILURES: '5', RATE_LIMIT_LOGIN: '7' });
    try {
      const known = await strict.identity.people.user();
      await page.goto(`${strict.url}/sign-in`);
      for (let i = 0; i < 5; i += 1) {
        await enterCredentials(page, known, 'wrong');
        await reads(page, 'Incorrect email address or password.');
      }
      await enterCredentials(page, known);
      await reads(page, /^Too many attempts\. Try again in \d+ (second|minute)s?\.$/);
      expect(await page.getByLabel('Email address').inputValue()).toBe(known.email);
      await enterCredentials(page, known);
      await enterCredentials(page, known);
      await sees(page, 'Sign in');
      await reads(page, /^Too many attempts\. Try again in \d+ (second|minute)s?\.$/);
      expect(await page.getByLabel('Email address').inputValue()).toBe(known.email);
    } finally {
      await strict.stop();
    }
  });

  test('cannot fixate a session: cookies from before the sign-in are worthless', async () => {
    const fixed = 'a-value-that-somebody-else-knows';
    await page.context().addCookies([{ name: 'session', value: fixed, url: site.url }]);
    await page.goto(`${site.url}/sign-in`);
    await enterCredentials(page, user);
    await page.waitForURL(`${site.url}/account`);
    const cookie = await sessionCookie();
    expect(cookie).not.toBe(fixed);
    const other = await browser.newPerson();
    await other.context().addCookies([{ name: 'session', value: fixed, url: site.url }]);
    await other.goto(`${site.url}/account`);
    await sees(other, 'Sign in');
  });

  test('cannot redirect users with return_to', async () => {
    await page.goto(`${site.url}/sign-in?return_to=${encodeURIComponent(`${ledger.url}/evil`)}`);
    await enterCredentials(page, user);
    await page.waitForURL(`${site.url}/account`);
  });

  test('cannot forge a form from another site', async () => {
    await page.goto(`${site.url}/sign-in`);
    await enterCredentials(page, user);
    await page.waitForURL(`${site.url}/account`);
    const elsewhere = ledger.url.replace('127.0.0.1', 'localhost');
    await page.goto(`${elsewhere}/evil?forge=${encodeURIComponent(`${site.url}/sign-out`)}`);
    await press(page, 'Win');
    await sees(page, 'Something went wrong');
    await page.goto(`${site.url}/account`);
    await seesAccount(page);
  });
});
