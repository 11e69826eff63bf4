import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import type { Bearer } from '../../testing/population.ts';
import { EXEMPT_COLUMNS, EXEMPT_TABLES, EXPORTED_TABLES } from './personal-data.inventory.ts';

const PATH = '/api/me/data/export';

let mailbox: Mailbox;
let identity: TestIdentity;
let tenant: Tenant;
let user: User;
let bearer: Bearer;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({
    EXPORTS_PER_CALLER: '1',
    EXPORT_READS: '1',
    MAIL_DIRECTORY: mailbox.directory,
  });
});
afterAll(async () => {
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  tenant = await identity.people.tenant({ name: 'Analytical Engines' });
  user = await identity.people.user({ tenant, role: 'owner' });
  bearer = await identity.people.signIn(user);
});

const database = () => identity.context.database;
const exported = async (as: Bearer = bearer) => {
  const answer = await identity.http.post(PATH).set(as).expect(200);
  return answer.body.data;
};
const catalogue = async (query: string): Promise<string[]> => {
  const { rows } = await identity.context.pool.query<{ name: string }>(query);
  return rows.map(({ name }) => name).sort();
};

/** A user with data in every table. */
const fill = async (): Promise<void> => {
  await identity.people.enableTwoFactor(user, bearer);
  await identity.people.setPin(bearer, '192837');
  const { id: userId } = user;
  const random = () => new Uint8Array(randomBytes(32));
  const expiresAt = new Date(Date.now() + 86_400_000);
  await database().membershipPolicy.create({
    data: { tenantId: tenant.id, userId, action: 'identity.roles.list', effect: 'allow' },
  });
  await database().previousPassword.create({ data: { userId, hash: '$2b$secret' } });
  await database().registration.create({
    data: { userId, cookieHash: random(), tenantName: 'Later Ltd', expiresAt },
  });
  await database().accountDeletion.create({ data: { userId, dueAt: expiresAt } });
  const { clientId } = await database().oAuthClient.create({
    data: { clientId: `client-${userId}`, name: 'Calendar', redirectUris: [] },
  });
  await database().consent.create({ data: { userId, clientId, scopes: ['openid'] } });
  const link = { purpose: 'password_reset', email: user.email ?? '', userId, expiresAt };
  await database().oneTimeToken.create({ data: { ...link, tokenHash: random() } });
  const roleId = await identity.people.builtInRole('member');
  await database().oneTimeToken.create({
    data: {
      purpose: 'invitation',
      email: 'guest@example.test',
      tenantId: tenant.id,
      roleId,
      inviterId: userId,
      tokenHash: random(),
      expiresAt,
    },
  });
  await database().oneTimeToken.create({
    data: {
      purpose: 'invitation',
      email: user.email ?? '',
      tenantId: tenant.id,
      roleId,
      tokenHash: random(),
      expiresAt,
    },
  });
  await database().profilePicture.create({
    data: { userId, key: `key-${userId}`, small: random(), large: random() },
  });
  const other = await identity.people.user();
  await database().activityEntry.createMany({
    data: [
      { userId: other.id, impersonatorId: userId, action: 'profile_updated' },
      { userId: other.id, subjectId: userId, action: 'member_updated', reason: 'Secret words' },
    ],
  });
};

describe('the inventory of personal data', () => {
  test('lists every table that refers to a user, with reasons for exemptions', async () => {
    const referring = await catalogue(`
      SELECT DISTINCT c.table_name AS name FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'identity' AND t.table_type = 'BASE TABLE' AND (
        c.column_name ~ '(user|inviter|impersonator|subject|owner|account|person|author|creator)_id$'
        OR c.column_name ~ 'email|payload|sealed|phone|address'
        OR (c.table_name, c.column_name) IN (
          SELECT r.relname, a.attname FROM pg_constraint k
          JOIN pg_class r ON r.oid = k.conrelid
          JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = ANY (k.conkey)
          WHERE k.contype = 'f' AND k.confrelid = 'identity.users'::regclass))`);
    const known = [...Object.keys(EXPORTED_TABLES), ...Object.keys(EXEMPT_TABLES)];
    expect(referring.filter((name) => !known.includes(name) && name !== 'users')).toEqual([]);
    const tables = await catalogue(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'identity'`,
    );
    expect(known.filter((name) => !tables.includes(name))).toEqual([]);
    for (const reason of Object.values(EXEMPT_TABLES)) expect(reason).not.toBe('');
  });

  test('includes every listed table in the document', async () => {
    await fill();
    const data = await exported();
    for (const [table, sections] of Object.entries(EXPORTED_TABLES)) {
      for (const section of sections) {
        const held = section.split('.').reduce((at, name) => at?.[name], data);
        const isThere = Array.isArray(held) ? held.length > 0 : held !== null && held !== undefined;
        expect([table, section, isThere]).toEqual([table, section, true]);
      }
    }
  });

  test('includes every column of a user in the document, except the listed ones', async () => {
    const columns = await catalogue(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = 'identity' AND table_name = 'users'`,
    );
    const { profile } = await exported();
    const missing = columns.filter((name) => !(name in profile) && !(name in EXEMPT_COLUMNS));
    expect(missing).toEqual([]);
  });
});

