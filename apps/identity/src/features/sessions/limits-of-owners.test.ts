import type { User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { bearerOf, refresh, refreshed, signedIn } from '../../testing/sessions.ts';
import { stepsOf } from '../../testing/sign-in.ts';
import { claimsOf, expectRefused } from '../../testing/tokens.ts';

let identity: TestIdentity;
let user: User;
beforeAll(async () => {
  identity = await startIdentity({ RATE_LIMIT_DEFAULT: '3', RATE_LIMIT_PASSWORD: '2' });
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
});

const me = (bearer: Bearer) => identity.http.get('/api/me').set(bearer);

const statuses = async (count: number, send: () => PromiseLike<{ status: number }>) => {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) found.push((await send()).status);
  return found;
};

describe('a token that does not use up the user’s rate limit', () => {
  test('can be a replaced token, however often it is presented', async () => {
    const stolen = await signedIn(identity, user);
    await refreshed(identity, stolen);
    expect(await statuses(4, () => refresh(identity, stolen))).toEqual([422, 422, 422, 429]);
    const live = bearerOf(await signedIn(identity, user));
    expect(await statuses(2, () => refresh(identity, stolen))).toEqual([429, 429]);
    expect((await me(live)).status).toBe(200);
    expect((await identity.http.post('/api/auth/logout').set(live)).status).toBe(200);
  });

  test('can belong to a sign-in pending its second factor', async () => {
    const live = bearerOf(await signedIn(identity, user));
    await identity.people.enableTwoFactor(user, live);
    const steps = stepsOf(identity);
    const pending = steps.bearerOf(await steps.login(user));
    expect(await statuses(4, () => me(pending))).toEqual([403, 403, 403, 429]);
    expect((await me(live)).status).toBe(200);
  });

  test('can belong to a session locked by a PIN', async () => {
    const live = bearerOf(await signedIn(identity, user));
    await identity.people.setPin(live, '192837');
    const steps = stepsOf(identity);
    const locked = steps.bearerOf(await steps.login(user));
    expect(await statuses(4, () => me(locked))).toEqual([403, 403, 403, 429]);
    expect((await me(live)).status).toBe(200);
  });
});

test.each(['/api/auth/logout', '/api/auth/logout-all'])(
  'users over the limit can still sign out with %s',
  async (path) => {
    const live = bearerOf(await signedIn(identity, user));
    expect(await statuses(4, () => me(live))).toEqual([200, 200, 200, 429]);
    expect((await identity.http.post(path).set(live)).status).toBe(200);
  },
);

describe('reuse of a replaced token is detected before other errors', () => {
  const replaced = async (): Promise<{ old: string; good: string }> => {
    const old = await signedIn(identity, user);
    return { old, good: await refreshed(identity, old) };
  };

  test('if the password must be changed', async () => {
    const { old, good } = await replaced();
    await identity.context.database.user.update({
      where: { id: user.id },
      data: { forcePasswordChange: true },
    });
    const answer = await refresh(identity, old);
    expect([answer.status, answer.body.error]).toEqual([422, 'token_reused']);
    await expectRefused(identity.http, good);
  });

  test('if the session is locked by a PIN', async () => {
    const { old, good } = await replaced();
    await identity.context.database.session.update({
      where: { id: claimsOf(old).sid ?? '' },
      data: { pinPending: true },
    });
    const answer = await refresh(identity, old);
    expect([answer.status, answer.body.error]).toEqual([422, 'token_reused']);
    await expectRefused(identity.http, good);
  });
});

test('routes that hash passwords have their own limit', async () => {
  const live = bearerOf(await signedIn(identity, user));
  const change = () =>
    identity.http.put('/api/user/password').set(live).send({
      current_password: PASSWORD,
      new_password: PASSWORD,
      new_password_confirmation: PASSWORD,
    });
  expect(await statuses(3, change)).toEqual([422, 422, 429]);
  expect((await me(live)).status).toBe(200);
});
