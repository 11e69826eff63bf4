import type { User } from '../../generated/prisma/client.ts';
import { CodeFlow } from '../../testing/code-flow.ts';
import { cookieValueOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { activityOf, bearerOf } from '../../testing/sessions.ts';
import { claimsOf } from '../../testing/tokens.ts';

let identity: TestIdentity;
let user: User;
let bearer: Bearer;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());
beforeEach(async () => {
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  bearer = await identity.people.signIn(user);
});

const post = (path: string, body: object = {}, as = bearer) =>
  identity.http.post(path).set(as).send(body);
const reauthenticate = (password: unknown, as = bearer) =>
  post('/api/auth/reauthenticate', { password }, as);

/** Sets the age of the user's sign-in in seconds. */
const wait = async (seconds: number) => {
  await identity.context.database.session.updateMany({
    where: { userId: user.id },
    data: { authenticatedAt: new Date(Date.now() - seconds * 1000) },
  });
};

const PIN = { pin: '192837', pin_confirmation: '192837' };
const changes = [
  ['2fa/enable', {}],
  ['2fa/confirm', { code: '123456' }],
  ['2fa/disable', { password: PASSWORD }],
  ['2fa/recovery-codes', { password: PASSWORD }],
  ['pin/set', PIN],
  ['pin/change', { ...PIN, current_pin: '918273' }],
  ['pin/disable', { password: PASSWORD }],
] as const;

describe('more than ten minutes after the sign-in', () => {
  test.each(changes)('%s is 403 reauthentication_required', async (path, body) => {
    await wait(601);
    const answer = await post(`/api/auth/${path}`, body);
    expect([answer.status, answer.body.error]).toEqual([403, 'reauthentication_required']);
    const { database } = identity.context;
    const where = { userId: user.id };
    expect(await database.twoFactor.count({ where })).toBe(0);
    expect(await database.pin.count({ where })).toBe(0);
  });

  test.each(changes)('%s is available again once the password is confirmed', async (path, body) => {
    await wait(601);
    await reauthenticate(PASSWORD).expect(200);
    expect((await post(`/api/auth/${path}`, body)).body.error).not.toBe(
      'reauthentication_required',
    );
  });

  test('a stolen token cannot remove a factor, even with the PIN', async () => {
    await identity.people.setPin(bearer, PIN.pin);
    await wait(601);
    await post('/api/auth/pin/verify', { pin: PIN.pin }).expect(200);
    const answer = await post('/api/auth/pin/disable', { password: PASSWORD });
    expect([answer.status, answer.body.error]).toEqual([403, 'reauthentication_required']);
  });

  test('the second factor is accepted instead of the password', async () => {
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    await wait(601);
    await post('/api/auth/pin/set', PIN).expect(403);
    const code = await authenticator.code();
    await post('/api/auth/2fa/verify', { code }).expect(200);
    await post('/api/auth/pin/set', PIN).expect(200);
  });

  test('renewing the token does not count as an authentication', async () => {
    await wait(601);
    const { body } = await post('/api/auth/refresh').expect(200);
    await post('/api/auth/2fa/enable', {}, bearerOf(body.data.token)).expect(403);
  });
});

describe('POST /api/auth/reauthenticate', () => {
  test('applies only to this session', async () => {
    const other = await identity.people.signIn(user);
    await wait(601);
    await reauthenticate(PASSWORD).expect(200);
    await post('/api/auth/2fa/enable', {}, other).expect(403);
    await post('/api/auth/2fa/enable').expect(200);
  });

  test('is recorded in the activity log, and so is a wrong password', async () => {
    const wrong = await reauthenticate('Wrong-horse-8-battery').expect(422);
    expect(wrong.body.errors).toEqual({ password: ['the password is wrong'] });
    await reauthenticate(PASSWORD).expect(200);
    const actions = (await activityOf(identity, user)).map(({ action }) => action);
    expect(actions).toEqual(['login', 'reauthentication_failed', 'reauthenticated']);
  });

  test.each([[{}], [{ password: 7 }], [{ password: PASSWORD, more: 1 }]])(
    'refuses %j with 422',
    async (body) => {
      await post('/api/auth/reauthenticate', body).expect(422);
    },
  );

  test('after five wrong passwords is 429, also with the right one', async () => {
    const limited = await startIdentity({ RATE_LIMIT_LOGIN_FAILURES: '5' });
    const person = await limited.people.user({ tenant: await limited.people.tenant() });
    const as = await limited.people.signIn(person);
    const ask = (password: string) =>
      limited.http.post('/api/auth/reauthenticate').set(as).send({ password });
    for (let i = 0; i < 5; i++) await ask(`Wrong-horse-${i}-battery`).expect(422);
    const refused = await ask(PASSWORD).expect(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await limited.stop();
  });

  test('is only for users: service accounts and clients have no password', async () => {
    const tenant = await identity.people.tenant();
    const owner = await identity.people.caller(tenant, '*');
    const path = `/api/tenants/${tenant.id}/service-accounts`;
    const account = await post(path, { name: 'Robot', role: 'viewer' }, owner).expect(201);
    const { id } = account.body.data;
    const issued = await post(`${path}/${id}/api-keys`, { name: 'Key' }, owner).expect(201);
    await reauthenticate(PASSWORD, bearerOf(issued.body.data.key)).expect(403);
  });
});

test('determines auth_time for apps, from which max_age counts', async () => {
  const flow = new CodeFlow(identity);
  const client = await flow.client();
  const { body, headers } = await identity.http
    .post('/api/auth/login')
    .send({ email: user.email, password: PASSWORD });
  const cookie = `__Host-session=${cookieValueOf({ headers }, '__Host-session')}`;
  await wait(3600);
  const authTime = async () => {
    const tokens = await flow.tokens(client, cookie, { scope: 'openid', max_age: '7200' });
    return claimsOf(tokens.id_token ?? '').auth_time;
  };
  const now = Date.now() / 1000;
  expect(Math.abs((await authTime()) - (now - 3600))).toBeLessThan(60);
  await reauthenticate(PASSWORD, bearerOf(body.data.token)).expect(200);
  expect(Math.abs((await authTime()) - now)).toBeLessThan(60);
});
