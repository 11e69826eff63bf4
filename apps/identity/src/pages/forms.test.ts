import { cookieValueOf } from '../testing/cookies.ts';
import { Forms } from '../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { PASSWORD } from '../testing/population.ts';

const ISSUER = 'https://identity.test';
const AUTHORIZATION = `${ISSUER}/oauth/authorize?client_id=panel`;

let identity: TestIdentity;
let forms: Forms;
beforeAll(async () => {
  identity = await startIdentity({ REGISTRATION_ENABLED: 'true' });
  forms = new Forms(identity);
});
afterAll(() => identity.stop());

/** The fields marked as invalid, in page order. */
const wrongFields = (page: string): string[] =>
  [...page.matchAll(/name="(\w+)"[^>]*aria-invalid="true"/g)].map(([, name]) => name ?? '');

const addressOf = ({ email }: { readonly email: string | null }): string => email ?? '';

describe('too many attempts', () => {
  test('keep the form, the address, the checkbox and the requesting application', async () => {
    const limited = await startIdentity({ RATE_LIMIT_LOGIN: '1' });
    try {
      const strict = new Forms(limited);
      const path = `/sign-in?${new URLSearchParams({ return_to: AUTHORIZATION })}`;
      const form = await strict.open(path);
      const given = { email: 'ada@example.test', password: 'Wrong-password-1', remember: 'true' };
      expect((await strict.send(path, form, given)).status).toBe(401);
      const refused = await strict.send(path, form, given);
      expect(refused.status).toBe(429);
      const seconds = Number(refused.headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(refused.text).toMatch(
        /role="alert">Too many attempts\. Try again in \d+ (second|minute)s?\./,
      );
      expect(refused.text).toContain('value="ada@example.test"');
      expect(refused.text).toMatch(/name="remember" value="true" checked/);
      expect(refused.text).toContain(`action="${path.slice('/sign-in'.length)}"`);
      expect(refused.text).not.toContain('Wrong-password-1');
    } finally {
      await limited.stop();
    }
  });

  test('are rejected for every form, also those without a narrower limit', async () => {
    const limited = await startIdentity({ RATE_LIMIT_FORM: '2' });
    try {
      const statusOf = async (path: string): Promise<number> =>
        (await limited.http.post(path).type('form').send({})).status;
      expect([await statusOf('/sign-out'), await statusOf('/consent/a')]).toEqual([403, 403]);
      expect(await statusOf('/sign-out')).toBe(429);
      expect(await statusOf('/sign-in')).toBe(403);
    } finally {
      await limited.stop();
    }
  });

  test('do not include language changes', async () => {
    const limited = await startIdentity({ RATE_LIMIT_LOGIN: '1' });
    try {
      const strict = new Forms(limited);
      const form = await strict.open('/sign-in');
      for (const ui_locales of ['hu', 'de', 'en']) {
        expect((await strict.send('/sign-in', form, { ui_locales })).status).toBe(200);
      }
      const given = { email: 'nobody@example.test', password: PASSWORD };
      expect((await strict.send('/sign-in', form, given)).status).toBe(401);
    } finally {
      await limited.stop();
    }
  });
});

describe('another language', () => {
  test('keeps what was typed except secrets, submits nothing, and is remembered', async () => {
    const user = await identity.people.user();
    const path = `/sign-in?${new URLSearchParams({ return_to: AUTHORIZATION })}`;
    const form = await forms.open(path);
    const answer = await forms.send(path, form, {
      email: addressOf(user),
      password: PASSWORD,
      remember: 'true',
      ui_locales: 'de',
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('<html lang="de">');
    expect(answer.text).toContain(`value="${user.email}"`);
    expect(answer.text).toContain('checked');
    expect(answer.text).not.toContain(PASSWORD);
    expect(cookieValueOf(answer, '__Host-session')).toBeUndefined();
    expect(cookieValueOf(answer, 'language')).toBe('de');
    expect(answer.text).toContain(`action="${path.slice('/sign-in'.length)}"`);
  });

  test('cannot be set by another site', async () => {
    const form = await forms.open('/sign-in');
    const answer = await forms
      .send('/sign-in', form, { ui_locales: 'de' })
      .set('sec-fetch-site', 'cross-site');
    expect(answer.status).toBe(403);
    expect(cookieValueOf(answer, 'language')).toBeUndefined();
  });
});

describe('a tab that was opened before', () => {
  test('can sign in although another tab has done so', async () => {
    const user = await identity.people.user();
    const path = `/sign-in?${new URLSearchParams({ return_to: AUTHORIZATION })}`;
    const first = await forms.open(path);
    const cookie = await forms.signIn(user.email, first.cookie);
    const given = { email: addressOf(user), password: PASSWORD };
    const answer = await forms.send(path, { token: first.token, cookie }, given);
    expect([answer.status, answer.headers.location]).toEqual([303, AUTHORIZATION]);
  });

  test('works after the same user has signed in again', async () => {
    const user = await identity.people.user();
    const before = await forms.open('/sign-out', await forms.signIn(user.email));
    const cookie = await forms.signIn(user.email, before.cookie);
    const answer = await forms.send('/sign-out', { token: before.token, cookie }, {});
    expect([answer.status, answer.headers.location]).toEqual([303, '/signed-out']);
  });

  test('does nothing for another user who has signed in', async () => {
    const [ada, grace] = [await identity.people.user(), await identity.people.user()];
    const before = await forms.open('/sign-out', await forms.signIn(ada.email));
    const cookie = await forms.signIn(grace.email, before.cookie);
    const answer = await forms.send('/sign-out', { token: before.token, cookie }, {});
    expect(answer.status).toBe(403);
    const page = await identity.http.get('/account').set('cookie', cookie);
    expect(page.text).toContain(grace.email);
  });

  test('redirects to the sign-in and back if the session has ended', async () => {
    const user = await identity.people.user();
    const form = await forms.open('/account/password', await forms.signIn(user.email));
    const cookie = form.cookie.replace(/__Host-session=[^;]*/, '__Host-session=gone');
    const answer = await forms.send('/account/password', { token: form.token, cookie }, {});
    const signIn = '/sign-in?notice=expired&next=%2Faccount%2Fpassword';
    expect([answer.status, answer.headers.location]).toEqual([303, signIn]);
    const again = await forms.open(signIn, cookie);
    const given = { email: addressOf(user), password: PASSWORD };
    const signedIn = await forms.send(signIn, again, given);
    expect(signedIn.headers.location).toBe('/account/password');
  });
});

describe('an error', () => {
  test('is shown for every field at once: a registration', async () => {
    const form = await forms.open('/register');
    const answer = await forms.send('/register', form, {
      email: 'ada',
      password: 'short',
      password_confirmation: 'other',
    });
    expect(answer.status).toBe(422);
    expect(wrongFields(answer.text)).toEqual([
      'first_name',
      'last_name',
      'tenant_name',
      'email',
      'password',
      'password_confirmation',
    ]);
    expect(answer.text).toContain('Use at least 12 characters.');
  });

  test('is shown for every field at once: a password change', async () => {
    const form = await forms.open(
      '/account/password',
      await forms.signIn((await identity.people.user()).email),
    );
    const answer = await forms.send('/account/password', form, {
      new_password: 'short',
      new_password_confirmation: 'other',
    });
    expect(wrongFields(answer.text)).toEqual([
      'current_password',
      'new_password',
      'new_password_confirmation',
    ]);
  });

  test('is shown in the form if the service is busy', async () => {
    const busy = await startIdentity({ HASH_QUEUE_LIMIT: '0', BCRYPT_COST: '10' });
    try {
      const crowd = new Forms(busy);
      const form = await crowd.open('/sign-in');
      const given = { email: 'ada@example.test', password: PASSWORD };
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => crowd.send('/sign-in', form, given)),
      );
      const shed = answers.find(({ status }) => status === 503);
      expect(shed?.headers['retry-after']).toBe('1');
      expect(shed?.text).toContain('value="ada@example.test"');
    } finally {
      await busy.stop();
    }
  });
});

describe('a notice', () => {
  const noticeOn = async (path: string, cookie: string): Promise<string | undefined> => {
    const { text } = await identity.http.get(path).set('cookie', cookie).redirects(1);
    return /role="status">([^<]+)</.exec(text)?.[1];
  };

  test.each([
    ['email_verified', 'Your email address is confirmed.'],
    ['invitation_accepted', 'You have joined the organization.'],
  ])('is shown to signed-in users too: %s', async (notice, told) => {
    const cookie = await forms.signIn((await identity.people.user()).email);
    expect(await noticeOn(`/sign-in?notice=${notice}`, cookie)).toBe(told);
  });
});

describe('the page after sending a mail', () => {
  const ask = async (email: string, cookies = '') => {
    const form = await forms.open('/password/forgot', cookies);
    const answer = await forms.send('/password/forgot', form, { email });
    const mailed = `__Host-mailed=${cookieValueOf(answer, '__Host-mailed')}`;
    return { location: answer.headers.location, cookie: `${form.cookie}; ${mailed}` };
  };

  test('shows the address, can resend the mail, and links to correct the address', async () => {
    const { email } = await identity.people.user();
    const { location, cookie } = await ask(email ?? '');
    expect(location).toBe('/mail-sent?about=reset');
    const page = await identity.http.get(location ?? '').set('cookie', cookie);
    expect(page.text).toContain(`<strong>${email}</strong>`);
    expect(page.text).toContain('<a href="/password/forgot">Use a different email address</a>');

    const again = await forms.open(location ?? '', cookie);
    const sent = await forms.send('/password/forgot', again, { email: email ?? '' });
    expect(sent.headers.location).toBe('/mail-sent?about=reset&notice=mail_requested_again');
    const told = await identity.http.get(sent.headers.location ?? '').set('cookie', cookie);
    expect(told.text).toContain('role="status">We have received your request.');
  });

  test('is the same for an address without an account', async () => {
    const { location, cookie } = await ask('nobody@example.test');
    const page = await identity.http.get(location ?? '').set('cookie', cookie);
    expect(page.text).toContain('<strong>nobody@example.test</strong>');
  });
});

describe('/.well-known/change-password', () => {
  test('redirects to the page that changes the password, after a sign-in', async () => {
    const well = await identity.http.get('/.well-known/change-password').redirects(0);
    expect([well.status, well.headers.location]).toEqual([302, '/account/password']);
    const page = await identity.http.get('/account/password').redirects(0);
    expect(page.headers.location).toBe('/sign-in?next=%2Faccount%2Fpassword');
  });

  test.each(['//evil.test', 'https://evil.test/', '/signed-out'])(
    'and to no other page: %s',
    async (next) => {
      const path = `/sign-in?${new URLSearchParams({ next })}`;
      const user = await identity.people.user();
      const given = { email: addressOf(user), password: PASSWORD };
      const answer = await forms.send(path, await forms.open(path), given);
      expect(answer.headers.location).toBe('/account');
    },
  );
});
