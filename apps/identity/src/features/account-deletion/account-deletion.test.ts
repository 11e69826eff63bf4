import { parseEvent } from '@tessera/contracts';
import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import pg from 'pg';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { answerAfter, collide, renewalOf } from '../../testing/locks.ts';
import { type Mailbox, openMailbox } from '../../testing/mailbox.ts';
import type { Bearer } from '../../testing/population.ts';
import { type AccountDeletions, startAccountDeletions } from './account-deletion.sweep.ts';
import { schedule } from './schedule.ts';

const PATH = '/api/me/deletion';
const DAY = 86_400_000;

let mailbox: Mailbox;
let identity: TestIdentity;
let deletions: AccountDeletions;
let tenant: Tenant;
let owner: User;
let user: User;
let bearer: Bearer;
beforeAll(async () => {
  mailbox = await openMailbox();
  identity = await startIdentity({ MAIL_DIRECTORY: mailbox.directory }, { sweepsAccounts: false });
  deletions = sweeping(identity);
});
afterAll(async () => {
  await deletions.stop();
  await identity.stop();
  await mailbox.remove();
});
beforeEach(async () => {
  tenant = await identity.people.tenant();
  owner = await identity.people.user({ tenant, role: 'owner' });
  user = await identity.people.user({ tenant, role: 'member' });
  bearer = await identity.people.signIn(user);
});

const database = () => identity.context.database;
/** Deletes accounts only when a test says so. */
const sweeping = ({ context }: TestIdentity): AccountDeletions =>
  startAccountDeletions({
    repository: context.accountDeletionRepository,
    logger: createLogger('test', 'silent'),
    everyMs: 3_600_000,
    batch: 2,
  });
const request = (as: Bearer = bearer) => identity.http.post(PATH).set(as);
const cancel = (as: Bearer = bearer) => identity.http.delete(PATH).set(as);
const state = async (as: Bearer = bearer) => (await identity.http.get(PATH).set(as)).body.data;
const becomeDue = ({ id }: User) =>
  database().accountDeletion.update({ where: { userId: id }, data: { dueAt: new Date() } });
const exists = async ({ id }: User) => (await database().user.count({ where: { id } })) === 1;
const tokensAreOld = async ({ id }: User) => {
  const authenticatedAt = new Date(Date.now() - 3_600_000);
  await database().session.updateMany({ where: { userId: id }, data: { authenticatedAt } });
};
/** The events about a user, or about a tenant with the user. */
const eventsAbout = async (...keys: string[]) => {
  const rows = await database().outboxEvent.findMany({
    where: { key: { in: keys } },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ topic, payload }) => {
    const parsed = parseEvent(topic, JSON.stringify(payload));
    if (!parsed.ok) throw new Error(`${topic} does not parse`);
    return parsed.event;
  });
};
/** Requests the deletion of an account and makes it due. */
const expire = async (person: User, as: Bearer = bearer) => {
  await request(as).expect(200);
  await becomeDue(person);
};

describe('a request to delete the account', () => {
  test('schedules the deletion, changes nothing else yet, and is confirmed by mail', async () => {
    const answer = await request();
    expect(answer.status).toBe(200);
    const { requested_at, due_at } = answer.body.data;
    expect(+new Date(due_at) - +new Date(requested_at)).toBe(14 * DAY);
    expect(await state()).toEqual({
      scheduled: { requested_at, due_at },
      last_owner_of: [],
      is_last_administrator: false,
    });
    await deletions.sweep();
    expect(await exists(user)).toBe(true);
    const mail = await mailbox.next('account_deletion_requested', user.email ?? '');
    expect(mail.link.pathname).toBe('/account/data');
  });

  test('does not change the date when repeated', async () => {
    const first = await request();
    const second = await request();
    expect(second.body).toEqual(first.body);
    expect(
      await database().activityEntry.count({
        where: { userId: user.id, action: 'account_deletion_requested' },
      }),
    ).toBe(1);
  });

  test('needs a recent authentication', async () => {
    await tokensAreOld(user);
    const answer = await request();
    expect([answer.status, answer.body.error]).toEqual([403, 'reauthentication_required']);
    expect((await state()).scheduled).toBeNull();
  });

  test('of a session that ends meanwhile is 401 and schedules nothing', async () => {
    const { status } = await answerAfter(database(), user.id, request, (tx) =>
      tx.session.updateMany({ where: { userId: user.id }, data: { endedAt: new Date() } }),
    );
    expect(status).toBe(401);
    expect(await database().accountDeletion.count({ where: { userId: user.id } })).toBe(0);
  });

  test('is refused for the last owner of a tenant, which is named', async () => {
    const as = await identity.people.signIn(owner);
    const answer = await request(as);
    expect([answer.status, answer.body.error]).toEqual([409, 'last_owner']);
    const { id, slug, name } = tenant;
    expect(answer.body.tenants).toEqual([{ id, slug, name }]);
    expect(answer.body.message).toContain(name);
    expect((await state(as)).last_owner_of).toEqual([{ id, slug, name }]);
  });

  test('is accepted if the tenant has another owner', async () => {
    await identity.people.user({ tenant, role: 'owner' });
    expect((await request(await identity.people.signIn(owner))).status).toBe(200);
  });

  test('is refused for the last administrator of the system', async () => {
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const as = await identity.people.signIn(administrator);
    const answer = await request(as);
    expect([answer.status, answer.body.error]).toEqual([409, 'last_administrator']);
    await identity.people.user({ data: { isSystemAdmin: true } });
    expect((await request(as)).status).toBe(200);
    await database().user.updateMany({ data: { isSystemAdmin: false } });
  });

  test('is not available to API keys or impersonated sessions', async () => {
    const { bearer: machine } = await identity.people.application('*');
    expect((await request(machine)).body.error).toBe('permission_denied');
    const administrator = await identity.people.user({ data: { isSystemAdmin: true } });
    const acting = await identity.http
      .post(`/api/admin/users/${user.id}/impersonate`)
      .set(await identity.people.signIn(administrator))
      .send({ reason: 'Ticket 42' });
    const { token } = acting.body.data;
    const answer = await request({ authorization: `Bearer ${token}` });
    expect([answer.status, answer.body.error]).toEqual([403, 'impersonation_forbidden']);
    await database().user.updateMany({ data: { isSystemAdmin: false } });
  });
});

