import type { Tenant, User } from '../../generated/prisma/client.ts';
import type { Authenticator } from '../../testing/authenticator.ts';
import { deviceCookieOf, setCookieOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';
import { claimsOf } from '../../testing/tokens.ts';
import { createTotp } from './totp.ts';

const clock = { now: Date.now() };
const SECOND = 1000;
/** The beginning of a step of 30 s; five seconds later, it is still the same step. */
const wholeStep = () => Math.ceil(Date.now() / 30_000) * 30_000;

let identity: TestIdentity;
let steps: ReturnType<typeof stepsOf>;
let tenant: Tenant;
beforeAll(async () => {
  identity = await startIdentity({}, { totp: createTotp('Tessera', () => clock.now) });
  steps = stepsOf(identity);
  tenant = await identity.people.tenant();
});
afterAll(() => identity.stop());

interface Person {
  readonly user: User;
  /** The token of a completed sign-in. */
  readonly bearer: Bearer;
  readonly authenticator: Authenticator;
}

const someone = async (): Promise<Person> => {
  clock.now = Date.now();
  const user = await identity.people.user({ tenant });
  const bearer = await identity.people.signIn(user);
  const authenticator = await identity.people.enableTwoFactor(user, bearer);
  // After the code of the confirmation and those that clock drift allows.
  clock.now = wholeStep() + 300_000;
  return { user, bearer, authenticator };
};

const pending = async ({ user }: Person): Promise<Bearer> =>
  steps.bearerOf(await steps.login(user));

describe('login when a second factor is pending', () => {
  test('returns requires_2fa and a token, without `user` and without a cookie', async () => {
    const person = await someone();
    const answer = await steps.login(person.user);
    expect([answer.status, answer.headers['set-cookie']]).toEqual([200, undefined]);
    expect(answer.body).toEqual({
      success: true,
      data: {
        token: expect.any(String),
        expires_in: 300,
        requires_2fa: true,
        requires_pin: false,
      },
    });
    const { exp = 0, iat = 0, token_use, sid } = claimsOf(answer.body.data.token);
    expect([exp - iat, token_use, sid]).toEqual([300, 'two_factor', undefined]);
  });

  test('opens no session and does not count as a sign-in yet', async () => {
    const person = await someone();
    const { database } = identity.context;
    const where = { userId: person.user.id };
    const before = await database.session.count({ where });
    await pending(person);
    expect(await database.session.count({ where })).toBe(before);
    const logins = await database.activityEntry.count({ where: { ...where, action: 'login' } });
    expect(logins).toBe(1);
  });

  test('with a wrong password is 401, and does not reveal the second factor', async () => {
    const { user } = await someone();
    const { status, body } = await steps.login(user, {}, { password: 'wrong' });
    expect([status, body.error]).toEqual([401, 'invalid_credentials']);
  });

  test.each([
    ['get', '/api/me'],
    ['get', '/api/user'],
    ['get', '/api/me/security'],
    ['get', '/api/devices'],
    ['get', '/api/auth/pin/status'],
    ['post', '/api/auth/2fa/enable'],
    ['post', '/api/auth/pin/verify'],
    ['post', '/api/auth/logout'],
  ] as const)('its token cannot be used for anything else: %s %s is 403', async (method, path) => {
    const { status, body } = await identity.http[method](path).set(await pending(await someone()));
    expect([status, body.error]).toEqual([403, 'two_factor_required']);
  });

  test('its token has the configured lifetime', async () => {
    const brief = await startIdentity({ TWO_FACTOR_PENDING_TTL: '1' });
    try {
      const user = await brief.people.user();
      await brief.people.enableTwoFactor(user, await brief.people.signIn(user));
      const { body } = await stepsOf(brief).login(user);
      const { exp = 0, iat = 0 } = claimsOf(body.data.token);
      expect([body.data.expires_in, exp - iat]).toEqual([1, 1]);
    } finally {
      await brief.stop();
    }
  });
});

describe('2fa/verify with that token', () => {
  test('completes the login: token, user and cookies', async () => {
    const person = await someone();
    const code = person.authenticator.codeAt(clock.now);
    const answer = await steps.verify(await pending(person), code);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          verified: true,
          token: expect.any(String),
          expires_in: 3600,
          refresh_expires_in: 30 * 86_400,
          user: {
            id: person.user.id,
            email: person.user.email,
            name: 'Ada Tester',
            first_name: 'Ada',
            last_name: 'Tester',
          },
          requires_pin: false,
        },
      },
    ]);
    const { sid, tenant_id, token_use } = claimsOf(answer.body.data.token);
    expect([tenant_id, token_use]).toEqual([tenant.id, 'login']);
    expect(setCookieOf(answer, '__Host-session')).not.toMatch(/Max-Age/);
    const { database } = identity.context;
    const session = await database.session.findUniqueOrThrow({ where: { id: sid } });
    expect(session.amr).toEqual(['pwd', 'otp']);
    const me = await identity.http.get('/api/me').set(steps.bearerOf(answer));
    expect(me.status).toBe(200);
  });

  test('uses the options of the login, and none sent with the code', async () => {
    const person = await someone();
    const login = await steps.login(person.user, {}, { remember: true });
    const asked = { authorization: `Bearer ${login.body.data.token}` };
    const sneaky = await steps.verify(asked, '000000', { remember: false });
    expect([sneaky.status, Object.keys(sneaky.body.errors)]).toEqual([422, ['remember']]);
    const answer = await steps.verify(asked, person.authenticator.codeAt(clock.now));
    expect(setCookieOf(answer, '__Host-session')).toMatch(/; Max-Age=2592000;/);
  });

  test('revokes the token', async () => {
    const person = await someone();
    const bearer = await pending(person);
    const [first = '', second = ''] = person.authenticator.recoveryCodes;
    expect((await steps.verify(bearer, first)).status).toBe(200);
    expect((await steps.verify(bearer, second)).status).toBe(401);
  });

  test('twice at the same time completes one login and uses one code', async () => {
    const person = await someone();
    const bearer = await pending(person);
    const answers = await Promise.all(
      person.authenticator.recoveryCodes.slice(0, 4).map((code) => steps.verify(bearer, code)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const { database } = identity.context;
    const where = { userId: person.user.id, usedAt: { not: null } };
    expect(await database.recoveryCode.count({ where })).toBe(1);
  });

  test('reports that the PIN is required next if one is set', async () => {
    const person = await someone();
    await identity.people.setPin(person.bearer, '192837');
    const login = await steps.login(person.user);
    expect(login.body.data).toMatchObject({ requires_2fa: true, requires_pin: false });
    const code = person.authenticator.codeAt(clock.now);
    const { body } = await steps.verify(steps.bearerOf(login), code);
    expect(body.data.requires_pin).toBe(true);
    const bearer = { authorization: `Bearer ${body.data.token}` };
    expect((await identity.http.get('/api/me').set(bearer)).body.error).toBe('pin_required');
  });
});

