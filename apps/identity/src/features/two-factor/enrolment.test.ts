import type { User } from '../../generated/prisma/client.ts';
import { Authenticator } from '../../testing/authenticator.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Bearer, PASSWORD } from '../../testing/population.ts';
import { issue } from '../../testing/tokens.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

const post = (step: string, bearer: Bearer, body?: object) =>
  identity.http.post(`/api/auth/2fa/${step}`).set(bearer).send(body);

const requiresTwoFactor = async ({ email }: User): Promise<boolean> => {
  const { body } = await identity.http.post('/api/auth/login').send({ email, password: PASSWORD });
  return body.data.requires_2fa;
};

const someone = async (): Promise<{ user: User; bearer: Bearer }> => {
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  return { user, bearer: await identity.people.signIn(user) };
};

const begin = async ({ user, bearer }: { user: User; bearer: Bearer }) => {
  const { body } = await post('enable', bearer);
  return new Authenticator(identity.context.database, user.id, {
    secret: body.data.secret,
    recoveryCodes: body.data.recovery_codes,
  });
};

const activity = async ({ id: userId }: User): Promise<string[]> => {
  const entries = await identity.context.database.activityEntry.findMany({
    where: { userId, action: { not: 'login' } },
    orderBy: { id: 'asc' },
  });
  return entries.map(({ action }) => action);
};

describe('2FA disabled: enable', () => {
  test('starts the setup with a QR code, a secret and eight recovery codes', async () => {
    const { bearer } = await someone();
    const { status, body } = await post('enable', bearer);
    expect(status).toBe(200);
    const { qr_code, secret, recovery_codes } = body.data;
    const png = Buffer.from(/^data:image\/png;base64,(.+)$/.exec(qr_code)?.[1] ?? '', 'base64');
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(recovery_codes).size).toBe(8);
    for (const code of recovery_codes) expect(code).toMatch(/^[0-9a-f]{5}(-[0-9a-f]{5}){3}$/);
  });

  test('stores the secret encrypted and only digests of the recovery codes', async () => {
    const person = await someone();
    const { secret, recoveryCodes } = await begin(person);
    const { database } = identity.context;
    const where = { userId: person.user.id };
    const { sealedSecret } = await database.twoFactor.findUniqueOrThrow({ where });
    const codes = await database.recoveryCode.findMany({ where });
    const stored = Buffer.concat([sealedSecret, ...codes.map(({ codeHash }) => codeHash)]);
    for (const plain of [secret, ...recoveryCodes]) expect(stored.includes(plain)).toBe(false);
    expect(codes).toHaveLength(8);
  });

  test('has no effect until confirmed, and can be repeated', async () => {
    const person = await someone();
    const first = await begin(person);
    const second = await begin(person);
    expect(await requiresTwoFactor(person.user)).toBe(false);
    const verified = await post('verify', person.bearer, { code: await second.code() });
    expect([verified.status, verified.body.error]).toEqual([409, 'conflict']);
    const stale = await post('confirm', person.bearer, { code: await first.code() });
    expect([stale.status, Object.keys(stale.body.errors)]).toEqual([422, ['code']]);
    const { status } = await post('confirm', person.bearer, { code: await second.code() });
    expect([status, await requiresTwoFactor(person.user)]).toEqual([200, true]);
  });
});

