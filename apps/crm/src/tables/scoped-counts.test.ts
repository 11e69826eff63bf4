import { randomUUID } from 'node:crypto';
import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

const TABLE = `CREATE TABLE tenant_crm.posts (
  tenant_id uuid NOT NULL, id uuid NOT NULL, deleted_at timestamptz, channel_id uuid, user_id uuid,
  PRIMARY KEY (tenant_id, id))`;
const [tenant, other] = [randomUUID(), randomUUID()];
const [general, random] = [randomUUID(), randomUUID()];
const [ada, grace] = [randomUUID(), randomUUID()];

const keepCount = (...scopes: string[]) =>
  pool.query(`SELECT tenant_crm.keep_count('tenant_crm.posts', VARIADIC $1)`, [scopes]);

const insert = (channel: string | null, user: string | null, of = tenant) =>
  pool.query('INSERT INTO tenant_crm.posts VALUES ($1, gen_random_uuid(), NULL, $2, $3)', [
    of,
    channel,
    user,
  ]);

/** The maintained counts of the tenant that are not zero, by scope. */
const kept = async (of = tenant): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ scope: string; count: number }>(
    `SELECT scope_column || ' ' || scope_id AS scope, sum(count)::int AS count FROM tenant_crm.record_counts
     WHERE table_name = 'posts' AND tenant_id = $1 GROUP BY scope_column, scope_id HAVING sum(count) <> 0`,
    [of],
  );
  return Object.fromEntries(rows.map(({ scope, count }) => [scope, count]));
};

/** The same counts, computed from the rows. */
const there = async (of = tenant): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ scope: string; count: number }>(
    `SELECT scope.name || ' ' || scope.id AS scope, count(*)::int AS count FROM tenant_crm.posts
     CROSS JOIN LATERAL (VALUES ('', tenant_id), ('channel_id', channel_id), ('user_id', user_id)) AS scope (name, id)
     WHERE tenant_id = $1 AND deleted_at IS NULL AND scope.id IS NOT NULL GROUP BY scope.name, scope.id`,
    [of],
  );
  return Object.fromEntries(rows.map(({ scope, count }) => [scope, count]));
};

beforeEach(() => pool.query(TABLE));
afterEach(() => pool.query('DROP TABLE tenant_crm.posts'));

test('A table has an exact count for the tenant and for each value of each scope column', async () => {
  await keepCount('channel_id', 'user_id');
  await insert(general, ada);
  await insert(general, grace);
  await insert(random, ada);
  await insert(null, ada);
  await insert(general, ada, other);
  expect(await kept()).toEqual({
    [` ${tenant}`]: 4,
    [`channel_id ${general}`]: 2,
    [`channel_id ${random}`]: 1,
    [`user_id ${ada}`]: 3,
    [`user_id ${grace}`]: 1,
  });
  expect(await kept(other)).toMatchObject({ [`channel_id ${general}`]: 1 });
});

test('The counts follow a row from one scope to another, out of it, and back after a deletion', async () => {
  await keepCount('channel_id', 'user_id');
  for (const user of [ada, grace, ada]) await insert(general, user);
  const update = async (set: string, where: string) => {
    await pool.query(
      `UPDATE tenant_crm.posts SET ${set} WHERE tenant_id = '${tenant}' AND ${where}`,
    );
    expect(await kept()).toEqual(await there());
  };
  await update(`channel_id = '${random}'`, `user_id = '${ada}'`);
  expect(await kept()).toMatchObject({ [`channel_id ${general}`]: 1, [`channel_id ${random}`]: 2 });
  await update('deleted_at = now()', `channel_id = '${random}'`);
  expect(Object.keys(await kept())).not.toContain(`user_id ${ada}`);
  await update('channel_id = NULL', 'true');
  await update(`deleted_at = NULL, channel_id = '${general}'`, 'true');
  expect(await kept()).toMatchObject({ [`channel_id ${general}`]: 3 });
  await pool.query('DELETE FROM tenant_crm.posts WHERE user_id = $1', [ada]);
  expect(await kept()).toEqual(await there());
});

test('Rows of one statement that belong to many scopes are all counted', async () => {
  await keepCount('channel_id', 'user_id');
  await pool.query(
    `INSERT INTO tenant_crm.posts SELECT ($1::uuid[])[1 + i % 2], gen_random_uuid(),
       CASE WHEN i % 7 = 0 THEN now() END, ($2::uuid[])[1 + i % 3], ($3::uuid[])[1 + i % 5]
     FROM generate_series(1, 200) AS i`,
    [
      [tenant, other],
      [general, random, null],
      [ada, grace, null, ada, grace],
    ],
  );
  expect(await kept()).toEqual(await there());
  expect(await kept(other)).toEqual(await there(other));
});

test('Scopes can be added to a table with rows, and taken away', async () => {
  await keepCount();
  for (const user of [ada, grace]) await insert(general, user);
  expect(await kept()).toEqual({ [` ${tenant}`]: 2 });
  await keepCount('channel_id', 'user_id');
  expect(await kept()).toEqual(await there());
  await insert(random, ada);
  expect(await kept()).toEqual(await there());
  await keepCount('channel_id');
  await insert(random, ada);
  expect(await kept()).toEqual({
    [` ${tenant}`]: 4,
    [`channel_id ${general}`]: 2,
    [`channel_id ${random}`]: 2,
  });
});

test('A scope that is no column of the table, or no UUID, is refused', async () => {
  await expect(keepCount('room_id')).rejects.toThrow(/room_id/);
  await expect(keepCount('deleted_at')).rejects.toThrow(/uuid/);
});

test('A table whose rows are deleted permanently is counted as well', async () => {
  await pool.query('ALTER TABLE tenant_crm.posts DROP COLUMN deleted_at');
  const add = (channel: string) =>
    pool.query('INSERT INTO tenant_crm.posts VALUES ($1, gen_random_uuid(), $2)', [
      tenant,
      channel,
    ]);
  await add(general);
  await keepCount('channel_id');
  await add(general);
  await add(random);
  await pool.query('UPDATE tenant_crm.posts SET user_id = $1', [ada]);
  await pool.query('DELETE FROM tenant_crm.posts WHERE channel_id = $1', [random]);
  expect(await kept()).toEqual({ [` ${tenant}`]: 2, [`channel_id ${general}`]: 2 });
});

test('TRUNCATE leaves no count of any scope', async () => {
  await keepCount('channel_id');
  await insert(general, ada);
  await pool.query('TRUNCATE tenant_crm.posts');
  expect(await kept()).toEqual({});
});
