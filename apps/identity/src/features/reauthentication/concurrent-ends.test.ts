import type { Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { answerAfter } from '../../testing/locks.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';

const PIN = '192837';
const NEXT = '564738';

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
  identity.http.post(`/api/auth/${path}`).set(as).send(body);

/** The answer if something else happens while the request waits for the lock of the user. */
const answerIf = (
  change: (tx: Transaction) => PromiseLike<unknown>,
  ...request: Parameters<typeof post>
) => answerAfter(identity.context.database, user.id, () => post(...request), change);

const endSessions = (tx: Transaction) =>
  tx.session.updateMany({ where: { userId: user.id }, data: { endedAt: new Date() } });
const changePassword = (tx: Transaction) =>
  tx.user.update({ where: { id: user.id }, data: { passwordHash: 'changed' } });

const factors = async () => {
  const { pin, twoFactor, recoveryCode } = identity.context.database;
  const where = { userId: user.id };
  return [
    await pin.findUnique({ where, select: { hash: true } }),
    await twoFactor.findUnique({ where, select: { sealedSecret: true, confirmedAt: true } }),
    await recoveryCode.findMany({ where, orderBy: { codeHash: 'asc' } }),
  ];
};

describe('a change of a factor whose session ends meanwhile is 401 and changes nothing', () => {
  test.each(['2fa/enable', '2fa/confirm', 'pin/set'])('%s', async (path) => {
    await post('2fa/enable').expect(200);
    const { database } = identity.context;
    const before = await factors();
    const body = {
      '2fa/enable': {},
      '2fa/confirm': { code: '123456' },
      'pin/set': { pin: PIN, pin_confirmation: PIN },
    }[path];
    const { status } = await answerIf(endSessions, path, body);
    expect([status, await factors()]).toEqual([401, before]);
    expect(await database.pin.count({ where: { userId: user.id } })).toBe(0);
  });

  test.each([
    ['2fa/disable', { password: PASSWORD }],
    ['2fa/recovery-codes', { password: PASSWORD }],
    ['pin/change', { current_pin: PIN, pin: NEXT, pin_confirmation: NEXT }],
    ['pin/disable', { password: PASSWORD }],
  ])('%s', async (path, body) => {
    await identity.people.enableTwoFactor(user, bearer);
    await identity.people.setPin(bearer, PIN);
    const before = await factors();
    const { status } = await answerIf(endSessions, path, body);
    expect([status, await factors()]).toEqual([401, before]);
  });

  test('and so is one whose token is revoked meanwhile', async () => {
    const revoke = (tx: Transaction) =>
      tx.token.updateMany({ where: { userId: user.id }, data: { revokedAt: new Date() } });
    const given = { pin: PIN, pin_confirmation: PIN };
    expect((await answerIf(revoke, 'pin/set', given)).status).toBe(401);
    expect((await factors())[0]).toBeNull();
  });
});

test.each(['2fa/disable', '2fa/recovery-codes', 'pin/disable'])(
  'with a password that changes meanwhile, %s is 409 and changes nothing',
  async (path) => {
    await identity.people.enableTwoFactor(user, bearer);
    await identity.people.setPin(bearer, PIN);
    const before = await factors();
    const { status, body } = await answerIf(changePassword, path, { password: PASSWORD });
    expect([status, body.error, await factors()]).toEqual([409, 'conflict', before]);
  },
);

test('a PIN that is replaced while it is verified unlocks nothing: 409', async () => {
  await identity.people.setPin(bearer, PIN);
  const locked = stepsOf(identity).bearerOf(await stepsOf(identity).login(user));
  const replace = (tx: Transaction) =>
    tx.pin.update({ where: { userId: user.id }, data: { hash: 'changed' } });
  const { status, body } = await answerIf(replace, 'pin/verify', { pin: PIN }, locked);
  expect([status, body.error]).toEqual([409, 'conflict']);
  const refused = await identity.http.get('/api/me').set(locked);
  expect([refused.status, refused.body.error]).toEqual([403, 'pin_required']);
});
