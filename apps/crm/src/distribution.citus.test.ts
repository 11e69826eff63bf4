import { randomUUID } from 'node:crypto';
import { citusNodes, until } from '@tessera/local-stack';
import pg from 'pg';
import { distribute } from './administration/distribution/distribute.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';
import { distributedCrmDatabase, distributedRows } from './testing/distributed-tables.ts';

let crm: TestCrm;
let url: string;
let headers: Record<string, string>;
/** The commands that Citus has sent to workers, or run on a local shard. */
const commands: string[] = [];

const query = async <R>(text: string, values: unknown[] = [], at = url): Promise<R[]> => {
  const client = new pg.Client({ connectionString: at });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
};

beforeAll(async () => {
  url = await distributedCrmDatabase();
  const name = pg.escapeIdentifier(decodeURIComponent(new URL(url).pathname.slice(1)));
  await query(`ALTER DATABASE ${name} SET citus.log_remote_commands = on`);
  crm = await startCrm({ DATABASE_URL: url });
  headers = crm.caller();
  // Some connections were opened before.
  const listened = new WeakSet<object>();
  crm.context.pool.on('acquire', (client) => {
    if (listened.has(client)) return;
    listened.add(client);
    client.on('notice', ({ message }) => commands.push(`${message}`));
  });
});
afterAll(() => crm.stop());

/** Sends requests and returns the shards that their statements accessed. */
const shardsOf = async (work: () => Promise<void>): Promise<Set<string>> => {
  // Connections that are open do not report their commands.
  commands.length = 0;
  await work();
  return new Set(
    commands.flatMap((text) => text.match(/(?<=tenant_crm\.[a-z_]+)_\d{6,}\b/g) ?? []),
  );
};

test('A request of a tenant accesses the shards of that tenant only', async () => {
  const tenant = crm.identity.acme.id;
  const own = await query<{ shard: string }>(
    `SELECT '_' || get_shard_id_for_distribution_column(logicalrelid, $1::uuid) AS shard
     FROM pg_dist_partition WHERE partmethod = 'h'`,
    [tenant],
  );
  const shards = await shardsOf(async () => {
    const company = await crm.http
      .post('/api/crm/companies')
      .set(headers)
      .send({ name: 'Acme' })
      .expect(201);
    const path = `/api/crm/companies/${company.body.data.id}`;
    const contact = await crm.http
      .post('/api/crm/contacts')
      .set(headers)
      .send({ first_name: 'Ada', company_id: company.body.data.id, tags: ['vip'] })
      .expect(201);
    await crm.http.get(`${path}`).set(headers).expect(200);
    await crm.http.get('/api/crm/contacts?search=ada&sort=created_at').set(headers).expect(200);
    await crm.http.get('/api/crm/contacts?tag=vip').set(headers).expect(200);
    await crm.http.get('/api/crm/tasks').set(headers).expect(200);
    await crm.http
      .delete(`/api/crm/contacts/${contact.body.data.id}`)
      .set({ ...headers, 'if-match': contact.headers.etag ?? '*' })
      .expect(204);
  });
  expect(shards.size).toBeGreaterThan(3);
  expect([...shards].filter((shard) => !own.some((one) => one.shard === shard))).toEqual([]);
});

test('Row-level security, grants and triggers work on the shards of a worker', async () => {
  const tenant = crm.identity.acme.id;
  const [placement] = await query<{ table: string; worker: number }>(
    `SELECT 'tenant_crm.companies_' || shardid AS table, nodeport AS worker FROM citus_shards
     WHERE shardid = get_shard_id_for_distribution_column('tenant_crm.companies', $1::uuid)`,
    [tenant],
  );
  const { table, worker } = placement as { table: string; worker: number };
  const at = new URL(url);
  at.port = `${worker}`;
  const client = new pg.Client({ connectionString: at.href });
  await client.connect();
  try {
    const seen = async (who: string) => {
      await client.query("SELECT set_config('tessera.tenant_id', $1, false)", [who]);
      await client.query('SET ROLE tessera_tenant');
      const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${table}`);
      await client.query('RESET ROLE');
      return rows[0].count;
    };
    expect(await seen(tenant)).toBe(1);
    expect(await seen(crm.identity.globex.id)).toBe(0);
  } finally {
    await client.end();
  }
  const counts = await query(
    `SELECT sum(count)::int AS count FROM tenant_crm.record_counts
     WHERE tenant_id = $1 AND table_name = 'companies'`,
    [tenant],
  );
  expect(counts).toEqual([{ count: 1 }]);
});

test('A worker that does not answer is reported, and tenants on the others are served', async () => {
  const nodes = (await citusNodes(url)).filter((node) => !node.isCoordinator);
  const tenant = crm.identity.acme.id;
  const [own] = await query<{ port: number }>(
    `SELECT nodeport AS port FROM citus_shards
     WHERE shardid = get_shard_id_for_distribution_column('tenant_crm.companies', $1::uuid)`,
    [tenant],
  );
  const other = nodes.find(({ port }) => port !== own?.port);
  expect(other).toBeDefined();
  const move = (from: number | undefined, to: number | undefined) =>
    query(`UPDATE pg_dist_node SET nodeport = $2 WHERE nodeport = $1 AND groupid <> 0`, [from, to]);
  const readiness = () => crm.http.get('/readyz');
  // Port 1 is closed: for this database, the worker is gone.
  await move(other?.port, 1);
  await until(async () => (await readiness()).body.unreachable_database_servers === 1);
  expect((await readiness()).status).toBe(200);
  await crm.http.get('/api/crm/companies').set(headers).expect(200);
  await move(own?.port, 2);
  await until(async () => (await readiness()).status === 503);
  const { status } = await crm.http.get('/api/crm/companies').set(headers);
  expect(status).toBe(503);
  await move(1, other?.port);
  await move(2, own?.port);
  await until(async () => {
    const { status: ready, body } = await readiness();
    return ready === 200 && body.unreachable_database_servers === undefined;
  });
  await crm.http.get('/api/crm/companies').set(headers).expect(200);
});

test('A database with rows is distributed with all of them, once', async () => {
  const tenants = Array.from({ length: 6 }, () => randomUUID());
  const filled = await distributedRows((at) =>
    query(
      `INSERT INTO tenant_crm.contacts (tenant_id, id, first_name, last_name, tags)
       SELECT tenant_id, gen_random_uuid(), 'Ágnes', number::text, '{vip}'
       FROM unnest($1::uuid[]) AS tenant_id, generate_series(1, 50) AS number`,
      [tenants],
      at,
    ),
  );
  const ofTenants = (table: string, count: string) =>
    query(
      `SELECT tenant_id AS tenant, ${count}::int AS count FROM tenant_crm.${table} GROUP BY 1 ORDER BY 1`,
      [],
      filled,
    );
  const fifty = [...tenants].sort().map((tenant) => ({ tenant, count: 50 }));
  expect(await ofTenants('contacts', "count(*) FILTER (WHERE search_text LIKE '%agnes%')")).toEqual(
    fifty,
  );
  expect(await ofTenants('tag_counts', 'sum(count)')).toEqual(fifty);
  const [workers] = await query<{ count: number }>(
    `SELECT count(DISTINCT nodeport)::int AS count FROM citus_shards
     WHERE table_name = 'tenant_crm.contacts'::regclass`,
    [],
    filled,
  );
  expect(workers?.count).toBeGreaterThan(1);
  expect(await distribute(filled)).toMatchObject({ distributed: {}, reference: {} });
});
