import pg from 'pg';
import { JOB_SCHEMA } from '../../database.ts';
import { knownTables, requireCoordinator, requireRoles } from './cluster.ts';
import {
  type DistributionPlan,
  FIRST_TABLE,
  type PlannedTable,
  planDistribution,
} from './distribution-plan.ts';
import { shardFunctions } from './shard-functions.ts';
import { translatedFunctions } from './sql-functions.ts';

/** What `distribute` did. */
export interface Distribution {
  /** The tables that were distributed, with their numbers of rows. */
  readonly distributed: Readonly<Record<string, number>>;
  /** The tables that were copied to every server. */
  readonly reference: Readonly<Record<string, number>>;
  /** The number of tables that were distributed before. */
  readonly before: number;
  /** The tables that stay on the coordinator. */
  readonly local: readonly string[];
}

const LOCK_TIMEOUT_MS = 10_000;
const LOCK_NOT_AVAILABLE = '55P03';

const SETTINGS = [
  'SET statement_timeout = 0',
  `SET lock_timeout = ${LOCK_TIMEOUT_MS}`,
  // Names in definitions are then qualified.
  'SET search_path = public',
  'SET client_min_messages = warning',
  // One connection for each worker: foreign keys are added in the transaction that creates the shards.
  "SET citus.multi_shard_modify_mode = 'sequential'",
  'SET citus.enable_unsafe_triggers = on',
];

/** Copies those functions to the workers that Citus has not copied as dependencies of tables. */
const copyFunctions = (
  condition: string,
): string => `SELECT create_distributed_function(pg_proc.oid::regprocedure)
  FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace AND ${condition} AND NOT EXISTS (
    SELECT FROM pg_dist_object WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid
  ) ORDER BY proname`;

// Citus copies functions to the workers without what is revoked or granted.
const FUNCTION_GRANTS = `SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', pg_proc.oid::regprocedure) AS statement
  FROM pg_proc WHERE pronamespace = 'tenant_crm'::regnamespace AND proacl IS NOT NULL
    AND NOT EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0)
  UNION ALL
  SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', pg_proc.oid::regprocedure, rolname)
  FROM pg_proc CROSS JOIN aclexplode(proacl) JOIN pg_roles ON pg_roles.oid = grantee
  WHERE pronamespace = 'tenant_crm'::regnamespace AND grantee <> proowner`;

const countRows = async (client: pg.Client, table: string): Promise<number> => {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${table}`);
  return Number(rows[0]?.count);
};

const countAll = async (
  client: pg.Client,
  tables: readonly PlannedTable[],
): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for (const { name } of tables) counts.set(name, await countRows(client, name));
  return counts;
};

const lockTables = async (client: pg.Client, tables: readonly PlannedTable[]): Promise<void> => {
  if (tables.length === 0) return;
  const names = tables.map(({ name }) => name).join(', ');
  try {
    await client.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== LOCK_NOT_AVAILABLE) throw error;
    throw new Error('The tables are in use. Stop every instance of CRM, and repeat the command.', {
      cause: error,
    });
  }
};

const distributeTable = async (
  client: pg.Client,
  { name, placement }: PlannedTable,
): Promise<void> => {
  if (placement === 'reference') {
    await client.query('SELECT create_reference_table($1)', [name]);
  } else {
    await client.query("SELECT create_distributed_table($1, 'tenant_id', colocate_with => $2)", [
      name,
      name === FIRST_TABLE ? 'none' : FIRST_TABLE,
    ]);
  }
  // The copied rows remain on the coordinator otherwise.
  await client.query('SELECT truncate_local_data_after_distributing_table($1)', [name]);
};

const apply = async (
  client: pg.Client,
  { drop, restore }: DistributionPlan,
  tables: readonly PlannedTable[],
): Promise<Map<string, number>> => {
  await lockTables(client, tables);
  const before = await countAll(client, tables);
  for (const statement of drop) await client.query(statement);
  // Generated columns call them, directly and from one another, as soon as the first row is copied.
  await client.query(copyFunctions("provolatile = 'i'"));
  for (const table of tables) await distributeTable(client, table);
  for (const statement of shardFunctions) await client.query(statement);
  for (const statement of await translatedFunctions(client)) await client.query(statement);
  await client.query(copyFunctions('true'));
  const { rows: grants } = await client.query<{ statement: string }>(FUNCTION_GRANTS);
  for (const { statement } of grants) await client.query(statement);
  for (const statement of restore) await client.query(statement);
  const after = await countAll(client, tables);
  for (const [name, count] of before) {
    if (after.get(name) === count) continue;
    throw new Error(`${name} had ${count} rows and would now have ${after.get(name)}.`);
  }
  return after;
};

const rowsOf = (
  tables: readonly PlannedTable[],
  placement: PlannedTable['placement'],
  counts: ReadonlyMap<string, number>,
): Record<string, number> =>
  Object.fromEntries(
    tables
      .filter((table) => table.placement === placement)
      .map(({ name }) => [name, counts.get(name) ?? 0]),
  );

/**
 * Distributes the tables of a migrated database over the servers of its Citus cluster, by tenant. One transaction:
 * it either distributes all tables with all of their rows or changes nothing. Tables that are distributed stay as they
 * are.
 */
export const distribute = async (directUrl: string): Promise<Distribution> => {
  const client = new pg.Client({ connectionString: directUrl, application_name: 'crm-admin' });
  client.on('error', () => {}); // The running query reports it.
  await client.connect();
  try {
    await requireCoordinator(client);
    for (const setting of SETTINGS) await client.query(setting);
    await requireRoles(client);
    await client.query('BEGIN');
    const known = await knownTables(client);
    const plan = await planDistribution(client, JOB_SCHEMA, (table) => known.has(table));
    const tables = plan.tables.filter(({ placement }) => placement !== 'local');
    const counts = await apply(client, plan, tables);
    await client.query('COMMIT');
    for (const { name } of tables) await client.query(`ANALYZE ${name}`);
    return {
      distributed: rowsOf(tables, 'distributed', counts),
      reference: rowsOf(tables, 'reference', counts),
      before: known.size,
      local: plan.tables.filter(({ placement }) => placement === 'local').map(({ name }) => name),
    };
  } finally {
    // Rolls back what was not committed.
    await client.end();
  }
};
