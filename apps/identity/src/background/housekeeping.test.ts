import { randomBytes } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { advisoryLocks } from '../database.ts';
import type { User } from '../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { type Housekeeping, startHousekeeping } from './housekeeping.ts';

/** An example key (RFC 7517 appendix A.1). */
const EXAMPLE = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
/** In seconds. */
const retention = { activityRetention: 400 * 86_400, slugReservation: 90 * 86_400 };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let identity: TestIdentity;
let user: User;
let housekeeping: Housekeeping;
beforeEach(async () => {
  identity = await startIdentity();
  user = await identity.people.user();
  const { pool } = identity.context;
  const logger = createLogger('test', 'silent');
  housekeeping = startHousekeeping({ pool, logger, retention, batch: 3 });
});
afterEach(async () => {
  await housekeeping.stop();
  await identity.stop();
});

const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);
const digest = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(32));
const database = () => identity.context.database;

const artifact = (expiresAt: Date, model = 'ClientCredentials', payload = {}) =>
  database().oAuthArtifact.create({ data: { model, idHash: digest(), payload, expiresAt } });
const session = (expiresAt: Date) =>
  database().session.create({ data: { userId: user.id, secretHash: digest(), expiresAt } });
const token = async (expiresAt: Date, sessionId: string | null): Promise<void> => {
  const [id, clientId, use] = [uuidv7(), 'first-party', sessionId ? 'login' : 'api_key'];
  await identity.context.pool.query(
    `INSERT INTO identity.tokens (id, user_id, client_id, use, session_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, user.id, clientId, use, sessionId, expiresAt],
  );
};
const device = (lastUsedAt: Date, trustedUntil: Date | null = null) => {
  const description = { name: 'curl', type: 'unknown', browser: 'curl', os: 'unknown' };
  return database().device.create({
    data: { ...description, userId: user.id, secretHash: digest(), lastUsedAt, trustedUntil },
  });
};
const oneTimeToken = (expiresAt: Date) =>
  database().oneTimeToken.create({
    data: {
      tokenHash: digest(),
      purpose: 'password_reset',
      userId: user.id,
      expiresAt,
      email: user.email ?? '',
    },
  });
const mail = (expiresAt: Date) =>
  database().outboxMail.create({ data: { sealedMessage: digest(), expiresAt } });
const signingKey = (removedAt: Date) =>
  database().signingKey.create({
    data: {
      kid: uuidv7(),
      publicJwk: EXAMPLE,
      sealedPrivate: digest(),
      signsFrom: ago(400 * DAY),
      removedAt,
    },
  });
const event = (publishedAt: Date | null) =>
  database().outboxEvent.create({ data: { topic: 't', key: 'k', payload: {}, publishedAt } });

const activity = (createdAt: Date) =>
  database().activityEntry.create({ data: { userId: user.id, action: 'login', createdAt } });
const reservedSlug = (deletedAt: Date) =>
  database().reservedSlug.create({ data: { slug: uuidv7(), tenantId: uuidv7(), deletedAt } });

const times = async (count: number, make: () => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < count; i += 1) await make();
};

describe('housekeeping', () => {
  test('deletes expired rows in batches, and nothing else', async () => {
    await times(7, () => artifact(ago(2 * HOUR)));
    await artifact(ago(HOUR / 2));
    await artifact(ago(-HOUR));
    await times(4, () => event(ago(8 * DAY)));
    await event(ago(6 * DAY));
    await event(null);
    await times(4, () => token(ago(31 * DAY), null));
    await token(ago(29 * DAY), null);

    await times(3, () => device(ago(181 * DAY)));
    await device(ago(179 * DAY));
    await device(ago(181 * DAY), ago(-HOUR));
    await times(4, () => oneTimeToken(ago(2 * DAY)));
    await oneTimeToken(ago(HOUR));
    await times(4, () => mail(ago(HOUR)));
    await mail(ago(-HOUR));
    await times(4, () => signingKey(ago(2 * DAY)));
    await signingKey(ago(-DAY));
    await database().activityEntry.deleteMany();
    await times(4, () => activity(ago(401 * DAY)));
    await activity(ago(399 * DAY));
    await times(4, () => reservedSlug(ago(91 * DAY)));
    await reservedSlug(ago(89 * DAY));

    expect(await housekeeping.sweep()).toEqual({
      oauth_artifacts: 7,
      tokens: 4,
      sessions: 0,
      devices: 3,
      outbox: 4,
      one_time_tokens: 4,
      outbox_mails: 4,
      signing_keys: 4,
      activity_entries: 4,
      reserved_slugs: 4,
      users: 0,
    });
    expect(await database().oAuthArtifact.count()).toBe(2);
    expect(await database().outboxEvent.count()).toBe(2);
    expect(await database().token.count()).toBe(1);
    expect(await database().device.count()).toBe(2);
    expect(await database().oneTimeToken.count()).toBe(1);
    expect(await database().outboxMail.count()).toBe(1);
    // And the current signing key.
    expect(await database().signingKey.count()).toBe(2);
    expect(await database().activityEntry.count()).toBe(1);
    expect(await database().reservedSlug.count()).toBe(1);
    expect(Object.values(await housekeeping.sweep()).every((gone) => gone === 0)).toBe(true);
  });

  test('keeps a used refresh token until it expires, so that its reuse is detected', async () => {
    const consumed = { consumed: +ago(20 * DAY) / 1000 };
    await artifact(ago(-10 * DAY), 'RefreshToken', consumed);
    await artifact(ago(2 * HOUR), 'RefreshToken', consumed);
    expect(await housekeeping.sweep()).toMatchObject({ oauth_artifacts: 1 });
    expect(await database().oAuthArtifact.count()).toBe(1);
  });

  test('keeps the tokens of a session as long as the session, even if they have expired', async () => {
    const alive = await session(ago(-DAY));
    const over = await session(ago(2 * DAY));
    await times(5, () => token(ago(29 * DAY), alive.id));
    await times(5, () => token(ago(3 * DAY), over.id));
    expect(await housekeeping.sweep()).toMatchObject({ tokens: 5, sessions: 1 });
    expect(await database().token.count({ where: { sessionId: alive.id } })).toBe(5);
  });

  test('deletes an ended session a day later, with its tokens', async () => {
    const [ended, justNow] = [await session(ago(-DAY)), await session(ago(-DAY))];
    for (const { id } of [ended, justNow]) await times(4, () => token(ago(HOUR), id));
    const endedAt = ago(2 * DAY);
    await database().session.update({ where: { id: ended.id }, data: { endedAt } });
    await database().session.update({ where: { id: justNow.id }, data: { endedAt: new Date() } });
    expect(await housekeeping.sweep()).toMatchObject({ tokens: 4, sessions: 1 });
    expect(await database().token.count({ where: { sessionId: justNow.id } })).toBe(4);
  });

  test('waits neither for locked rows nor for another replica', async () => {
    await times(2, () => session(ago(2 * DAY)));
    const [held] = await database().session.findMany();
    const other = new pg.Client({ connectionString: identity.context.config.database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM identity.sessions WHERE id = $1 FOR UPDATE', [held?.id]);
      expect(await housekeeping.sweep()).toMatchObject({ sessions: 1 });
      await other.query('COMMIT');

      await other.query('SELECT pg_advisory_lock($1, 0)', [advisoryLocks.housekeeping]);
      expect(await housekeeping.sweep()).toMatchObject({ sessions: 0 });
    } finally {
      await other.end();
    }
    await until(async () => (await housekeeping.sweep()).sessions === 1);
  });

  test('runs periodically, also after a failure', async () => {
    const { pool } = identity.context;
    await artifact(ago(2 * HOUR));
    let failures = 1;
    const failing = {
      async query(...given: [string, unknown[]]) {
        failures -= 1;
        if (failures === 0) throw new Error('the database is unavailable');
        return pool.query(...given);
      },
    };
    const rounds = startHousekeeping({
      retention,
      pool: failing as typeof pool,
      logger: createLogger('test', 'silent'),
      everyMs: 10,
    });
    await until(async () => (await database().oAuthArtifact.count()) === 0);
    await rounds.stop();
    expect(failures).toBeLessThan(0);
  });
});
