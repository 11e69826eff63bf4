import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createPool,
  createTenantDbs,
  type FairPool,
  memoryPositions,
  type ReadOptions,
  Replica,
  type RowFormat,
  redisPositions,
  type TenantDb,
} from '@tessera/database-kit';
import type { Logger, RedisConnection } from '@tessera/http-kit';
import { isTracing } from '@tessera/telemetry';
import { TENANT_ROLE } from './row-level-security.ts';

export type { ReadOptions, RowFormat, TenantDb };

/** The rows of all tenants, on the connections of one kind of work. */
export interface Connections {
  /** The rows of one tenant; within `transaction`, as part of that transaction. */
  forTenant(tenantId: string): TenantDb;
  /**
   * Makes everything that `work` does to the tenant's rows one transaction, whoever calls `forTenant`: for work
   * that consists of operations of services. Nested ones are part of it.
   */
  transaction<T>(tenantId: string, work: (db: TenantDb) => Promise<T>): Promise<T>;
  /** For statements that concern no tenant or all of them. Connects with the first query. */
  readonly pool: FairPool;
}

/**
 * The rows of all tenants, on the connections of requests. Other work has pools of its own, so that requests never wait
 * for it. Whoever calls `forTenant`, it joins the transaction of `transaction`. In each pool, a tenant has the share that
 * `FairPool` describes; statements that concern no tenant together have that of one.
 */
export interface Database extends Connections {
  /** For jobs, sweeps and what follows events. */
  readonly background: Connections;
  /** For the deliveries of webhooks, of which many run at a time. */
  readonly deliveries: Connections;
  /** The pools by name: `primary` for requests, `background`, `deliveries`, and `replica` if there is a read replica. */
  readonly pools: Readonly<Record<string, FairPool>>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections for requests. */
  readonly poolSize: number;
  /** Connections for background work; deliveries of webhooks have half as many more. Default 8. */
  readonly backgroundPoolSize?: number;
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

const BACKGROUND_POOL_SIZE = 8;
/**
 * How long a statement of a list, search, count or page of an export may take, in milliseconds. Their indexes and limits make
 * them take much less. Changes and background work have the time limit of the pool (30 seconds).
 */
const READ_TIMEOUT_MS = 5000;

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
): FairPool =>
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

const openReplica = (
  primary: FairPool,
  readUrl: string,
  options: DatabaseOptions,
  logger: Logger,
) => {
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
  const { url, readUrl, backgroundPoolSize: size = BACKGROUND_POOL_SIZE } = options;
  const primary = openPool(url, options, logger);
  const background = openPool(url, { ...options, poolSize: size }, logger);
  const deliveries = openPool(url, { ...options, poolSize: Math.ceil(size / 2) }, logger);
  const reading = readUrl ? openReplica(primary, readUrl, options, logger) : undefined;
  const transactions = new AsyncLocalStorage<TenantDb>();
  const connectionsOf = (pool: FairPool, readTimeout?: number): Connections => {
    const access = { ...tenantAccess(options), replica: reading?.replica, readTimeout };
    const ofTenant = createTenantDbs(pool, access);
    const forTenant = (tenantId: string): TenantDb => {
      const current = transactions.getStore();
      return current?.tenantId === tenantId ? current : ofTenant(tenantId);
    };
    return {
      pool,
      forTenant,
      transaction: (tenantId, work) =>
        forTenant(tenantId).transaction((db) => transactions.run(db, () => work(db))),
    };
  };
  return {
    ...connectionsOf(primary, READ_TIMEOUT_MS),
    background: connectionsOf(background),
    deliveries: connectionsOf(deliveries),
    pools: { primary, background, deliveries, ...(reading && { replica: reading.pool }) },
    async close() {
      await reading?.close();
      await Promise.all([deliveries.end(), background.end(), primary.end()]);
    },
  };
};
