import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { columnTypes } from './column-types.ts';
import { FairPool } from './fair-pool.ts';
import { PoolerClient } from './pooler-client.ts';
import { traceClient, tracePool } from './spans.ts';
import { closeStalledConnections } from './stalled-connections.ts';
import { boundStatements, statementName } from './statements.ts';

export interface PoolOptions {
  /** The application name in `pg_stat_activity`. */
  applicationName: string;
  /** Maximum number of connections. Default 10. */
  size?: number;
  /** Milliseconds that a query waits for its turn, and then for a connection. Default 5,000. */
  connectionTimeout?: number;
  /** Whose share of the connections a call uses if it does not say; see `FairPool`. */
  keyOf?: () => string;
  /** `statement_timeout` in milliseconds. Default 30,000. */
  statementTimeout?: number;
  /** The first schema of the search path, before `public`. */
  schema?: string;
  /** `force_custom_plan` if a generic plan would be bad, as in searches. */
  planCacheMode?: 'auto' | 'force_custom_plan' | 'force_generic_plan';
  /**
   * Whether the URL is that of PgBouncer in transaction mode. Statements are then not prepared by name, and the
   * timeouts, `schema` and `planCacheMode` must be set by PgBouncer's `connect_query`.
   */
  pooler?: boolean | undefined;
  /**
   * With `pooler`, the URL of the server itself, for the liveness check. Without it, or if it is the same URL, there
   * is no check: PgBouncer also makes clients wait if the server is only busy.
   */
  directUrl?: string | undefined;
  /** Called when an idle connection breaks or the server stops responding. The pool opens new connections itself. */
  onConnectionLost?: (error: Error) => void;
}

/** How long a query waits for a connection by default, in milliseconds. */
export const CONNECTION_TIMEOUT_MS = 5000;

const CONNECTION_LIFETIME_SECONDS = 3600;
/** How long a connection is in use before the server is probed. */
const PROBE_AFTER_MS = 2000;
/** How long the server may take to answer a probe. */
const PROBE_TIMEOUT_MS = 3000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** How long a statement waits for a lock, which others of its tenant may hold. */
const LOCK_TIMEOUT_MS = 5000;

/** The URL for the liveness check; undefined if only the URL of PgBouncer is known. */
const probedUrl = (url: string, { pooler, directUrl }: PoolOptions): string | undefined => {
  if (!pooler) return url;
  return directUrl === url ? undefined : directUrl;
};

/**
 * Creates a pool that connects with the first query and parses columns by `columnTypes`. The caller ends it, after
 * `$disconnect()`. If the server stops responding, queries fail within seconds; see `closeStalledConnections`.
 */
export function createPool(url: string, options: PoolOptions): FairPool {
  const pool = new FairPool({
    keyOf: options.keyOf,
    ...(options.pooler && { Client: PoolerClient as unknown as typeof pg.Client }),
    connectionString: url,
    application_name: options.applicationName,
    max: options.size ?? 10,
    connectionTimeoutMillis: options.connectionTimeout ?? CONNECTION_TIMEOUT_MS,
    statement_timeout: options.statementTimeout ?? 30_000,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
    keepAlive: true,
    types: columnTypes,
    options: [
      // Prisma's adapter parses every time as UTC, whatever time zone the server writes.
      '-c TimeZone=UTC',
      ...(options.schema ? [`-c search_path=${options.schema},public`] : []),
      ...(options.planCacheMode ? [`-c plan_cache_mode=${options.planCacheMode}`] : []),
    ].join(' '),
  });
  pool.on('connect', (client) => {
    boundStatements(client);
    traceClient(client);
  });
  tracePool(pool);
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', (error) => options.onConnectionLost?.(error));
  const connectionString = probedUrl(url, options);
  if (connectionString !== undefined) {
    closeStalledConnections(
      pool,
      { connectionString },
      {
        probeAfterMs: PROBE_AFTER_MS,
        probeTimeoutMs: PROBE_TIMEOUT_MS,
        onStalled: (error) => options.onConnectionLost?.(error),
      },
    );
  }
  return pool;
}

/** Creates the adapter for `new PrismaClient({ adapter })`. Queries are prepared once per connection. */
export function createAdapter(pool: pg.Pool): PrismaPg {
  return new SequentialAdapter(pool, { statementNameGenerator: ({ sql }) => statementName(sql) });
}

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;
type Transaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/**
 * Sends the queries of a transaction one after the other. Prisma reads the relations of a record concurrently, even
 * on the one connection of a transaction, which pg deprecates and will reject in version 9.
 */
class SequentialAdapter extends PrismaPg {
  override async connect(): Promise<Adapter> {
    const adapter = await super.connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => sequential(await start(isolation));
    return adapter;
  }
}

function sequential(transaction: Transaction): Transaction {
  const [queryRaw, executeRaw] = [
    transaction.queryRaw.bind(transaction),
    transaction.executeRaw.bind(transaction),
  ];
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(query: () => Promise<T>): Promise<T> => {
    const result = last.then(query, query);
    last = result;
    return result;
  };
  transaction.queryRaw = (query) => inTurn(() => queryRaw(query));
  transaction.executeRaw = (query) => inTurn(() => executeRaw(query));
  return transaction;
}
