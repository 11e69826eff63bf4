import {
  CONNECTION_TIMEOUT_MS,
  createAdapter,
  createPool,
  type FairPool,
} from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import { connectionShare } from './connection-share.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

export type Database = PrismaClient;
/** An interactive transaction of Prisma. */
export type Transaction = Prisma.TransactionClient;

/**
 * Every advisory lock of identity's database, so that no two uses share a number. The first group takes two
 * numbers, of which the second is chosen where the lock is taken; the second group takes one.
 */
export const advisoryLocks = {
  /** One change of who administers the platform at a time. */
  administrators: 0x0ad1,
  /** Events with the same key commit in the order of their ids. */
  eventOrder: 0x0b0c,
  /** One replica writes the built-in roles when several start. */
  builtInRoles: 0x0b1e,
  /** One replica deletes expired rows. */
  housekeeping: 0x0c1e,
  /** One call to deployment automation at a time for each tenant. */
  deploymentCalls: 0x0de9,

  /** One replica relays events to the broker. */
  relay: 0x0e7e55e4,
  /** One replica changes the signing keys. */
  signingKeys: 0x0e7e55e5,
} as const;

export const migrations = new URL('../prisma/migrations', import.meta.url);

/**
 * How long a statement may take, in milliseconds. All of them find rows by an index or work in batches; those that may take longer
 * set their own time limit.
 */
const STATEMENT_TIMEOUT_MS = 10_000;

export interface DatabaseOptions {
  readonly url: string;
  /** Connections for requests. */
  readonly poolSize: number;
  /** Connections for background work. Default 8. */
  readonly backgroundPoolSize?: number;
  /** Whether the URL leads to PgBouncer in transaction mode. */
  readonly pooler?: boolean;
  /** The URL of PostgreSQL itself. */
  readonly directUrl?: string;
}

const BACKGROUND_POOL_SIZE = 8;

export interface Databases {
  /** Prisma's client, on the connections of `pool`. */
  readonly database: Database;
  /**
   * The connections of requests. Each request uses the share of its tenant, account or address (`connectionShare`), and
   * what follows requests through `database` has one share.
   */
  readonly pool: FairPool;
  /** The connections of background work, so that it does not wait for requests, nor they for it. */
  readonly background: FairPool;
  close(): Promise<void>;
}

/** The client and the pools; nothing connects before the first query. */
export const createDatabase = (
  { url, poolSize, backgroundPoolSize = BACKGROUND_POOL_SIZE, pooler, directUrl }: DatabaseOptions,
  logger: Logger,
): Databases => {
  const open = (size: number): FairPool =>
    createPool(url, {
      applicationName: 'identity',
      size,
      keyOf: connectionShare,
      statementTimeout: STATEMENT_TIMEOUT_MS,
      pooler,
      directUrl,
      onConnectionLost: (err) => logger.warn({ err }, 'database connections were lost'),
    });
  const [pool, background] = [open(poolSize), open(backgroundPoolSize)];
  const database = new PrismaClient({
    adapter: createAdapter(pool),
    // The pool decides: a transaction waits for its turn among transactions, then among all work, then for a connection.
    transactionOptions: { maxWait: 3 * CONNECTION_TIMEOUT_MS },
  });
  return {
    pool,
    background,
    database,
    async close() {
      await database.$disconnect();
      await Promise.all([background.end(), pool.end()]);
    },
  };
};
