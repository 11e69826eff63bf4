import { until } from '@tessera/local-stack';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { collide } from '../../testing/locks.ts';
import { PASSWORD } from '../../testing/population.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant });
});
afterAll(() => identity.stop());

const login = (body: object) => identity.http.post('/api/auth/login').send(body);

const failures = ({ id: userId }: User): Promise<number> =>
  identity.context.database.activityEntry.count({ where: { userId, action: 'login_failed' } });

describe('a sign-in fails', () => {
  const refusal = {
    success: false,
    error: 'invalid_credentials',
    message: 'The email address or the password is wrong.',
  };

  test('with the same message for every reason, without a cookie', async () => {
    const inactive = await identity.people.user({ data: { isActive: false } });
    const account = await identity.people.user({ data: { isServiceAccount: true } });
    for (const attempt of [
      { email: user.email, password: 'wrong' },
      { email: user.email, password: `${PASSWORD} ` },
      { email: 'nobody@example.test', password: PASSWORD },
      { email: inactive.email, password: PASSWORD },
      { email: account.email, password: PASSWORD },
    ]) {
      const { status, body, headers } = await login(attempt);
      expect([status, body, headers['set-cookie']]).toEqual([401, refusal, undefined]);
    }
  });

  test('if only the first 72 bytes of a password match', async () => {
    const password = 'ä'.repeat(36);
    const someone = await identity.people.user({ password });
    expect((await login({ email: someone.email, password })).status).toBe(200);
    expect((await login({ email: someone.email, password: `${password}x` })).body).toEqual(refusal);
  });

  test('and is recorded for an existing account', async () => {
    const someone = await identity.people.user({ tenant });
    await login({ email: someone.email, password: 'wrong' });
    await until(async () => (await failures(someone)) === 1);
  });

  test('if the input is invalid, naming each field', async () => {
    const { status, body } = await login({ email: 'nobody', password: 7, surprise: true });
    expect(status).toBe(422);
    expect(Object.keys(body.errors).sort()).toEqual(['email', 'password', 'surprise']);
  });

  test('if the account changes while its password is verified', async () => {
    const someone = await identity.people.user();
    const { database } = identity.context;
    const attempt = () => login({ email: someone.email, password: PASSWORD });
    const { body } = await collide(database, attempt, {
      hold: (tx) =>
        tx.user.update({ where: { id: someone.id }, data: { passwordHash: 'changed' } }),
      change: async () => undefined,
    });
    expect(body).toEqual(refusal);
    expect(await database.session.count({ where: { userId: someone.id } })).toBe(0);
  });
});
