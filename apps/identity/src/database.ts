import { CONNECTION_TIMEOUT_MS, createAdapter, createPool } from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
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

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Whether the URL leads to PgBouncer in transaction mode. */
  readonly pooler?: boolean;
  /** The URL of PostgreSQL itself. */
  readonly directUrl?: string;
}

/** The client and the pool below it; neither connects before the first query. */
export const createDatabase = (
  { url, poolSize, pooler, directUrl }: DatabaseOptions,
  logger: Logger,
): { pool: Pool; database: Database } => {
  const pool = createPool(url, {
    applicationName: 'identity',
    size: poolSize,
    pooler,
    directUrl,
    onConnectionLost: (err) => logger.warn({ err }, 'database connections were lost'),
  });
  return {
    pool,
    database: new PrismaClient({
      adapter: createAdapter(pool),
      // As long as the pool.
      transactionOptions: { maxWait: CONNECTION_TIMEOUT_MS },
    }),
  };
};
