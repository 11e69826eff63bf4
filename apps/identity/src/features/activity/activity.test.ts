import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import { until } from '@tessera/local-stack';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import type { Bearer } from '../../testing/population.ts';

let identity: TestIdentity;
let tenant: Tenant;
let chief: User;
let bearer: Bearer;
let ann: User;
beforeAll(async () => {
  identity = await startIdentity({ EXPORTS_PER_CALLER: '1', EXPORT_READS: '1' });
  chief = await identity.people.user({ data: { isSystemAdmin: true } });
  bearer = await identity.people.signIn(chief);
});
afterAll(() => identity.stop());
beforeEach(async () => {
  await database().activityEntry.deleteMany();
  tenant = await identity.people.tenant();
  ann = await identity.people.user({ tenant });
});

const database = () => identity.context.database;
const day = (number: number) => new Date(Date.UTC(2026, 0, number));
/** Entries of Ann in the tenant, one per day. */
const entries = (...some: object[]) =>
  database().activityEntry.createManyAndReturn({
    data: some.map((entry, index) => ({
      userId: ann.id,
      tenantId: tenant.id,
      action: 'login',
      ipAddress: '10.0.0.1',
      userAgent: 'Tests',
      createdAt: day(index + 1),
      ...entry,
    })),
  });
const get = (path: string, query: object = {}, as: Bearer = bearer) =>
  identity.http.get(path).query(query).set(as);
const all = (query: object = {}) => get('/api/admin/activity', query);
const actionsOf = ({ body }: { body: { data: { action: string }[] } }): string[] =>
  body.data.map(({ action }) => action);

