import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createPool,
  createTenantDbs,
  memoryPositions,
  type ReadOptions,
  Replica,
  type RowFormat,
  redisPositions,
  type TenantDb,
} from '@tessera/database-kit';
import type { Logger, RedisConnection } from '@tessera/http-kit';
import { isTracing } from '@tessera/telemetry';
import type { Pool } from 'pg';
import { TENANT_ROLE } from './row-level-security.ts';

export type { ReadOptions, RowFormat, TenantDb };

/** The rows of all tenants. */
export interface Database {
  /** The rows of one tenant; within `transaction`, as part of that transaction. */
  forTenant(tenantId: string): TenantDb;
  /**
   * Makes everything that `work` does to the tenant's rows one transaction, whoever calls `forTenant`: for work
   * that consists of operations of services. Nested ones are part of it.
   */
  transaction<T>(tenantId: string, work: (db: TenantDb) => Promise<T>): Promise<T>;
  /** For statements that concern no tenant or all of them. Connects with the first query. */
  readonly pool: Pool;
  /** The pools by name: `primary`, and `replica` if there is a read replica. */
  readonly pools: Readonly<Record<string, Pool>>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Whether both URLs point to PgBouncer in transaction mode. */
  readonly pooler?: boolean;
  /** The URL of PostgreSQL itself, of the primary. */
  readonly directUrl?: string | undefined;
  /** Whether the statements of a tenant run under row-level security. */
  readonly rowSecurity: boolean;
  /** Whether Citus distributes the tables; `url` is then that of the coordinator. */
  readonly distributed?: boolean | undefined;
  /** The URL of a read replica for lists and exports. */
  readonly readUrl?: string | undefined;
  /** Whether changes are also published as events to the broker. */
  readonly publishesEvents?: boolean | undefined;
  /** Where the service's replicas share which changes a tenant's reads must include. */
  readonly redis?: RedisConnection | undefined;
}

/** The first number of the advisory locks that take two numbers. */
export const advisoryLocks = {
  /** One replica deletes expired idempotency keys. */
  idempotencyKeys: 0x1de0,
  /** One replica removes the values of deleted custom fields. */
  valueRemoval: 0x1de1,
  /** One replica deletes expired chat events. */
  chatEvents: 0x1de2,
  /** One replica compares the file store with the tables. */
  fileSweep: 0x1de4,
  /** One replica reads the outbox for each sink; the second number is the sink. */
  outbox: 0x1de5,
  /** One replica deletes expired webhook deliveries. */
  webhooks: 0x1de6,
} as const;

export const migrations = new URL('../prisma/migrations', import.meta.url);

const SCHEMA = 'tenant_crm';

/** How the rows of a tenant are accessed. */
export const tenantAccess = (
  options: Pick<DatabaseOptions, 'rowSecurity' | 'publishesEvents' | 'distributed'>,
) => ({
  role: options.rowSecurity ? TENANT_ROLE : undefined,
  readSchema: options.rowSecurity ? 'tenant_rows' : SCHEMA,
  // The trigger that fills the outbox reads it.
  settings: options.publishesEvents ? { 'tessera.publishes_events': 'on' } : undefined,
  carriesTrace: options.publishesEvents && isTracing(),
  distributed: options.distributed,
});

/** The schema that belongs to the job queue alone. */
export const JOB_SCHEMA = 'crm_jobs';

const openPool = (
  url: string,
  { poolSize: size, pooler, directUrl }: DatabaseOptions,
  logger: Logger,
): Pool =>
  createPool(url, {
    applicationName: 'crm',
    size,
    pooler,
    directUrl,
    schema: SCHEMA,
    // Search terms differ too much for a generic plan, which takes seconds instead of a millisecond for rare
    // terms.
    planCacheMode: 'force_custom_plan',
    onConnectionLost: (err) => logger.warn({ err }, 'database connections were lost'),
  });

const openReplica = (primary: Pool, readUrl: string, options: DatabaseOptions, logger: Logger) => {
  const { redis } = options;
  // `directUrl` is not the replica's.
  const pool = openPool(readUrl, { ...options, directUrl: undefined }, logger);
  const probes = openPool(readUrl, { ...options, directUrl: undefined, poolSize: 1 }, logger);
  const positions = redis ? redisPositions(redis, 'tessera:crm:written:') : memoryPositions();
  const onFailure = (err: unknown): void =>
    logger.warn({ err }, 'the read replica is not used for some seconds');
  return {
    pool,
    replica: new Replica({ primary, replica: pool, probes, positions, onFailure }),
    async close() {
      await probes.end();
      await pool.end();
    },
  };
};

/** Gives access to the database; nothing connects before the first query. */
export const createDatabase = (options: DatabaseOptions, logger: Logger): Database => {
  const { url, readUrl } = options;
  const pool = openPool(url, options, logger);
  const reading = readUrl ? openReplica(pool, readUrl, options, logger) : undefined;
  const ofTenant = createTenantDbs(pool, {
    ...tenantAccess(options),
    replica: reading?.replica,
  });
  const transactions = new AsyncLocalStorage<TenantDb>();
  const forTenant = (tenantId: string): TenantDb => {
    const current = transactions.getStore();
    return current?.tenantId === tenantId ? current : ofTenant(tenantId);
  };
  return {
    pool,
    pools: { primary: pool, ...(reading && { replica: reading.pool }) },
    forTenant,
    transaction: (tenantId, work) =>
      forTenant(tenantId).transaction((db) => transactions.run(db, () => work(db))),
    async close() {
      await reading?.close();
      await pool.end();
    },
  };
};
