import {
  createAdapter,
  createPool,
  createReader,
  createTenantDb,
  type TenantDb,
} from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

export type { TenantDb };

/** Where rows are: the database, or a transaction that several changes share. */
export interface Db {
  /** The tables, through Prisma. */
  readonly tables: Prisma.TransactionClient;
  /** The rows that a statement gives, which only reads. */
  read<R>(statement: Prisma.Sql): Promise<R[]>;
  /** Does all of it or nothing; within a transaction, as part of that one. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Reads everything as of one moment; within a transaction, as that one sees it. */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

export interface Database extends Db {
  /** The rows of one tenant. */
  forTenant(tenantId: string): TenantDb;
  /** What lies below; it connects with the first query. */
  readonly pool: Pool;
  close(): Promise<void>;
}

export const migrations = new URL('../prisma/migrations', import.meta.url);

const LONGEST_TRANSACTION_MS = 30_000;

const within = (tables: Prisma.TransactionClient): Db => {
  const db: Db = {
    tables,
    read: (statement) => tables.$queryRaw(statement),
    transaction: (work) => work(db),
    snapshot: (work) => work(db),
  };
  return db;
};

/** Gives access to the database; nothing connects before the first query. */
export const createDatabase = (
  { url, poolSize }: { readonly url: string; readonly poolSize: number },
  logger: Logger,
): Database => {
  const pool = createPool(url, {
    applicationName: 'crm',
    size: poolSize,
    schema: 'tenant_crm',
    // A plan that suits every term is a bad one for the rare ones: seconds instead of a millisecond.
    planCacheMode: 'force_custom_plan',
    onConnectionLost: (err) => logger.warn({ err }, 'an idle database connection was lost'),
  });
  const prisma = new PrismaClient({ adapter: createAdapter(pool) });
  const timeout = LONGEST_TRANSACTION_MS;
  return {
    pool,
    forTenant: (tenantId) => createTenantDb(pool, tenantId),
    tables: prisma,
    read: createReader(pool),
    transaction: (work) => prisma.$transaction((tables) => work(within(tables)), { timeout }),
    snapshot: (work) =>
      prisma.$transaction((tables) => work(within(tables)), {
        timeout,
        isolationLevel: 'RepeatableRead',
      }),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
};
