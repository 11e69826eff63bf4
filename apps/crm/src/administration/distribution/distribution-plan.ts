import type { ClientBase } from 'pg';

type Client = Pick<ClientBase, 'query'>;

/** How a table is placed on the servers of a Citus cluster. */
export type Placement = 'distributed' | 'reference' | 'local';

export interface PlannedTable {
  /** With its schema, quoted where necessary. */
  readonly name: string;
  readonly placement: Placement;
}

export interface DistributionPlan {
  readonly tables: readonly PlannedTable[];
  /** Statements that remove what stands in the way of distributing tables. */
  readonly drop: readonly string[];
  /** Statements that restore what `drop` removed, on distributed tables. */
  readonly restore: readonly string[];
}

/** The table that all others are colocated with. */
export const FIRST_TABLE = 'tenant_crm.record_counts';

const TABLES = `SELECT format('%I.%I', nspname, relname) AS name, CASE
    WHEN nspname <> 'tenant_crm' THEN 'local'
    WHEN EXISTS (SELECT FROM pg_attribute WHERE attrelid = tables.oid AND attname = 'tenant_id' AND NOT attisdropped)
      THEN 'distributed'
    ELSE 'reference'
  END AS placement
  FROM pg_class AS tables JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND (nspname IN ('tenant_crm', $1) OR relname = '_prisma_migrations')
  ORDER BY tables.oid = to_regclass('${FIRST_TABLE}') DESC, 1`;

// Triggers would run for every row that is copied to a shard.
const TRIGGERS = `SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS drop,
    pg_get_triggerdef(pg_trigger.oid) AS restore
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE relnamespace = 'tenant_crm'::regnamespace AND tgrelid::regclass::text = ANY ($1) AND NOT tgisinternal
  ORDER BY tgrelid::regclass::text, tgname`;

const REFERENCES = `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS restore
  FROM pg_constraint
  WHERE contype = 'f' AND conparentid = 0 AND connamespace = 'tenant_crm'::regnamespace
    AND (conrelid::regclass::text = ANY ($1) OR confrelid::regclass::text = ANY ($1))
  ORDER BY conrelid::regclass::text, conname`;

/** The calls of `refer`, which makes the function that checks a reference where the tenant's shards are. */
const CHECKS = `SELECT format('SELECT tenant_crm.refer(%L, %L, %L)', conrelid::regclass, attname, confrelid::regclass)
    AS restore
  FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey) AND attname <> 'tenant_id'
  WHERE contype = 'f' AND conparentid = 0 AND connamespace = 'tenant_crm'::regnamespace
  ORDER BY conname`;

/**
 * How to distribute the tables that `isDistributed` says are not. `jobSchema` is that of the job queue, which stays on
 * the coordinator.
 */
export const planDistribution = async (
  client: Client,
  jobSchema: string,
  isDistributed: (table: string) => boolean,
): Promise<DistributionPlan> => {
  const { rows } = await client.query<PlannedTable>(TABLES, [jobSchema]);
  const tables = rows.filter(({ name }) => !isDistributed(name));
  const names = tables.filter(({ placement }) => placement !== 'local').map(({ name }) => name);
  const read = async (query: string, values: unknown[]) =>
    (await client.query<{ drop: string; restore: string }>(query, values)).rows;
  const references = await read(REFERENCES, [names]);
  const triggers = await read(TRIGGERS, [names]);
  const checks = names.length > 0 ? await read(CHECKS, []) : [];
  return {
    tables,
    drop: [...triggers, ...references].map(({ drop }) => drop),
    restore: [...triggers, ...references, ...checks].map(({ restore }) => restore),
  };
};
