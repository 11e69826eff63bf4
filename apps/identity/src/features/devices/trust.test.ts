import type { Response } from 'supertest';
import type { User } from '../../generated/prisma/client.ts';
import type { Authenticator } from '../../testing/authenticator.ts';
import { deviceCookieOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';

type Cookie = Readonly<Record<string, string>>;

let identity: TestIdentity;
let steps: ReturnType<typeof stepsOf>;
beforeAll(async () => {
  identity = await startIdentity();
  steps = stepsOf(identity);
});
afterAll(() => identity.stop());

interface Person {
  readonly user: User;
  readonly authenticator: Authenticator;
  /** The token of the session on the trusted device. */
  readonly bearer: Bearer;
  readonly cookie: Cookie;
}

const verified = async (
  user: User,
  authenticator: Authenticator,
  more: { trust_device?: boolean; cookie?: Cookie } = {},
) => {
  const { cookie, ...body } = more;
  const pending = steps.bearerOf(await steps.login(user, cookie));
  return steps.verify({ ...pending, ...cookie }, await authenticator.code(), body);
};

/** A user who trusts the device that they signed in from. */
const someone = async (): Promise<Person> => {
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const authenticator = await identity.people.enableTwoFactor(
    user,
    await identity.people.signIn(user),
  );
  const answer = await verified(user, authenticator, { trust_device: true });
  return { user, authenticator, bearer: steps.bearerOf(answer), cookie: deviceCookieOf(answer) };
};

const isAsked = async (user: User, cookie?: Cookie): Promise<boolean> =>
  (await steps.login(user, cookie)).body.data.requires_2fa;

describe('a trusted device', () => {
  test('skips the second factor, is listed as trusted, and is recorded in the activity', async () => {
    const { user, bearer, cookie } = await someone();
    expect(await isAsked(user, cookie)).toBe(false);
    const { body } = await identity.http.get('/api/devices').set(bearer);
    expect(body.data.filter((device: { is_trusted: boolean }) => device.is_trusted)).toEqual([
      expect.objectContaining({ is_current: true }),
    ]);
    const where = { userId: user.id, action: 'device_trusted' };
    expect(await identity.context.database.activityEntry.count({ where })).toBe(1);
  });

  test('is trusted only on request', async () => {
    const { user, authenticator } = await someone();
    const answer = await verified(user, authenticator);
    expect(await isAsked(user, deviceCookieOf(answer))).toBe(true);
    expect(await isAsked(user)).toBe(true);
  });

  test('stays trusted when the second factor is verified there without requesting trust', async () => {
    const { user, bearer, authenticator, cookie } = await someone();
    await steps.verify(bearer, await authenticator.code());
    expect(await isAsked(user, cookie)).toBe(false);
  });

  test('still requires the password and the PIN', async () => {
    const { user, bearer, cookie } = await someone();
    expect((await steps.login(user, cookie, { password: 'wrong' })).status).toBe(401);
    await identity.people.setPin(bearer, '192837');
    expect((await steps.login(user, cookie)).body.data).toMatchObject({
      requires_2fa: false,
      requires_pin: true,
    });
  });

  test("does not skip another user's second factor, even with its cookie", async () => {
    const [mine, theirs] = [await someone(), await someone()];
    expect(await isAsked(theirs.user, mine.cookie)).toBe(true);
    const answer = await verified(theirs.user, theirs.authenticator, { cookie: mine.cookie });
    expect(deviceCookieOf(answer)).not.toEqual(mine.cookie);
    expect(await isAsked(theirs.user, mine.cookie)).toBe(true);
    expect(await isAsked(mine.user, mine.cookie)).toBe(false);
  });

  test('is identified by its cookie, not by its user agent', async () => {
    const user = await identity.people.user({ tenant: await identity.people.tenant() });
    const looks = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Firefox/133.0' };
    const mine = await steps.login(user, looks);
    const thief = await steps.login(user, looks);
    const bearer = steps.bearerOf(mine);
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    const headers = { ...bearer, ...looks, ...deviceCookieOf(mine) };
    const answer = await steps.verify(headers, await authenticator.code(), { trust_device: true });
    expect(answer.status).toBe(200);
    expect(await isAsked(user, { ...looks, ...deviceCookieOf(thief) })).toBe(true);
    expect(await isAsked(user, { ...looks, ...deviceCookieOf(mine) })).toBe(false);
  });

  test('keeps its trust to itself while others with its user agent share its device', async () => {
    const user = await identity.people.user();
    const looks = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Firefox/133.0' };
    const answers = [];
    for (let i = 0; i < 3; i += 1) answers.push(await steps.login(user, looks));
    const [first, second, third] = answers as [Response, Response, Response];
    const bearer = steps.bearerOf(second);
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    const headers = { ...bearer, ...looks, ...deviceCookieOf(second) };
    await steps.verify(headers, await authenticator.code(), { trust_device: true });
    for (const [answer, asked] of [
      [first, true],
      [second, false],
      [third, true],
    ] as const) {
      expect(await isAsked(user, { ...looks, ...deviceCookieOf(answer) })).toBe(asked);
      const { body } = await identity.http.get('/api/devices').set(steps.bearerOf(answer));
      const current = body.data.find((device: { is_current: boolean }) => device.is_current);
      expect(current.is_trusted).toBe(!asked);
    }
    expect(await isAsked(user, looks)).toBe(true);
  });

  test('that signs in without a cookie is trusted with the cookie it gets, not those before it', async () => {
    const { user, authenticator } = await someone();
    const first = deviceCookieOf(await verified(user, authenticator));
    const second = deviceCookieOf(await verified(user, authenticator, { trust_device: true }));
    const third = deviceCookieOf(await verified(user, authenticator));
    expect(await isAsked(user, first)).toBe(true);
    expect(await isAsked(user, second)).toBe(false);
    expect(await isAsked(user, third)).toBe(true);
  });

  test('is not trusted without its cookie', async () => {
    const { user, authenticator } = await someone();
    const own = await verified(user, authenticator);
    const bearer = steps.bearerOf(own);
    await steps.verify(bearer, await authenticator.code(), { trust_device: true });
    expect(await isAsked(user, deviceCookieOf(own))).toBe(true);
  });

  test('does not pass its trust on to a device with the same user agent', async () => {
    const { user, authenticator, cookie } = await someone();
    await verified(user, authenticator);
    await verified(user, authenticator);
    expect(await isAsked(user)).toBe(true);
    expect(await isAsked(user, cookie)).toBe(false);
  });
});

describe('trust ends', () => {
  test('after the configured time', async () => {
    const { user, cookie } = await someone();
    const { device } = identity.context.database;
    const where = { userId: user.id, trustedUntil: { not: null } };
    const [trusted] = await device.findMany({ where });
    const days = (+(trusted?.trustedUntil ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
    await device.updateMany({ where, data: { trustedUntil: new Date() } });
    expect(await isAsked(user, cookie)).toBe(true);
  });

  test('when the device is revoked', async () => {
    const { user, bearer, cookie } = await someone();
    const { body } = await identity.http.get('/api/devices').set(bearer);
    const { id } = body.data.find((device: { is_current: boolean }) => device.is_current);
    await identity.http.post(`/api/devices/${id}/revoke`).set(bearer);
    expect(await isAsked(user, cookie)).toBe(true);
  });

  test('when the second factor is disabled, also for the one that is set up next', async () => {
    const { user, bearer, cookie } = await someone();
    await identity.http.post('/api/auth/2fa/disable').set(bearer).send({ password: PASSWORD });
    expect(await isAsked(user, cookie)).toBe(false);
    await identity.people.enableTwoFactor(user, bearer);
    expect(await isAsked(user, cookie)).toBe(true);
  });

  test('for every device when the password is changed, and this session continues', async () => {
    const { user, bearer, authenticator, cookie } = await someone();
    const second = deviceCookieOf(await verified(user, authenticator, { trust_device: true }));
    const password = 'Another-horse-8-battery';
    const { status } = await identity.http.post('/api/auth/password/change').set(bearer).send({
      current_password: PASSWORD,
      new_password: password,
      new_password_confirmation: password,
    });
    expect(status).toBe(200);
    for (const device of [cookie, second]) {
      const { body } = await steps.login(user, device, { password });
      expect(body.data.requires_2fa).toBe(true);
    }
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(200);
  });

  test('with logout-all', async () => {
    const { user, bearer, cookie } = await someone();
    const { status } = await identity.http.post('/api/auth/logout-all').set(bearer);
    expect([status, await isAsked(user, cookie)]).toEqual([200, true]);
  });
});

describe('a recognised device', () => {
  const strict = async (
    work: (identity: TestIdentity) => Promise<void>,
    environment: Record<string, string> = {},
  ): Promise<void> => {
    const own = await startIdentity({ RATE_LIMIT_LOGIN_FAILURES: '3', ...environment });
    try {
      await work(own);
    } finally {
      await own.stop();
    }
  };

  test('can sign in while others guess: they cannot lock its owner out', () =>
    strict(async (own) => {
      const { login } = stepsOf(own);
      const user = await own.people.user();
      const cookie = deviceCookieOf(await login(user));
      for (let i = 0; i < 4; i += 1) await login(user, {}, { password: 'wrong' });
      expect((await login(user)).status).toBe(429);
      expect((await login(user, cookie)).status).toBe(200);
      expect((await login(user, cookie, { password: 'wrong' })).status).toBe(401);
      expect((await login(user)).status).toBe(429);
    }));

  test('is each one whose cookie was given to a sign-in, until its device is revoked', () =>
    strict(async (own) => {
      const { login, bearerOf } = stepsOf(own);
      const user = await own.people.user();
      const answers = [await login(user), await login(user), await login(user)];
      for (let i = 0; i < 4; i += 1) await login(user, {}, { password: 'wrong' });
      for (const answer of answers) {
        const cookie = deviceCookieOf(answer);
        expect((await login(user, cookie, { password: 'wrong' })).status).toBe(401);
      }
      const bearer = bearerOf(answers[0] as Response);
      const { body } = await own.http.get('/api/devices').set(bearer);
      expect(body.data).toHaveLength(1);
      await own.http.post(`/api/devices/${body.data[0].id}/revoke`).set(bearer).expect(200);
      for (const answer of answers) {
        expect((await login(user, deviceCookieOf(answer))).status).toBe(429);
      }
    }));

  test('of another account has no such advantage', () =>
    strict(async (own) => {
      const { login } = stepsOf(own);
      const [user, other] = [await own.people.user(), await own.people.user()];
      const cookie = deviceCookieOf(await login(other));
      const statuses = [];
      for (let i = 0; i < 4; i += 1) {
        statuses.push((await login(user, cookie, { password: 'wrong' })).status);
      }
      expect(statuses).toEqual([401, 401, 401, 429]);
      const nobody = { ...user, email: 'nobody@example.test' };
      for (let i = 0; i < 3; i += 1) await login(nobody, cookie);
      expect((await login(nobody, cookie)).status).toBe(429);
    }));

  test('of a user who registered with the address of another account has no such advantage', () =>
    strict(
      async (own) => {
        const { login } = stepsOf(own);
        const user = await own.people.user();
        const password = 'Other-horse-8-battery';
        const claim = await own.people.user({
          password,
          data: { email: user.email, emailVerifiedAt: null },
        });
        const cookie = deviceCookieOf(await login(claim, {}, { password }));
        const statuses = [];
        for (let i = 0; i < 4; i += 1) {
          statuses.push((await login(user, cookie, { password: 'wrong' })).status);
        }
        expect(statuses).toEqual([401, 401, 401, 429]);
      },
      { REGISTRATION_ENABLED: 'true' },
    ));

  test('is not known before its second factor: a password alone sets no cookie', async () => {
    const { user } = await someone();
    const answer = await steps.login(user);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});