describe('2fa/verify with a full token', () => {
  test('is a step-up that returns no token and sets no cookie', async () => {
    const person = await someone();
    const answer = await steps.verify(person.bearer, person.authenticator.codeAt(clock.now));
    expect([answer.status, answer.body, answer.headers['set-cookie']]).toEqual([
      200,
      { success: true, data: { verified: true } },
      undefined,
    ]);
    const { sid } = claimsOf(person.bearer.authorization.slice('Bearer '.length));
    const { database } = identity.context;
    const session = await database.session.findUniqueOrThrow({ where: { id: sid } });
    expect(session.amr).toEqual(['pwd', 'otp']);
  });

  test('can also make the device trusted', async () => {
    clock.now = Date.now();
    const user = await identity.people.user();
    const login = await steps.login(user);
    const bearer = steps.bearerOf(login);
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    clock.now = wholeStep() + 300_000;
    const here = { ...bearer, ...deviceCookieOf(login) };
    await steps.verify(here, authenticator.codeAt(clock.now), { trust_device: true });
    const again = await steps.login(user, deviceCookieOf(login));
    expect(again.body.data.requires_2fa).toBe(false);
  });
});

describe('a one-time password', () => {
  test('is accepted with spaces', async () => {
    const person = await someone();
    const code = person.authenticator.codeAt(clock.now);
    const typed = `${code.slice(0, 3)} ${code.slice(3)} `;
    expect((await steps.verify(person.bearer, typed)).status).toBe(200);
  });

  test.each([
    ['30 s slow', -30, 200],
    ['30 s fast', 30, 200],
    ['60 s slow', -60, 422],
    ['60 s fast', 60, 422],
  ])('of a clock that is %s: %d s is %d', async (_, seconds, expected) => {
    const person = await someone();
    const code = person.authenticator.codeAt(clock.now + seconds * SECOND);
    expect((await steps.verify(person.bearer, code)).status).toBe(expected);
  });

  test('works once, and invalidates earlier ones', async () => {
    const person = await someone();
    const { authenticator } = person;
    const [before, code, after] = [-30, 0, 30].map((s) =>
      authenticator.codeAt(clock.now + s * SECOND),
    );
    expect((await steps.verify(person.bearer, code)).status).toBe(200);
    const replayed = await steps.verify(await pending(person), code);
    expect([replayed.status, Object.keys(replayed.body.errors)]).toEqual([422, ['code']]);
    expect((await steps.verify(person.bearer, before)).status).toBe(422);
    expect((await steps.verify(person.bearer, after)).status).toBe(200);
  });

  test('that confirmed the setup cannot be used to sign in', async () => {
    const person = await someone();
    const { lastStep } = await identity.context.database.twoFactor.findUniqueOrThrow({
      where: { userId: person.user.id },
    });
    clock.now = Number(lastStep) * 30_000;
    const code = person.authenticator.codeAt(clock.now);
    expect((await steps.verify(await pending(person), code)).status).toBe(422);
  });

  test('used concurrently works only once', async () => {
    const person = await someone();
    const bearers = await Promise.all([1, 2, 3, 4].map(() => pending(person)));
    const code = person.authenticator.codeAt(clock.now);
    const answers = await Promise.all(bearers.map((bearer) => steps.verify(bearer, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422]);
  });

  test('of another user is wrong', async () => {
    const [person, other] = [await someone(), await someone()];
    const code = other.authenticator.codeAt(clock.now);
    expect((await steps.verify(person.bearer, code)).status).toBe(422);
  });
});

describe('a recovery code', () => {
  test('replaces a one-time password, once, however it is typed', async () => {
    const person = await someone();
    const [first = '', second = ''] = person.authenticator.recoveryCodes;
    const typed = ` ${first.toUpperCase().replaceAll('-', ' ')}`;
    const answer = await steps.verify(await pending(person), typed);
    expect([answer.status, answer.body.message]).toEqual([200, '7 recovery codes are left.']);
    expect((await steps.verify(await pending(person), first)).status).toBe(422);
    expect((await steps.verify(await pending(person), second.replaceAll('-', ''))).status).toBe(
      200,
    );
  });

  test('reports when few are left', async () => {
    const person = await someone();
    const messages = [];
    for (const code of person.authenticator.recoveryCodes) {
      messages.push((await steps.verify(person.bearer, code)).body.message);
    }
    expect(messages.slice(4)).toEqual([
      '3 recovery codes are left. Create new ones soon.',
      '2 recovery codes are left. Create new ones soon.',
      '1 recovery code is left. Create new ones soon.',
      'That was your last recovery code. Create new ones now.',
    ]);
  });
});

describe('invalid codes are rejected, never with a 500', () => {
  test.each([
    ['an emoji', '🎉🎉🎉🎉🎉🎉', 422],
    ['digits of another script', '١٢٣٤٥٦', 422],
    ['NUL', '123\u0000456', 422],
    ['nothing', '', 422],
    ['blanks', '      ', 422],
    ['a number', 123456, 422],
    ['a list', ['123456'], 422],
    ['null', null, 422],
    ['a long text', '1'.repeat(10_000), 422],
    ['a megabyte', '1'.repeat(1_000_000), 413],
  ])('%s', async (_, code, expected) => {
    const person = await someone();
    for (const path of ['verify', 'confirm']) {
      const answer = await identity.http
        .post(`/api/auth/2fa/${path}`)
        .set(person.bearer)
        .send({ code });
      const isOn = path === 'confirm' && expected === 422 && answer.status === 409;
      expect(isOn ? 422 : answer.status).toBe(expected);
    }
  });
});
