import bcrypt from 'bcrypt';
import type { User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { stepsOf } from '../../testing/sign-in.ts';
import { claimsOf } from '../../testing/tokens.ts';

const PIN = '192837';

let identity: TestIdentity;
let steps: ReturnType<typeof stepsOf>;
beforeAll(async () => {
  identity = await startIdentity();
  steps = stepsOf(identity);
});
afterAll(() => identity.stop());

const someone = async (): Promise<{ user: User; bearer: Bearer }> => {
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  return { user, bearer: await identity.people.signIn(user) };
};

const set = (bearer: Bearer, pin: unknown, confirmation: unknown = pin) =>
  identity.http.post('/api/auth/pin/set').set(bearer).send({ pin, pin_confirmation: confirmation });

const disable = (bearer: Bearer, password: string) =>
  identity.http.post('/api/auth/pin/disable').set(bearer).send({ password });

const isEnabled = async (bearer: Bearer): Promise<boolean> =>
  (await identity.http.get('/api/auth/pin/status').set(bearer)).body.data.enabled;

const statusOf = async (bearer: Bearer): Promise<unknown[]> => {
  const { status, body } = await identity.http.get('/api/me').set(bearer);
  return [status, body.error];
};

describe('PIN disabled: set', () => {
  test('enables the PIN if it is valid and confirmed', async () => {
    const { user, bearer } = await someone();
    expect(await isEnabled(bearer)).toBe(false);
    const { status, body } = await set(bearer, PIN);
    expect([status, body]).toEqual([200, { success: true, message: 'The PIN has been set.' }]);
    expect(await isEnabled(bearer)).toBe(true);
    const { database } = identity.context;
    const { hash, sealedHash } = await database.pin.findUniqueOrThrow({
      where: { userId: user.id },
    });
    const opened = identity.context.vault.open(sealedHash ?? Buffer.of(), `pin ${user.id}`);
    expect([hash, String(opened)]).toEqual(['', expect.stringMatching(/^\$2b\$/)]);
    const where = { userId: user.id, action: 'pin_set' };
    expect(await database.activityEntry.count({ where })).toBe(1);
  });

  test('does not lock the current session', async () => {
    const { bearer } = await someone();
    await set(bearer, PIN);
    expect(await statusOf(bearer)).toEqual([200, undefined]);
  });

  test.each([
    ['a run that ascends', '123456'],
    ['a run that ascends from 0', '012345'],
    ['a run that ascends beyond 9', '567890'],
    ['a run that descends', '654321'],
    ['a run that descends beyond 0', '210987'],
    ['a single repeated digit', '777777'],
  ])('refuses %s: 422 on `pin`', async (_, pin) => {
    const { bearer } = await someone();
    const { status, body } = await set(bearer, pin);
    expect([status, Object.keys(body.errors)]).toEqual([422, ['pin']]);
    expect(await isEnabled(bearer)).toBe(false);
  });

  test.each([
    ['five digits', '19283'],
    ['seven digits', '1928374'],
    ['letters', '19283a'],
    ['digits of another script', '١٢٨٣٧٤'],
    ['an emoji', '🔒🔒🔒🔒🔒🔒'],
    ['NUL', '1928\u00007'],
    ['blanks', '192 37'],
    ['a line break', '192837\n'],
    ['a number', 192837],
    ['nothing', ''],
    ['null', null],
  ])('refuses %s: 422 on `pin`', async (_, pin) => {
    const { bearer } = await someone();
    const { status, body } = await set(bearer, pin, '192837');
    expect([status, Object.keys(body.errors)]).toEqual([422, ['pin']]);
    expect(await isEnabled(bearer)).toBe(false);
  });

  test.each(['111112', '123457', '135791', '121212', '908172'])('takes %s', async (pin) => {
    expect((await set((await someone()).bearer, pin)).status).toBe(200);
  });

  test('rejects a different confirmation: 422 on `pin_confirmation`', async () => {
    const { bearer } = await someone();
    const { status, body } = await set(bearer, PIN, '192838');
    expect([status, Object.keys(body.errors)]).toEqual([422, ['pin_confirmation']]);
    const both = await set(bearer, '111111', PIN);
    expect(Object.keys(both.body.errors)).toEqual(['pin', 'pin_confirmation']);
  });

  test('is 409 if a PIN is already set, also concurrently', async () => {
    const { bearer } = await someone();
    const answers = await Promise.all([1, 2, 3].map(() => set(bearer, PIN)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await set(bearer, PIN)).body.error).toBe('conflict');
  });

  test('refuses a megabyte', async () => {
    const { bearer } = await someone();
    expect((await set(bearer, '1'.repeat(1_000_000))).status).toBe(413);
  });
});

describe('PIN enabled: change', () => {
  const NEXT = '564738';
  const change = (bearer: Bearer, current: unknown, pin: unknown, confirmation: unknown = pin) =>
    identity.http
      .post('/api/auth/pin/change')
      .set(bearer)
      .send({ current_pin: current, pin, pin_confirmation: confirmation });
  let user: User;
  let bearer: Bearer;
  beforeEach(async () => {
    ({ user, bearer } = await someone());
    await identity.people.setPin(bearer, PIN);
  });

  test('replaces the current PIN, and is recorded', async () => {
    const { status, body } = await change(bearer, PIN, NEXT);
    expect([status, body]).toEqual([200, { success: true, message: 'The PIN has been changed.' }]);
    const locked = steps.bearerOf(await steps.login(user));
    expect((await steps.verifyPin(locked, PIN)).status).toBe(422);
    expect((await steps.verifyPin(locked, NEXT)).status).toBe(200);
    const where = { userId: user.id, action: 'pin_changed' };
    expect(await identity.context.database.activityEntry.count({ where })).toBe(1);
  });

  test('rejects a wrong current PIN, which counts as an attempt: 422 on `current_pin`, then 429', async () => {
    for (let i = 0; i < 5; i++) {
      const { status, body } = await change(bearer, '918273', NEXT);
      expect([status, Object.keys(body.errors)]).toEqual([422, ['current_pin']]);
    }
    const refused = await change(bearer, PIN, NEXT);
    expect([refused.status, refused.body.message]).toEqual([
      429,
      'Too many wrong PINs. Try again later.',
    ]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  test.each([
    ['the same PIN', PIN, PIN, ['pin']],
    ['a run', '123456', '123456', ['pin']],
    ['another confirmation', NEXT, '564739', ['pin_confirmation']],
  ])('refuses %s, and counts no guess', async (_, pin, confirmation, named) => {
    const { status, body } = await change(bearer, PIN, pin, confirmation);
    expect([status, Object.keys(body.errors)]).toEqual([422, named]);
    const where = { userId: user.id };
    const { failures } = await identity.context.database.pin.findUniqueOrThrow({ where });
    expect(failures).toBe(0);
  });

  test('is 409 without a PIN, and for all but one concurrent request', async () => {
    const answers = await Promise.all([NEXT, '675849'].map((pin) => change(bearer, PIN, pin)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await disable(bearer, PASSWORD).expect(200);
    expect((await change(bearer, PIN, NEXT)).status).toBe(409);
  });
});

describe('The hash of a PIN', () => {
  const rowOf = ({ id: userId }: User) =>
    identity.context.database.pin.findUniqueOrThrow({ where: { userId } });
  const withoutSeal = async (user: User): Promise<void> => {
    const hash = await bcrypt.hash(PIN, 4);
    await identity.context.database.pin.create({ data: { userId: user.id, hash } });
  };

  test('is nowhere in the row, neither after setting nor after changing the PIN', async () => {
    const { user, bearer } = await someone();
    const isReadable = async () => {
      const { pool } = identity.context;
      const { rows } = await pool.query(
        `SELECT to_jsonb(p)::text || encode(sealed_hash, 'escape') AS text
         FROM identity.pins p WHERE user_id = $1`,
        [user.id],
      );
      return rows[0].text.includes('$2');
    };
    await set(bearer, PIN).expect(200);
    expect(await isReadable()).toBe(false);
    const body = { current_pin: PIN, pin: '564738', pin_confirmation: '564738' };
    await identity.http.post('/api/auth/pin/change').set(bearer).send(body).expect(200);
    expect(await isReadable()).toBe(false);
  });

  test('works unsealed, as the previous release stores it, and stays so for replicas of that release', async () => {
    const { user } = await someone();
    await withoutSeal(user);
    const locked = steps.bearerOf(await steps.login(user));
    expect((await steps.verifyPin(locked, '918273')).status).toBe(422);
    const before = await rowOf(user);
    expect((await steps.verifyPin(locked, PIN)).status).toBe(200);
    const { hash, sealedHash } = await rowOf(user);
    expect({ hash, sealedHash }).toEqual({ hash: before.hash, sealedHash: null });
    const again = steps.bearerOf(await steps.login(user));
    expect((await steps.verifyPin(again, PIN)).status).toBe(200);
  });

  test('is sealed when a PIN that is not sealed yet is changed', async () => {
    const { user, bearer } = await someone();
    await withoutSeal(user);
    const body = { current_pin: PIN, pin: '564738', pin_confirmation: '564738' };
    await identity.http.post('/api/auth/pin/change').set(bearer).send(body).expect(200);
    expect(await rowOf(user)).toMatchObject({ hash: '', sealedHash: expect.any(Uint8Array) });
    const locked = steps.bearerOf(await steps.login(user));
    expect((await steps.verifyPin(locked, '564738')).status).toBe(200);
  });

  test('does not verify in the row of another user', async () => {
    const [owner, other] = [await someone(), await someone()];
    await set(owner.bearer, PIN).expect(200);
    await set(other.bearer, '564738').expect(200);
    const { sealedHash } = await rowOf(owner.user);
    const where = { userId: other.user.id };
    await identity.context.database.pin.update({ where, data: { sealedHash } });
    const locked = steps.bearerOf(await steps.login(other.user));
    expect((await steps.verifyPin(locked, PIN)).status).toBe(500);
  });
});

describe('a login with a PIN', () => {
  let user: User;
  let locked: Bearer;
  beforeEach(async () => {
    const person = await someone();
    user = person.user;
    await identity.people.setPin(person.bearer, PIN);
    const { body } = await steps.login(user);
    expect(body.data).toMatchObject({ requires_2fa: false, requires_pin: true });
    locked = { authorization: `Bearer ${body.data.token}` };
  });

  test('locks its session: only unlocking and signing out are available', async () => {
    for (const [method, path] of [
      ['get', '/api/me'],
      ['get', '/api/user'],
      ['get', '/api/policies'],
      ['get', '/api/devices'],
      ['post', '/api/auth/2fa/enable'],
      ['post', '/api/auth/2fa/verify'],
      ['post', '/api/auth/pin/set'],
      ['post', '/api/auth/pin/disable'],
      ['put', '/api/profile'],
    ] as const) {
      const { status, body } = await identity.http[method](path).set(locked);
      expect([path, status, body.error]).toEqual([path, 403, 'pin_required']);
    }
    expect(await isEnabled(locked)).toBe(true);
    expect((await identity.http.get('/api/me/security').set(locked)).status).toBe(200);
    expect((await identity.http.post('/api/auth/logout').set(locked)).status).toBe(200);
  });

  test('is unlocked by the PIN with all tokens of the session, and no other session', async () => {
    const { sid } = claimsOf(locked.authorization.slice('Bearer '.length));
    const other = steps.bearerOf(await steps.login(user));
    const wrong = await steps.verifyPin(locked, '918273');
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['pin']]);
    expect(await statusOf(locked)).toEqual([403, 'pin_required']);
    const { status, body } = await steps.verifyPin(locked, PIN);
    expect([status, body]).toEqual([200, { success: true, data: { verified: true } }]);
    expect(await statusOf(locked)).toEqual([200, undefined]);
    expect(await statusOf(other)).toEqual([403, 'pin_required']);
    const { database } = identity.context;
    const session = await database.session.findUniqueOrThrow({ where: { id: sid } });
    expect(session).toMatchObject({ pinPending: false, amr: ['pwd', 'pin'] });
  });

  test('ends when the PIN is disabled elsewhere', async () => {
    const open = steps.bearerOf(await steps.login(user));
    await steps.verifyPin(open, PIN);
    expect((await disable(open, PASSWORD)).status).toBe(200);
    expect(await statusOf(locked)).toEqual([401, 'unauthenticated']);
    expect(await statusOf(open)).toEqual([200, undefined]);
    const { sid } = claimsOf(locked.authorization.slice('Bearer '.length));
    const events = await identity.context.database.outboxEvent.findMany({
      where: { payload: { path: ['data', 'session_id'], equals: sid ?? '' } },
    });
    expect(events.map(({ topic }) => topic)).toEqual(['identity.token.revoked']);
    expect((await steps.login(user)).body.data.requires_pin).toBe(false);
  });
});

describe('PIN enabled', () => {
  test('verify in an unlocked session succeeds and changes nothing', async () => {
    const { bearer } = await someone();
    await identity.people.setPin(bearer, PIN);
    expect((await steps.verifyPin(bearer, PIN)).body.data).toEqual({ verified: true });
    expect(await statusOf(bearer)).toEqual([200, undefined]);
  });

  test('verify rejects invalid PINs without counting them', async () => {
    const { bearer } = await someone();
    await identity.people.setPin(bearer, PIN);
    for (const pin of ['', '12345', '🔒', '1928\u00007', 192837, null, ['192837']]) {
      const { status, body } = await steps.verifyPin(bearer, pin);
      expect([status, Object.keys(body.errors)]).toEqual([422, ['pin']]);
    }
    expect((await steps.verifyPin(bearer, '1'.repeat(1_000_000))).status).toBe(413);
    expect((await steps.verifyPin(bearer, PIN)).status).toBe(200);
  });

  test('disable accepts only the current password', async () => {
    const { user, bearer } = await someone();
    await identity.people.setPin(bearer, PIN);
    const wrong = await disable(bearer, PIN);
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['password']]);
    expect(await isEnabled(bearer)).toBe(true);
    expect((await disable(bearer, PASSWORD)).status).toBe(200);
    expect(await isEnabled(bearer)).toBe(false);
    const where = { userId: user.id, action: 'pin_disabled' };
    expect(await identity.context.database.activityEntry.count({ where })).toBe(1);
  });

  test('without a PIN, verify and disable are 409', async () => {
    const { bearer } = await someone();
    expect((await steps.verifyPin(bearer, PIN)).status).toBe(409);
    expect((await disable(bearer, PASSWORD)).status).toBe(409);
  });
});