describe('the activity of all users', () => {
  test('is listed completely, newest first, in pages', async () => {
    const [, second] = await entries(
      { action: 'login' },
      { action: 'impersonated', impersonatorId: chief.id, reason: 'Ticket 42' },
    );
    const answer = await all({ per_page: '1' }).expect(200);
    expect(answer.body).toEqual({
      success: true,
      data: [
        {
          id: second?.id,
          created_at: '2026-01-02T00:00:00.000Z',
          action: 'impersonated',
          user_id: ann.id,
          user_email: ann.email,
          tenant_id: tenant.id,
          impersonator_id: chief.id,
          subject_id: null,
          reason: 'Ticket 42',
          ip_address: '10.0.0.1',
          user_agent: 'Tests',
          by_operator: true,
          command: null,
          changes: null,
        },
      ],
      meta: { current_page: 1, last_page: 2, per_page: 1, total: 2 },
    });
    expect(actionsOf(await all({ sort: 'created_at' }))).toEqual(['login', 'impersonated']);
    expect(actionsOf(await all({ per_page: '1', page: '7' }))).toEqual(['login']);
  });

  test('is filtered by user, tenant, action, address and time', async () => {
    const other = await identity.people.tenant();
    await entries(
      { action: 'a', userId: chief.id },
      { action: 'b', tenantId: other.id },
      { action: 'c', ipAddress: '10.0.0.2' },
      { action: 'd', impersonatorId: chief.id },
    );
    const found = async (query: object) => actionsOf(await all({ sort: 'created_at', ...query }));
    expect(await found({ user_id: chief.id })).toEqual(['a']);
    expect(await found({ tenant_id: other.id })).toEqual(['b']);
    expect(await found({ ip_address: '10.0.0.2' })).toEqual(['c']);
    expect(await found({ impersonator_id: chief.id })).toEqual(['d']);
    expect(await found({ action: 'a' })).toEqual(['a']);
    const span = { from: day(2).toISOString(), to: day(4).toISOString() };
    expect(await found(span)).toEqual(['b', 'c']);
    expect(await found({ ...span, user_id: ann.id, action: 'c' })).toEqual(['c']);
  });

  test.each([
    [{ user_id: 'x' }, ['user_id']],
    [{ from: 'yesterday', sort: 'action' }, ['from', 'sort']],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, ['to']],
  ])('asked for with %j is 422', async (query, fields) => {
    for (const path of ['/api/admin/activity', '/api/admin/activity/export']) {
      const answer = await get(path, query).expect(422);
      expect(Object.keys(answer.body.errors)).toEqual(fields);
    }
  });

  test('with a period that ends before it starts names the field in the message', async () => {
    const span = { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' };
    const { body } = await get('/api/admin/activity', span).expect(422);
    expect(body.message).toBe('to must not be before from.');
  });

  test('requires a system permission that no tenant can grant', async () => {
    const owner = await identity.people.caller(tenant, '*');
    for (const path of ['/api/admin/activity', '/api/admin/activity/export']) {
      const { status, body } = await get(path, {}, owner);
      expect([status, body.required_permission]).toEqual([403, 'identity.users.activity.list']);
    }
  });

  test.each([
    ['user_id', () => ann.id],
    ['tenant_id', () => tenant.id],
    ['impersonator_id', () => chief.id],
    ['action', () => 'login'],
    ['ip_address', () => '10.0.0.1'],
    ['from', () => day(1).toISOString()],
  ])('is found by an index where it is narrowed by %s', async (name, value) => {
    const { pool } = identity.context;
    const column = name === 'from' ? 'created_at' : name;
    const client = await pool.connect();
    try {
      await client.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off');
      const { rows } = await client.query(
        `EXPLAIN SELECT * FROM identity.activity_entries e
          WHERE ${column} ${name === 'from' ? '>=' : '='} '${value()}'
          ORDER BY created_at DESC, id DESC LIMIT 20`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(new RegExp(`Index (Only )?Scan.*activity_entries_${column}`));
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
  });
});

describe('the activity of a tenant', () => {
  const ofTenant = (query: object = {}, as?: Bearer) =>
    get(`/api/tenants/${tenant.id}/activity`, query, as);

  test('contains what happened there, and nothing that its members did elsewhere', async () => {
    const elsewhere = await identity.people.tenant();
    const manager = await identity.people.caller(tenant, 'identity.activity.list');
    await database().activityEntry.deleteMany();
    await entries({ action: 'here' }, { action: 'there', tenantId: elsewhere.id });
    expect(actionsOf(await ofTenant({}, manager).expect(200))).toEqual(['here']);
    const file = await get(
      `/api/tenants/${tenant.id}/activity/export`,
      { format: 'json' },
      manager,
    );
    expect(actionsOf(file)).toEqual(['here']);
    const answer = await ofTenant({ tenant_id: elsewhere.id }, manager).expect(422);
    expect(Object.keys(answer.body.errors)).toEqual(['tenant_id']);
    await get(`/api/tenants/${elsewhere.id}/activity`, {}, manager).expect(403);
  });

  test('shows that an operator acted, but neither who nor from where', async () => {
    const manager = await identity.people.caller(tenant, 'identity.activity.list');
    await identity.http
      .post(`/api/tenants/${tenant.id}/members`)
      .set(bearer)
      .send({ email: 'invited@example.test', role: 'viewer' })
      .expect(202);
    const acting = await identity.http
      .post(`/api/admin/users/${ann.id}/impersonate`)
      .set(bearer)
      .send({ reason: 'Ticket 42' })
      .expect(200);
    await identity.http
      .post('/api/auth/logout')
      .set('authorization', `Bearer ${acting.body.data.token}`)
      .expect(200);
    const shown = (await ofTenant({ sort: 'created_at' }, manager).expect(200)).body.data;
    const byOperator = shown.filter((entry: { by_operator: boolean }) => entry.by_operator);
    const nowhere = { impersonator_id: null, ip_address: null, user_agent: null };
    expect(byOperator).toMatchObject([
      { ...nowhere, action: 'member_invited', user_id: null, user_email: null },
      { ...nowhere, action: 'impersonated', user_id: ann.id, reason: 'Ticket 42' },
      { ...nowhere, action: 'logout', user_id: ann.id },
    ]);
    const file = await get(`/api/tenants/${tenant.id}/activity/export`, {}, manager).expect(200);
    for (const text of [JSON.stringify(shown), file.text]) {
      expect(text).not.toContain(chief.id);
      expect(text).not.toContain(chief.email);
    }
    // The impersonated user's own log shows no more.
    const own = await identity.people.signIn(ann);
    const { body } = await get('/api/profile/activity', {}, own).expect(200);
    expect(body.data).toMatchObject([
      { action: 'login', ip_address: expect.any(String) },
      { action: 'logout', ip_address: null, user_agent: null },
      { action: 'impersonated', ip_address: null, user_agent: null },
    ]);
  });

  test('cannot be filtered by hidden values', async () => {
    const manager = await identity.people.caller(tenant, 'identity.activity.list');
    await database().activityEntry.deleteMany();
    await entries({ action: 'operator', userId: chief.id }, { action: 'own' });
    const found = async (query: object) => actionsOf(await ofTenant(query, manager).expect(200));
    expect(await found({ ip_address: '10.0.0.1' })).toEqual(['own']);
    expect(await found({ user_id: chief.id })).toEqual([]);
    await ofTenant({ impersonator_id: chief.id }, manager).expect(422);
  });

  test('shows the addresses of members, but not of people who have left', async () => {
    const manager = await identity.people.caller(tenant, 'identity.activity.*');
    await database().activityEntry.deleteMany();
    await entries({ action: 'here' });
    const addresses = async () => {
      const file = await get(
        `/api/tenants/${tenant.id}/activity/export`,
        { format: 'json' },
        manager,
      );
      const listed = await ofTenant({}, manager).expect(200);
      return [listed, file].map(({ body }) => [body.data[0].user_id, body.data[0].user_email]);
    };
    expect(await addresses()).toEqual([
      [ann.id, ann.email],
      [ann.id, ann.email],
    ]);
    const elsewhere = await identity.people.tenant();
    await identity.people.join(ann, elsewhere, await identity.people.role(elsewhere));
    await database().membership.deleteMany({ where: { userId: ann.id, tenantId: tenant.id } });
    expect(await addresses()).toEqual([
      [ann.id, null],
      [ann.id, null],
    ]);
    expect((await all()).body.data[0].user_email).toBe(ann.email);
  });

  test('still hides operators who are no longer administrators', async () => {
    const manager = await identity.people.caller(tenant, 'identity.activity.list');
    const former = await identity.people.user({ data: { isSystemAdmin: true } });
    await database().activityEntry.deleteMany();
    await entries({ action: 'operator', userId: former.id });
    const where = { id: former.id };
    await database().user.update({ where, data: { isSystemAdmin: false } });
    const [entry] = (await ofTenant({}, manager).expect(200)).body.data;
    expect(entry).toMatchObject({ by_operator: true, user_id: null, ip_address: null });
    const [whole] = (await all()).body.data;
    expect(whole).toMatchObject({ user_id: former.id, ip_address: '10.0.0.1' });
  });

  test('requires the permission', async () => {
    const member = await identity.people.caller(tenant, 'identity.members.list');
    for (const path of ['activity', 'activity/export']) {
      const { status, body } = await get(`/api/tenants/${tenant.id}/${path}`, {}, member);
      expect([status, body.required_permission]).toEqual([403, 'identity.activity.list']);
    }
  });
});

describe('an export', () => {
  const path = '/api/admin/activity/export';

  /** The given number of entries, created by the database. */
  const many = (count: number) =>
    database().$executeRaw`
      INSERT INTO identity.activity_entries (id, user_id, tenant_id, action, ip_address, user_agent, created_at)
      SELECT gen_random_uuid(), ${ann.id}::uuid, ${tenant.id}::uuid, 'login', '10.0.0.1', repeat('x', 400),
        now() - make_interval(secs => n) FROM generate_series(1, ${count}::int) n`;

  test('is CSV with a header line in the requested order, and no cell is a formula', async () => {
    await entries(
      { action: 'login', userAgent: '=HYPERLINK("http://evil.test")' },
      { action: 'impersonated', reason: '-1, "quoted"', impersonatorId: chief.id },
    );
    const answer = await get(path, { sort: 'created_at' }).expect(200);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toBe('attachment; filename="activity.csv"');
    const [names, first, second, rest] = answer.text.split('\r\n');
    expect(names).toBe(
      'id,created_at,action,user_id,user_email,tenant_id,impersonator_id,subject_id,reason,ip_address,user_agent,by_operator,command,changes',
    );
    expect(first).toContain(`login,${ann.id},${ann.email},${tenant.id},,,,10.0.0.1`);
    expect(first).toContain(`"'=HYPERLINK(""http://evil.test"")"`);
    expect(second).toContain(`,${chief.id},,"'-1, ""quoted""",10.0.0.1,Tests,true,,`);
    expect(rest).toBe('');
  });

  test('is JSON like the list, and contains all matching entries', async () => {
    await many(1234);
    const answer = await get(path, { format: 'json', user_id: ann.id }).expect(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body.data).toHaveLength(1234);
    const [newest] = (await all({ user_id: ann.id, per_page: '1' })).body.data;
    expect(answer.body.data[0]).toEqual(newest);
    expect((await get(path, { format: 'xml' })).status).toBe(422);
  });

  test('that the client does not read only delays further exports of the same caller', async () => {
    await many(100_000);
    const { pool } = identity.context;
    const other = await identity.people.signIn(
      await identity.people.user({ data: { isSystemAdmin: true } }),
    );
    const asked = rawRequest(`${identity.url}${path}`, { headers: bearer }).end();
    const [answer] = await once(asked, 'response');
    answer.pause();
    const refused = await get(path).expect(429);
    expect([refused.body.error, refused.headers['retry-after']]).toEqual(['rate_limited', '10']);
    await get(path, { action: 'none' }, other).expect(200);
    await until(() => pool.idleCount === pool.totalCount);
    asked.destroy();
    await until(async () => (await get(path, { action: 'none' })).status === 200);
  });
});
