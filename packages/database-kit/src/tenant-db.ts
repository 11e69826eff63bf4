import type pg from 'pg';
import { type Statement, toQuery } from './statements.ts';
import { type RunStatement, runTransaction } from './transaction.ts';

/**
 * One tenant's rows: in the database, or within a transaction. Columns are named as in SQL and read as
 * `columnTypes` says. A value for a `jsonb` column is passed as JSON text; an array is an SQL array.
 */
export interface TenantDb {
  readonly tenantId: string;
  /** The rows that a statement gives (any statement), from the primary. */
  query<R>(statement: Statement): Promise<R[]>;
  /** As `query`, for lists and exports: may be answered by a replica that has this tenant's last change. */
  read<R>(statement: Statement): Promise<R[]>;
  /** All of it or nothing; within a transaction, as part of that one. */
  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
  /** Reads everything as of one moment and changes nothing; within a transaction, as that one sees it. */
  snapshot<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
}

const LONGEST_TRANSACTION_MS = 30_000;

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** What statements of a transaction go through; nested ones are part of it. */
const within = (tenantId: string, run: RunStatement): TenantDb => {
  const db: TenantDb = {
    tenantId,
    query: run,
    read: run,
    transaction: (work) => work(db),
    snapshot: (work) => work(db),
  };
  return db;
};

/** Gives access to the rows of one tenant, through a pool. A transaction may last 30 seconds. */
export const createTenantDb = (
  pool: pg.Pool,
  tenantId: string,
  timeLimit = LONGEST_TRANSACTION_MS,
): TenantDb => {
  const query: RunStatement = async <R>(statement: Statement) =>
    (await pool.query(toQuery(statement))).rows as R[];
  const begun =
    (begin: string) =>
    <T>(work: (db: TenantDb) => Promise<T>): Promise<T> =>
      runTransaction(pool, { begin, timeLimit }, (run) => work(within(tenantId, run)));
  return {
    tenantId,
    query,
    read: query,
    transaction: begun('BEGIN'),
    snapshot: begun(SNAPSHOT),
  };
};
