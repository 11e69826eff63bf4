import { createVault, encryptionKeys, reseal } from '@tessera/vault';
import bcrypt from 'bcrypt';
import { twoFactorPurpose } from '../features/two-factor/two-factor.service.ts';
import { encryptionKey } from '../testing/admin.ts';
import { Authenticator } from '../testing/authenticator.ts';
import { commandIn } from '../testing/commands.ts';
import { identityDatabase, startIdentity } from '../testing/identity.ts';
import { stepsOf } from '../testing/sign-in.ts';
import { sealedColumns } from './sealed-columns.ts';

const [older, newer] = [encryptionKey('2025', 1), encryptionKey('2026', 2)];

const admin = (databaseUrl: string, keys: string) =>
  commandIn({ DATABASE_URL: databaseUrl, KEY_ENCRYPTION_KEYS: keys }, ['reseal', '--json']);

test('identity-admin reseal makes an old key unnecessary for all stored values', async () => {
  const url = await identityDatabase();
  const before = await startIdentity({ DATABASE_URL: url, KEY_ENCRYPTION_KEYS: older });
  const user = await before.people.user({ tenant: await before.people.tenant() });
  const bearer = await before.people.signIn(user);
  const { secret, recoveryCodes } = await before.people.enableTwoFactor(user, bearer);
  const sealed = await before.people.user();
  await before.people.setPin(await before.people.signIn(sealed), '192837');
  // As the previous release stores it.
  const unsealed = await before.people.user();
  const hash = await bcrypt.hash('192837', 4);
  await before.context.database.pin.create({ data: { userId: unsealed.id, hash } });
  await before.http.post('/api/auth/password/forgot').send({ email: user.email });
  await before.stop();

  const { code, out } = await admin(url, `${newer},${older}`);
  const resealed = JSON.parse(out);
  expect({ code, resealed }).toEqual({
    code: 0,
    resealed: { signing_keys: 1, two_factors: 1, pins: 2, outbox_mails: expect.any(Number) },
  });
  // The mail of the password reset, and any other mail.
  expect(resealed.outbox_mails).toBeGreaterThan(0);
  expect(JSON.parse((await admin(url, `${newer},${older}`)).out)).toEqual({
    signing_keys: 0,
    two_factors: 0,
    pins: 0,
    outbox_mails: 0,
  });

  const after = await startIdentity({ DATABASE_URL: url, KEY_ENCRYPTION_KEYS: newer });
  try {
    expect((await after.http.get('/api/me').set(bearer)).status).toBe(200);
    expect((await after.people.signIn(await after.people.user())).authorization).toBeDefined();
    const known = { secret, recoveryCodes };
    const authenticator = new Authenticator(after.context.database, user.id, known);
    const verified = await after.http
      .post('/api/auth/2fa/verify')
      .set(bearer)
      .send({ code: await authenticator.code() });
    expect([verified.status, verified.body.data]).toEqual([200, { verified: true }]);
    for (const { id } of [sealed, unsealed]) {
      const row = await after.context.database.pin.findUniqueOrThrow({ where: { userId: id } });
      expect(row.hash).toBe('');
    }
    const { login, bearerOf, verifyPin } = stepsOf(after);
    for (const person of [sealed, unsealed]) {
      const locked = bearerOf(await login(person));
      expect((await verifyPin(locked, '918273')).status).toBe(422);
      expect((await verifyPin(locked, '192837')).status).toBe(200);
    }
    const [mail] = await after.context.mail.claim(1, 1, {});
    expect(mail && after.context.mail.open(mail)).toMatchObject({ to: user.email });
  } finally {
    await after.stop();
  }
});

test('it processes more rows than fit into one batch, and skips values that change concurrently', async () => {
  const identity = await startIdentity({ KEY_ENCRYPTION_KEYS: older });
  try {
    const { database, pool } = identity.context;
    const sealing = createVault(encryptionKeys([older]));
    const people = await Promise.all(Array.from({ length: 7 }, () => identity.people.user()));
    for (const { id } of people) {
      const sealedSecret = new Uint8Array(sealing.seal(Buffer.from(id), twoFactorPurpose(id)));
      await database.twoFactor.create({ data: { userId: id, sealedSecret } });
    }
    const both = createVault(encryptionKeys([newer, older]));
    expect(await reseal(pool, both, sealedColumns, 2)).toMatchObject({ two_factors: 7 });
    const renewed = createVault(encryptionKeys([newer]));
    for (const { userId, sealedSecret } of await database.twoFactor.findMany()) {
      expect(String(renewed.open(sealedSecret, twoFactorPurpose(userId)))).toBe(userId);
    }
  } finally {
    await identity.stop();
  }
});

test('it fails and names the missing key', async () => {
  const identity = await startIdentity({ KEY_ENCRYPTION_KEYS: older });
  const { url } = identity.context.config.database;
  await identity.stop();
  const { code, error } = await admin(url, newer);
  expect({ code, error }).toEqual({
    code: 1,
    error: expect.stringContaining('lacks the key \\"2025\\"'),
  });
});

test('it covers every sealed column', async () => {
  const identity = await startIdentity();
  try {
    const { rows } = await identity.context.pool.query(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_schema = 'identity' AND column_name LIKE 'sealed%'`,
    );
    const known = sealedColumns.map(({ table, column }) => ({ table, column }));
    expect(rows).toEqual(expect.arrayContaining(known));
    expect(known).toEqual(expect.arrayContaining(rows));
  } finally {
    await identity.stop();
  }
});
