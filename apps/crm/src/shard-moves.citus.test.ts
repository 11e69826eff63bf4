import { citusNodes, until } from '@tessera/local-stack';
import pg from 'pg';
import { startCrm, type TestCrm } from './testing/crm.ts';
import { distributedCrmDatabase } from './testing/distributed-tables.ts';
import { startWriters } from './testing/writers.ts';

let crm: TestCrm;
let url: string;
beforeAll(async () => {
  url = await distributedCrmDatabase();
  crm = await startCrm({ DATABASE_URL: url });
});
afterAll(() => crm.stop());

const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
};

interface Placement {
  readonly host: string;
  readonly port: number;
}

const placementOf = async (tenantId: string): Promise<Placement> => {
  const [placement] = await query<Placement>(
    `SELECT nodename AS host, nodeport AS port FROM citus_shards
     WHERE shardid = get_shard_id_for_distribution_column('tenant_crm.contacts', $1::uuid)`,
    [tenantId],
  );
  if (!placement) throw new Error('The tenant has no shard.');
  return placement;
};

/** Gives a tenant shards of its own; returns that of `record_counts`. */
const isolate = async (tenantId: string): Promise<string | undefined> => {
  const [isolated] = await query<{ shard: string }>(
    `SELECT isolate_tenant_to_new_shard('tenant_crm.record_counts', '${tenantId}', 'CASCADE', 'block_writes') AS shard`,
  );
  return isolated?.shard;
};

/** Moves all shards beside this one to another worker; returns its port. */
const move = async (shard: string | undefined, from: Placement): Promise<number | undefined> => {
  const nodes = await citusNodes(url);
  const to = nodes.find(({ isCoordinator, port }) => !isCoordinator && port !== from.port);
  await query('SELECT citus_move_shard_placement($1, $2, $3, $4, $5)', [
    shard,
    from.host,
    from.port,
    to?.host,
    to?.port,
  ]);
  return to?.port;
};

/** The ids of a tenant's contacts, and the numbers that triggers and statements keep. */
const stored = async (tenantId: string) => {
  const contacts = await query<{ id: string }>(
    'SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 ORDER BY id',
    [tenantId],
  );
  const [kept] = await query<{ count: number; changes: number }>(
    `SELECT sum(count)::int AS count,
       (SELECT count(*)::int FROM tenant_crm.record_changes WHERE tenant_id = $1) AS changes
     FROM tenant_crm.record_counts
     WHERE tenant_id = $1 AND table_name = 'contacts' AND scope_column = ''`,
    [tenantId],
  );
  return { ids: contacts.map(({ id }) => id), ...kept };
};

test('A tenant with shards of its own moves to another worker while it works, and loses nothing', async () => {
  const { acme, globex } = crm.identity;
  const shard = await isolate(acme.id);
  const clients = [crm.caller(), crm.caller(), crm.caller({ tenant: 'globex' })];
  const writers = startWriters(crm.url, clients);
  const more = async (): Promise<void> => {
    const target = writers.confirmed() + 20;
    await until(() => writers.confirmed() >= target);
  };
  try {
    await more();
    const port = await move(shard, await placementOf(acme.id));
    await more();
    expect((await placementOf(acme.id)).port).toBe(port);
  } finally {
    await writers.stop();
  }
  const { ids, failures } = await writers.stop();
  expect(failures).toEqual([]);
  const [one, two, other] = ids as [string[], string[], string[]];
  for (const [{ id }, confirmed] of [
    [acme, [...one, ...two]],
    [globex, other],
  ] as const) {
    const count = confirmed.length;
    expect(await stored(id)).toEqual({ ids: confirmed.toSorted(), count, changes: 2 * count });
  }
});