describe('before the deletion is due', () => {
  test('any session can cancel the deletion', async () => {
    await request().expect(200);
    const elsewhere = await identity.people.signIn(user);
    await tokensAreOld(user);
    expect((await cancel(elsewhere)).status).toBe(200);
    expect((await state()).scheduled).toBeNull();
    expect((await cancel()).status).toBe(404);
  });

  test('the user is reminded once, on the day before', async () => {
    await request().expect(200);
    await deletions.sweep();
    const inADay = new Date(Date.now() + DAY - 60_000);
    await database().accountDeletion.update({
      where: { userId: user.id },
      data: { dueAt: inADay },
    });
    await deletions.sweep();
    await deletions.sweep();
    await mailbox.next('account_deletion_reminder', user.email ?? '');
    await until(async () => (await database().outboxMail.count()) === 0);
    const kinds = (await mailbox.to(user.email ?? '')).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'account_deletion_reminder')).toHaveLength(1);
  });
});

describe('when the deletion is due', () => {
  test('the account is deleted with all personal data, and its address can be used again', async () => {
    await expire(user);
    expect(await deletions.sweep()).toMatchObject({ deleted: 1 });
    expect(await exists(user)).toBe(false);
    expect((await identity.http.get('/api/me').set(bearer)).status).toBe(401);
    await mailbox.next('account_deleted', user.email ?? '');
    const { email } = user;
    await expect(identity.people.user({ data: { email } })).resolves.toMatchObject({ email });
  });

  test('nothing in the database identifies the user any more', async () => {
    await expire(user);
    await deletions.sweep();
    await until(async () => (await database().outboxMail.count()) === 0);
    const { rows } = await identity.context.pool.query<{ table: string }>(
      `SELECT table_name AS table FROM information_schema.tables
       WHERE table_schema = 'identity' AND table_type = 'BASE TABLE'`,
    );
    const naming: string[] = [];
    for (const { table } of rows) {
      const found = await identity.context.pool.query(
        `SELECT 1 FROM identity.${table} t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [user.email],
      );
      if (found.rowCount) naming.push(table);
    }
    expect(naming).toEqual([]);
  });

  test('other services are notified about the user and about the new policy version of the tenant', async () => {
    const [before] = (await eventsAbout(tenant.id)).slice(-1);
    await expire(user);
    await deletions.sweep();
    expect(await eventsAbout(user.id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'identity.user.deactivated',
          data: { user_id: user.id },
        }),
        expect.objectContaining({
          type: 'identity.token.revoked',
          data: { user_id: user.id, reason: 'account_deleted' },
        }),
      ]),
    );
    const [last] = (await eventsAbout(tenant.id)).slice(-1);
    expect(last).not.toEqual(before);
    expect(last).toMatchObject({
      type: 'identity.policy.updated',
      data: { tenant_id: tenant.id, user_ids: [user.id] },
    });
  });

  test('the tenant’s log still shows the actions, but not who acted or from where', async () => {
    const reader = await identity.people.signIn(owner);
    const entries = async () => {
      const answer = await identity.http.get(`/api/tenants/${tenant.id}/activity`).set(reader);
      return answer.body.data.filter((entry: { user_id: string }) => entry.user_id === user.id);
    };
    const before = await entries();
    await expire(user);
    await deletions.sweep();
    const after = await entries();
    const ids = (some: { id: string }[]) => some.map(({ id }) => id);
    expect(ids(after)).toEqual(expect.arrayContaining(ids(before)));
    expect(after[0]).toMatchObject({ action: 'account_deleted' });
    for (const entry of after) {
      expect(entry).toMatchObject({ user_email: null, ip_address: null, user_agent: null });
    }
  });

  test('a user who has become the last owner is not deleted, and is told why', async () => {
    const second = await identity.people.user({ tenant, role: 'owner' });
    const as = await identity.people.signIn(second);
    await expire(second, as);
    await database().user.update({ where: { id: owner.id }, data: { isActive: false } });
    expect(await deletions.sweep()).toMatchObject({ kept: 1, deleted: 0 });
    expect(await exists(second)).toBe(true);
    expect((await state(as)).scheduled).toBeNull();
    const mail = await mailbox.next('account_deletion_refused', second.email ?? '');
    expect(mail.text).toContain(tenant.name);
  });

  test('a deleted administrator’s impersonations no longer show their address', async () => {
    const chief = await identity.people.user({ data: { isSystemAdmin: true } });
    await identity.people.user({ data: { isSystemAdmin: true } });
    await database().activityEntry.create({
      data: {
        userId: user.id,
        impersonatorId: chief.id,
        action: 'profile_updated',
        ipAddress: '192.0.2.9',
        userAgent: 'Admins',
      },
    });
    await expire(chief, await identity.people.signIn(chief));
    await deletions.sweep();
    const { body } = await identity.http.get('/api/profile/activity').set(bearer);
    expect(body.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'profile_updated', ip_address: null, user_agent: null }),
      ]),
    );
    expect(JSON.stringify(await database().activityEntry.findMany())).not.toContain('192.0.2.9');
    await database().user.updateMany({ data: { isSystemAdmin: false } });
  });

  test('two replicas share the work, and each account is deleted once', async () => {
    const people = [user];
    for (let i = 0; i < 5; i += 1) people.push(await identity.people.user({ tenant }));
    for (const person of people) await expire(person, await identity.people.signIn(person));
    const other = sweeping(identity);
    const [one, two] = await Promise.all([deletions.sweep(), other.sweep()]);
    await other.stop();
    expect(one.deleted + two.deleted).toBe(6);
    expect(one.failed + two.failed).toBe(0);
    for (const person of people) {
      const told = await eventsAbout(person.id);
      expect(told.filter(({ type }) => type === 'identity.user.deactivated')).toHaveLength(1);
    }
  });

  test.each([1, 2, 3, 4])(
    'concurrent cancellation and deletion have one consistent outcome (%i)',
    async () => {
      await expire(user);
      const [swept, kept] = await Promise.all([deletions.sweep(), cancel()]);
      const isKept = kept.status === 200;
      expect(await exists(user)).toBe(isKept);
      expect(swept.deleted).toBe(isKept ? 0 : 1);
      expect([200, 401, 404]).toContain(kept.status);
    },
  );

  test('a renewal of a token at the same time causes no deadlock', async () => {
    await expire(user);
    const swept = await collide(database(), () => deletions.sweep(), renewalOf(user.id));
    expect(swept).toMatchObject({ deleted: 1, failed: 0 });
    expect(await exists(user)).toBe(false);
  });

  test('a request is scheduled again if it is cancelled at the same time', async () => {
    await request().expect(200);
    const { accountDeletion } = database();
    const where = { userId: user.id };
    // Cancels what the request has found before the request reads it.
    const racing = new Proxy(accountDeletion, {
      get: (target, name) =>
        name !== 'findUnique'
          ? Reflect.get(target, name)
          : async (given: { where: typeof where }) => {
              if (cancels.pop()) await accountDeletion.deleteMany({ where });
              return accountDeletion.findUnique(given);
            },
    });
    const cancels = [true];
    const { deletion, isNew } = await schedule(
      { accountDeletion: racing },
      {
        userId: user.id,
        requestedAt: new Date(),
        dueAt: new Date(Date.now() + DAY),
        remindedAt: null,
      },
    );
    expect([deletion.userId, isNew, cancels]).toEqual([user.id, true, []]);
  });

  test('an account that cannot be deleted does not delay others, and is deleted in a later round', async () => {
    const blocked = await identity.people.user({ tenant });
    await expire(blocked, await identity.people.signIn(blocked));
    await expire(user);
    const other = new pg.Client({ connectionString: identity.context.config.database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM identity.account_deletions WHERE user_id = $1 FOR UPDATE', [
        blocked.id,
      ]);
      expect(await deletions.sweep()).toMatchObject({ deleted: 1, not_due: 1 });
    } finally {
      await other.end();
    }
    await until(async () => (await deletions.sweep()).deleted === 1);
    expect(await exists(blocked)).toBe(false);
  });
});
