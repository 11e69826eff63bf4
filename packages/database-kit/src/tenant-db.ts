import type pg from 'pg';
import type { Replica } from './replica.ts';
import { type Statement, toQuery } from './statements.ts';
import { TenantQuery } from './tenant-query.ts';
import { type RunStatement, runTransaction, TransactionTimeout } from './transaction.ts';

/**
 * One tenant's rows: in the database, or within a transaction. Columns are named as in SQL and read as
 * `columnTypes` says. A value for a `jsonb` column is passed as JSON text; an array is an SQL array.
 */
export interface TenantDb {
  readonly tenantId: string;
  /**
   * The schema to read lists from: its tables, or views of them with the same names. Behind a policy LIKE
   * and the operators of arrays use no index; such views show the tenant's rows and are no barrier.
   */
  readonly readSchema: string;
  /** The rows that a statement gives (any statement), from the primary. */
  query<R>(statement: Statement): Promise<R[]>;
  /** As `query`, for lists and exports: may be answered by a replica that has this tenant's last change. */
  read<R>(statement: Statement): Promise<R[]>;
  /** All of it or nothing; within a transaction, as part of that one. */
  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
  /**
   * Reads everything as of one moment and changes nothing; within a transaction, as that one sees it. `work`
   * runs again, on the primary, where the replica fails meanwhile.
   */
  snapshot<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
}

export interface TenantDbOptions {
  /** Default `public`. */
  readonly readSchema?: string;
  /**
   * The role that statements run as, with the tenant's id in the setting `tessera.tenant_id`: the one that
   * row-level security applies to. Without it they run as the user of the connection.
   */
  readonly role?: string | undefined;
  /** Answers `read` and `snapshot` where it has the tenant's last change. */
  readonly replica?: Replica | undefined;
  /** How long a transaction may take, in milliseconds. Default 30,000. */
  readonly timeLimit?: number;
}

const LONGEST_TRANSACTION_MS = 30_000;

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ROLE = /^[a-z_]+$/;

/** The SQL that makes a transaction the tenant's, where `tenant` is SQL. */
const enterTenant = (role: string, tenant: string): string =>
  `SELECT set_config('role', '${role}', true), set_config('tessera.tenant_id', ${tenant}, true)`;

/** What statements of a transaction go through; nested ones are part of it. */
const within = (about: Pick<TenantDb, 'tenantId' | 'readSchema'>, run: RunStatement): TenantDb => {
  const db: TenantDb = {
    ...about,
    query: run,
    read: run,
    transaction: (work) => work(db),
    snapshot: (work) => work(db),
  };
  return db;
};

/** Whether a statement may have changed rows; a common table expression may, too. */
const mayWrite = (text: string, command: string): boolean =>
  command !== 'SELECT' || /\b(?:insert|update|delete|merge)\b/i.test(text);

/** Gives access to the rows of one tenant, through a pool. Throws a TypeError where the id is no UUID. */
export const createTenantDb = (
  pool: pg.Pool,
  tenantId: string,
  options: TenantDbOptions = {},
): TenantDb => {
  const { readSchema = 'public', role, replica, timeLimit = LONGEST_TRANSACTION_MS } = options;
  if (!UUID.test(tenantId)) throw new TypeError('The id of a tenant must be a UUID');
  if (role && !ROLE.test(role)) throw new TypeError('The name of the role does not fit');
  const about = { tenantId, readSchema };
  const enter = role && enterTenant(role, '$1');

  const send = (from: pg.Pool, statement: Statement): Promise<pg.QueryResult> =>
    from.query(enter ? new TenantQuery(statement, enter, tenantId) : toQuery(statement));

  const query: RunStatement = async <R>(statement: Statement) => {
    const { rows, command } = await send(pool, statement);
    if (replica && mayWrite(statement.text, command)) await replica.wrote(tenantId);
    return rows as R[];
  };

  const begun = <T>(
    from: pg.Pool,
    begin: string,
    work: (db: TenantDb) => Promise<T>,
    onCommit?: (position: string) => Promise<void>,
  ): Promise<T> => {
    const entered = role ? `${begin}; ${enterTenant(role, `'${tenantId}'`)}` : begin;
    return runTransaction(from, { begin: entered, timeLimit, onCommit }, (run) =>
      work(within(about, run)),
    );
  };

  return {
    ...about,
    query,

    async read<R>(statement: Statement) {
      if (replica && (await replica.has(tenantId))) {
        try {
          return (await send(replica.pool, statement)).rows as R[];
        } catch (error) {
          if (!replica.refused(error)) throw error;
        }
      }
      return (await send(pool, statement)).rows as R[];
    },

    transaction: (work) =>
      begun(pool, 'BEGIN', work, replica && ((position) => replica.wrote(tenantId, position))),

    async snapshot(work) {
      if (replica && (await replica.has(tenantId))) {
        try {
          return await begun(replica.pool, SNAPSHOT, work);
        } catch (error) {
          // Another one on the primary would take as long.
          if (error instanceof TransactionTimeout || !replica.refused(error)) throw error;
        }
      }
      return begun(pool, SNAPSHOT, work);
    },
  };
};
