import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { columnTypes } from './column-types.ts';
import { PoolerClient } from './pooler-client.ts';
import { closeStalledConnections } from './stalled-connections.ts';
import { boundStatements, statementName } from './statements.ts';

export interface PoolOptions {
  /** What `pg_stat_activity` shows. */
  applicationName: string;
  /** Most connections at once. Default 10. */
  size?: number;
  /** How long a query waits for a connection, in milliseconds. Default 5,000. */
  connectionTimeout?: number;
  /** How long the server lets a statement run, in milliseconds. Default 30,000. */
  statementTimeout?: number;
  /** The schema whose tables raw SQL may name without it; `public` follows. */
  schema?: string;
  /** `force_custom_plan` where a plan that suits every value would be a bad one, as in searches. */
  planCacheMode?: 'auto' | 'force_custom_plan' | 'force_generic_plan';
  /**
   * Whether the URL leads to PgBouncer in transaction mode. Statements are then not prepared by name, and
   * the timeouts, `schema` and `planCacheMode` are for PgBouncer's `connect_query` to set.
   */
  pooler?: boolean | undefined;
  /**
   * With `pooler`, the URL of the server itself, which is asked whether it still answers. Without it, or if it is the
   * same URL, nobody is: PgBouncer lets a client wait when the server is merely busy.
   */
  directUrl?: string | undefined;
  /** Called when an idle connection breaks, or the server stops answering. The pool opens new connections itself. */
  onConnectionLost?: (error: Error) => void;
}

const CONNECTION_LIFETIME_SECONDS = 3600;
/** How long a connection is in use before the server is asked whether it still answers. */
const PROBE_AFTER_MS = 2000;
/** How long the server has to answer that. */
const PROBE_TIMEOUT_MS = 3000;
const IDLE_IN_TRANSACTION_MS = 60_000;

/** Where the server itself is asked whether it answers; undefined if the only address known is that of PgBouncer. */
const probedUrl = (url: string, { pooler, directUrl }: PoolOptions): string | undefined => {
  if (!pooler) return url;
  return directUrl === url ? undefined : directUrl;
};

/**
 * A pool that connects with the first query and reads rows as `columnTypes` says. Its owner ends it, after
 * `$disconnect()`. If the server stops answering, queries fail within seconds; see `closeStalledConnections`.
 */
export function createPool(url: string, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...(options.pooler && { Client: PoolerClient as unknown as typeof pg.Client }),
    connectionString: url,
    application_name: options.applicationName,
    max: options.size ?? 10,
    connectionTimeoutMillis: options.connectionTimeout ?? 5000,
    statement_timeout: options.statementTimeout ?? 30_000,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
    keepAlive: true,
    types: columnTypes,
    options: [
      // The adapter of Prisma takes every time for one in UTC, whatever zone the server writes it in.
      '-c TimeZone=UTC',
      ...(options.schema ? [`-c search_path=${options.schema},public`] : []),
      ...(options.planCacheMode ? [`-c plan_cache_mode=${options.planCacheMode}`] : []),
    ].join(' '),
  });
  pool.on('connect', (client) => boundStatements(client));
  // Without a listener the end of an idle connection would end the process.
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

/** What `new PrismaClient({ adapter })` takes. Queries are prepared once for each connection. */
export function createAdapter(pool: pg.Pool): PrismaPg {
  return new SequentialAdapter(pool, { statementNameGenerator: ({ sql }) => statementName(sql) });
}

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;
type Transaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/**
 * Sends the queries of a transaction one after the other. Prisma reads the relations of a record all at once,
 * also in a transaction, which has one connection: pg deprecates that and will refuse it in version 9.
 */
class SequentialAdapter extends PrismaPg {
  override async connect(): Promise<Adapter> {
    const adapter = await super.connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => oneAtATime(await start(isolation));
    return adapter;
  }
}

function oneAtATime(transaction: Transaction): Transaction {
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
