import type { User } from '../../generated/prisma/client.ts';
import { totpAt } from '../../testing/authenticator.ts';
import { cookieValueOf } from '../../testing/cookies.ts';
import { Forms } from '../../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { answerAfter } from '../../testing/locks.ts';
import { PASSWORD } from '../../testing/population.ts';

const PIN = '192837';
const NEW = 'Another-horse-8-battery';

let identity: TestIdentity;
let forms: Forms;
let user: User;
let cookie: string;
beforeAll(async () => {
  identity = await startIdentity();
  forms = new Forms(identity);
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  cookie = await forms.signIn(user.email);
});

const get = (path: string, as = cookie) => identity.http.get(path).set('cookie', as).redirects(0);
const send = async (path: string, fields: Record<string, string>, as = cookie) =>
  forms.send(path, await forms.open(path, as), fields);

describe('the page that changes the password', () => {
  const change = (fields: Record<string, string> = {}) =>
    send('/account/password', {
      current_password: PASSWORD,
      new_password: NEW,
      new_password_confirmation: NEW,
      ...fields,
    });

  test('ends all other sessions, and shows when the password was changed', async () => {
    const other = await forms.signIn(user.email);
    const done = await change();
    expect(done.headers.location).toBe('/account/password?notice=password_changed');
    expect((await get('/account/password')).text).toMatch(/Last changed: \w+ \d+, \d{4}/);
    expect((await get('/account', other)).headers.location).toBe('/sign-in?next=%2Faccount');
  });

  test('shows errors that only the server detects, and never shows a password', async () => {
    const password = 'Tester-Ada-horse-8!';
    const answer = await change({
      new_password: password,
      new_password_confirmation: password,
      current_password: 'Wrong-horse-8-battery',
    });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Do not use your name in your password.');
    expect(answer.text).toContain('The current password is incorrect.');
    expect(answer.text).not.toContain(password);
    expect(answer.text).not.toContain('Wrong-horse');
  });

  test('counts attempts together with the JSON route', async () => {
    const limited = await startIdentity({ RATE_LIMIT_PASSWORD: '2' });
    try {
      const strict = new Forms(limited);
      const person = await limited.people.user({ tenant: await limited.people.tenant() });
      const bearer = await limited.people.signIn(person);
      const form = await strict.open('/account/password', await strict.signIn(person.email));
      const post = () => limited.http.post('/api/auth/password/change').set(bearer).send({});
      expect((await post()).status).toBe(422);
      expect((await strict.send('/account/password', form, {})).status).toBe(422);
      const refused = await strict.send('/account/password', form, {});
      expect(refused.status).toBe(429);
      expect(refused.text).toContain('Too many attempts');
      expect((await post()).status).toBe(429);
    } finally {
      await limited.stop();
    }
  });

  test('is where /password/change redirects users who need not change their password', async () => {
    expect((await get('/password/change')).headers.location).toBe('/account/password');
    const { database } = identity.context;
    await database.user.update({ where: { id: user.id }, data: { forcePasswordChange: true } });
    expect((await get('/password/change')).status).toBe(200);
    expect((await get('/account/password')).headers.location).toBe(
      '/password/change?next=%2Faccount%2Fpassword',
    );
  });
});