describe('2FA setup started: confirm', () => {
  test('enables it with a valid code, with or without spaces, and records it', async () => {
    const person = await someone();
    const code = await (await begin(person)).code();
    const typed = ` ${code.slice(0, 3)} ${code.slice(3)} `;
    const { status, body } = await post('confirm', person.bearer, { code: typed });
    expect([status, body]).toEqual([
      200,
      { success: true, message: 'Two-factor authentication is enabled.' },
    ]);
    expect(await activity(person.user)).toEqual(['two_factor_enabled']);
  });

  test('rejects wrong codes and recovery codes: 422 on `code`', async () => {
    const person = await someone();
    const authenticator = await begin(person);
    for (const code of [authenticator.wrongCode(), authenticator.recoveryCodes[0], '12345']) {
      const { status, body } = await post('confirm', person.bearer, { code });
      expect([status, Object.keys(body.errors)]).toEqual([422, ['code']]);
    }
    expect(await requiresTwoFactor(person.user)).toBe(false);
  });

  test('is 409 without a setup or if already enabled, and so is `enable`', async () => {
    const person = await someone();
    const nothing = await post('confirm', person.bearer, { code: '123456' });
    expect([nothing.status, nothing.body.error]).toEqual([409, 'conflict']);
    const authenticator = await identity.people.enableTwoFactor(person.user, person.bearer);
    for (const answer of [
      await post('enable', person.bearer),
      await post('confirm', person.bearer, { code: await authenticator.code() }),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([409, 'conflict']);
    }
  });
});

describe('the state of the second factor', () => {
  const stateOf = async ({ bearer }: { readonly bearer: Bearer }) =>
    (await identity.http.get('/api/auth/2fa/status').set(bearer)).body.data;

  test('is disabled until the first code is confirmed, then shows since when and how many codes are left', async () => {
    const person = await someone();
    const off = { enabled: false, enabled_at: null, recovery_codes_left: 0 };
    expect(await stateOf(person)).toEqual(off);
    const authenticator = await begin(person);
    expect(await stateOf(person)).toEqual(off);
    await post('confirm', person.bearer, { code: await authenticator.code() });
    const on = await stateOf(person);
    expect(on).toEqual({
      enabled: true,
      enabled_at: expect.stringMatching(/^\d{4}-.*Z$/),
      recovery_codes_left: 8,
    });
    await post('verify', person.bearer, { code: authenticator.recoveryCodes[0] });
    expect(await stateOf(person)).toEqual({ ...on, recovery_codes_left: 7 });
  });
});

describe('2FA enabled: disable', () => {
  test('disables it with the current password, and deletes secret and codes', async () => {
    const person = await someone();
    await identity.people.enableTwoFactor(person.user, person.bearer);
    const wrong = await post('disable', person.bearer, { password: 'wrong' });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['password']]);
    expect(await requiresTwoFactor(person.user)).toBe(true);
    const { status } = await post('disable', person.bearer, { password: PASSWORD });
    expect([status, await requiresTwoFactor(person.user)]).toEqual([200, false]);
    const where = { userId: person.user.id };
    expect(await identity.context.database.recoveryCode.count({ where })).toBe(0);
    expect(await activity(person.user)).toEqual(['two_factor_enabled', 'two_factor_disabled']);
  });

  test('is 409 if it is not enabled or only being set up', async () => {
    const person = await someone();
    await begin(person);
    for (const step of ['disable', 'recovery-codes']) {
      const { status } = await post(step, person.bearer, { password: PASSWORD });
      expect(status).toBe(409);
    }
  });

  test('limits password attempts with a token', async () => {
    const strict = await startIdentity({ RATE_LIMIT_LOGIN_FAILURES: '3' });
    try {
      const user = await strict.people.user();
      const bearer = await strict.people.signIn(user);
      await strict.people.enableTwoFactor(user, bearer);
      const attempt = (password: string) =>
        strict.http.post('/api/auth/2fa/disable').set(bearer).send({ password });
      for (let i = 0; i < 3; i += 1) expect((await attempt('wrong')).status).toBe(422);
      const { status, headers } = await attempt(PASSWORD);
      expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
    } finally {
      await strict.stop();
    }
  });
});

describe('recovery codes', () => {
  test('are replaced with the current password; the old ones stop working', async () => {
    const person = await someone();
    const { recoveryCodes } = await identity.people.enableTwoFactor(person.user, person.bearer);
    const wrong = await post('recovery-codes', person.bearer, { password: 'wrong' });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['password']]);
    const { body } = await post('recovery-codes', person.bearer, { password: PASSWORD });
    expect(new Set(body.data.recovery_codes).size).toBe(8);
    expect((await post('verify', person.bearer, { code: recoveryCodes[0] })).status).toBe(422);
    const [fresh] = body.data.recovery_codes;
    expect((await post('verify', person.bearer, { code: fresh })).status).toBe(200);
    expect(await activity(person.user)).toEqual([
      'two_factor_enabled',
      'recovery_codes_replaced',
      'two_factor_failed',
      'recovery_code_used',
    ]);
  });
});

describe('only users themselves', () => {
  const steps = [
    ['2fa/enable', undefined],
    ['2fa/confirm', { code: '123456' }],
    ['2fa/verify', { code: '123456' }],
    ['2fa/disable', { password: PASSWORD }],
    ['2fa/recovery-codes', { password: PASSWORD }],
    ['pin/set', { pin: '192837', pin_confirmation: '192837' }],
    ['pin/verify', { pin: '192837' }],
    ['pin/disable', { password: PASSWORD }],
  ] as const;

  test.each(steps)('%s is refused to service accounts', async (path, body) => {
    const tenant = await identity.people.tenant();
    const { id: userId } = await identity.people.user({ tenant, data: { isServiceAccount: true } });
    const token = await issue(identity, { userId, tenantId: tenant.id, use: 'api_key' });
    const bearer = { authorization: `Bearer ${token}` };
    const answer = await identity.http.post(`/api/auth/${path}`).set(bearer).send(body);
    expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
  });
});