describe('the document', () => {
  test('has a schema version and ISO 8601 times', async () => {
    const data = await exported();
    expect(data.schema_version).toBe(1);
    expect(data.exported_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(data.profile).toMatchObject({ id: user.id, email: user.email });
    expect(data.memberships).toEqual([
      {
        tenant: { id: tenant.id, slug: tenant.slug, name: 'Analytical Engines' },
        role: 'owner',
        policies: [],
        joined_at: expect.stringMatching(/Z$/),
      },
    ]);
  });

  test('contains no secrets, hashes or personal data of others', async () => {
    await fill();
    const text = JSON.stringify(await exported());
    expect(text).not.toMatch(/\$2b\$|hash|secret|sealed/i);
    expect(text).not.toContain('guest@example.test');
  });

  test('does not reveal who impersonated the user, why, or from where', async () => {
    const chief = await identity.people.user({ data: { isSystemAdmin: true } });
    await database().activityEntry.create({
      data: {
        userId: user.id,
        impersonatorId: chief.id,
        action: 'profile_updated',
        ipAddress: '192.0.2.9',
        userAgent: 'Admins',
        reason: 'Ticket 42',
      },
    });
    const data = await exported();
    expect(data.activity).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ by_administrator: true, ip_address: null, reason: null }),
      ]),
    );
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`${chief.id}|192\\.0\\.2\\.9|Ticket 42`));
  });

  test('contains the whole log, each entry once', async () => {
    const at = new Date();
    await database().activityEntry.createMany({
      data: Array.from({ length: 1700 }, (_, n) => ({
        userId: user.id,
        action: 'login',
        // Many at the same time.
        createdAt: new Date(+at + Math.floor(n / 700)),
      })),
    });
    const { activity } = await exported();
    const count = await database().activityEntry.count({ where: { userId: user.id } });
    expect(activity).toHaveLength(count);
    expect(new Set(activity.map(({ id }: { id: string }) => id)).size).toBe(count);
  });

  test('is streamed: a slow client holds no memory or database resources', async () => {
    const { id } = user;
    await identity.context.pool.query(
      `INSERT INTO identity.activity_entries (id, user_id, action, user_agent)
       SELECT gen_random_uuid(), $1, 'login', repeat('x', 500) FROM generate_series(1, 20000)`,
      [id],
    );
    const sent = rawRequest(`${identity.url}${PATH}`, { method: 'POST', headers: { ...bearer } });
    sent.end();
    const [answer] = await once(sent, 'response');
    answer.pause();
    const refused = await identity.http.post(PATH).set(bearer);
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    // Another user can read in the meantime.
    const other = await identity.people.user();
    await exported(await identity.people.signIn(other));
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    answer.resume();
    await once(answer, 'end');
    expect(bytes).toBeGreaterThan(20_000 * 500);
  });

  test('is recorded in the log and confirmed by mail', async () => {
    await exported();
    await mailbox.next('data_exported', user.email ?? '');
    const { activity } = await exported();
    expect(activity.map(({ action }: { action: string }) => action)).toContain('data_exported');
  });

  test('needs a recent authentication', async () => {
    const authenticatedAt = new Date(Date.now() - 3_600_000);
    await database().session.updateMany({ where: { userId: user.id }, data: { authenticatedAt } });
    const answer = await identity.http.post(PATH).set(bearer);
    expect([answer.status, answer.body.error]).toEqual([403, 'reauthentication_required']);
  });
});