describe('the pages of the second factor', () => {
  const SET_UP = '/account/two-factor/set-up';
  const CODES = '/account/two-factor/recovery-codes';
  const secretIn = (page: string): string =>
    /<code class="secret">([\s\S]*?)<\/code>/.exec(page)?.[1]?.replace(/<[^>]*>/g, '') ?? '';

  /** Enables it; returns the response and the cookies of the browser. */
  const turnOn = async (as = cookie) => {
    await send('/account/two-factor', {}, as);
    const secret = secretIn((await get(SET_UP, as)).text);
    const answer = await send(SET_UP, { code: totpAt(secret, Date.now()) }, as);
    const kept = cookieValueOf(answer, '__Host-recovery-codes');
    return { answer, sealed: kept ?? '', after: `${as}; __Host-recovery-codes=${kept}` };
  };
  const codesIn = (page: string): string[] =>
    [...page.matchAll(/<li>([0-9a-f-]{23})<\/li>/g)].map(([, code]) => code ?? '');

  test('show the recovery codes only to their owner, and store them encrypted', async () => {
    const { answer, sealed, after } = await turnOn();
    expect(answer.headers.location).toBe(`${CODES}?notice=two_factor_on`);
    expect(answer.headers['set-cookie']?.toString()).toMatch(
      /recovery-codes=[^;]+;.*HttpOnly; Secure/,
    );
    const page = await get(CODES, after);
    const codes = codesIn(page.text);
    expect(codes).toHaveLength(8);
    expect(page.headers['cache-control']).toBe('no-store');
    const readable = Buffer.from(sealed, 'base64url').toString('latin1');
    for (const code of codes) expect(readable).not.toContain(code);

    const other = await identity.people.user({ tenant: await identity.people.tenant() });
    const theirs = `${await forms.signIn(other.email)}; __Host-recovery-codes=${sealed}`;
    expect((await get(CODES, theirs)).headers.location).toBe('/account/two-factor');
    const garbage = `${cookie}; __Host-recovery-codes=${sealed.slice(0, -4)}AAAA`;
    expect((await get(CODES, garbage)).headers.location).toBe('/account/two-factor');
  });

  test('offer new recovery codes if the answer with the first ones was lost', async () => {
    await send('/account/two-factor', {});
    const page = await get(SET_UP);
    const code = totpAt(secretIn(page.text), Date.now());
    const form = await forms.open(SET_UP, cookie);
    const press = () => forms.send(SET_UP, form, { code });
    const notice = '/account/two-factor/new-recovery-codes?notice=recovery_codes_unseen';
    const answers = [...(await Promise.all([press(), press()])), await press()];
    const locations = answers.map(({ headers }) => headers.location);
    expect(locations.sort()).toEqual([notice, notice, `${CODES}?notice=two_factor_on`]);
    expect((await get(notice)).text).toContain('If you have not saved your recovery codes');
    expect((await get(SET_UP)).headers.location).toBe('/account/two-factor');
  });

  test('show them for at most half an hour', async () => {
    const { after } = await turnOn();
    const now = Date.now();
    const clock = import.meta.jest.spyOn(Date, 'now').mockReturnValue(now + 1801_000);
    try {
      expect((await get(CODES, after)).headers.location).toBe('/account/two-factor');
    } finally {
      clock.mockRestore();
    }
  });

  test('do not show recovery codes that were replaced in another browser', async () => {
    const { after } = await turnOn();
    const replace = '/account/two-factor/new-recovery-codes';
    expect((await send(replace, { password: PASSWORD })).headers.location).toBe(CODES);
    const answer = await get(CODES, after);
    expect(answer.headers.location).toBe('/account/two-factor');
    expect(cookieValueOf(answer, '__Host-recovery-codes')).toBe('');
    expect((await get('/account/two-factor', after)).status).toBe(200);
  });

  test('redirect if there is nothing to set up, replace or disable', async () => {
    for (const path of [
      SET_UP,
      CODES,
      '/account/two-factor/new-recovery-codes',
      '/account/two-factor/turn-off',
    ]) {
      expect([path, (await get(path)).headers.location]).toEqual([path, '/account/two-factor']);
    }
  });

  test('discard a secret that was not confirmed within an hour', async () => {
    await send('/account/two-factor', {});
    expect((await get(SET_UP)).status).toBe(200);
    await identity.context.database.twoFactor.update({
      where: { userId: user.id },
      data: { createdAt: new Date(Date.now() - 3601_000) },
    });
    expect((await get(SET_UP)).headers.location).toBe('/account/two-factor');
  });

  test('report if it was enabled elsewhere meanwhile', async () => {
    const form = await forms.open('/account/two-factor', cookie);
    await turnOn();
    const answer = await forms.send('/account/two-factor', form, {});
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('Something changed in the meantime.');
    expect(answer.text).toContain('Recovery codes left');
  });

  test.each([
    [3, 'You have few recovery codes left.'],
    [0, 'You have no recovery codes left.'],
  ])('warn about few recovery codes: %i left', async (left, warning) => {
    await turnOn();
    const { database } = identity.context;
    const codes = await database.recoveryCode.findMany({ where: { userId: user.id } });
    const codeHash = { in: codes.slice(left).map((code) => code.codeHash) };
    await database.recoveryCode.updateMany({
      where: { userId: user.id, codeHash },
      data: { usedAt: new Date() },
    });
    expect((await get('/account/two-factor')).text).toContain(warning);
  });
});

describe('a form whose session ends while it is processed', () => {
  test('leads to the sign-in and back', async () => {
    const { database } = identity.context;
    const form = await forms.open('/account/two-factor', cookie);
    const answer = await answerAfter(
      database,
      user.id,
      () => forms.send('/account/two-factor', form, {}),
      (tx) => tx.session.updateMany({ where: { userId: user.id }, data: { endedAt: new Date() } }),
    );
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      '/sign-in?notice=expired&next=%2Faccount%2Ftwo-factor',
    ]);
  });

  test('leads where the visitor wanted to go, if nobody wants to go to the page itself', async () => {
    const { database } = identity.context;
    const { id, email } = await identity.people.user({ data: { emailVerifiedAt: null } });
    const path = '/email/confirm?next=%2Faccount%2Fdevices';
    const form = await forms.open(path, await forms.signIn(email));
    const answer = await answerAfter(
      database,
      id,
      () => forms.send(path, form, { email: `other-${email}` }),
      (tx) => tx.user.delete({ where: { id } }),
    );
    const signIn = '/sign-in?notice=expired&next=%2Faccount%2Fdevices';
    expect([answer.status, answer.headers.location]).toEqual([303, signIn]);
  });
});

describe('the pages of the PIN', () => {
  test('redirect if there is no PIN to change or remove', async () => {
    for (const path of ['/account/pin/change', '/account/pin/remove']) {
      expect([path, (await get(path)).headers.location]).toEqual([path, '/account/pin']);
    }
  });

  test('show the errors of every field, and never show a PIN', async () => {
    const answer = await send('/account/pin', { pin: '777777', pin_confirmation: PIN });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Do not use the same digit six times.');
    expect(answer.text).toContain('The PINs do not match.');
    expect(answer.text).not.toContain('777777');
    expect(answer.text).not.toContain(PIN);
  });

  test('lock the PIN after wrong attempts, and show for how long', async () => {
    await send('/account/pin', { pin: PIN, pin_confirmation: PIN });
    const given = { current_pin: '918273', pin: '564738', pin_confirmation: '564738' };
    for (let i = 0; i < 5; i++) expect((await send('/account/pin/change', given)).status).toBe(422);
    const refused = await send('/account/pin/change', { ...given, current_pin: PIN });
    expect(refused.status).toBe(429);
    expect(refused.text).toMatch(/Too many attempts\. Try again in \d+ \w+\./);
    expect((await get('/account/pin')).text).toMatch(/You can use your PIN again in \d+ \w+\./);
  });
});
