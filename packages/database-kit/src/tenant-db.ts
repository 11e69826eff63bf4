import type pg from 'pg';
import type { Replica } from './replica.ts';
import { type Statement, toQuery } from './statements.ts';
import { type Preamble, TenantQuery } from './tenant-query.ts';
import { type RunStatement, runTransaction, TransactionTimeout } from './transaction.ts';

export interface QueryOptions {
  /**
   * Plans the statement once per connection, for all values and without sorting (`plan_cache_mode` and
   * `enable_sort` of PostgreSQL), which halves the cost of a short statement. Only for statements that find a row
   * by its key, or the first rows of an index by a LIMIT in their text. Ignored within a transaction.
   */
  readonly planOnce?: boolean;
}

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
  /**
   * The rows that a statement gives (any statement), from the primary. PostgreSQL decides whether to keep its plan,
   * whatever `planCacheMode` of the pool says: otherwise it would also plan the statements of triggers and of
   * functions in SQL anew for each row, which takes longer than writing the row.
   */
  query<R>(statement: Statement, options?: QueryOptions): Promise<R[]>;
  /**
   * For lists and exports: planned as the pool says, and may be answered by a replica that has this tenant's last
   * change.
   */
  read<R>(statement: Statement, options?: QueryOptions): Promise<R[]>;
  /** All of it or nothing; within a transaction, as part of that one. Plans are kept as by `query`. */
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

const MAX_TRANSACTION_MS = 30_000;

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ROLE = /^[a-z_]+$/;

/** The SQL that makes a transaction the tenant's, where `tenant` is SQL. */
const enterTenant = (role: string, tenant: string): string =>
  `SELECT set_config('role', '${role}', true), set_config('tessera.tenant_id', ${tenant}, true)`;

const PLAN_ONCE = `set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('enable_sort', 'off', true)`;
const KEEP_PLANS = "set_config('plan_cache_mode', 'auto', true)";

/** What precedes the statements of a role, or of the connection's own user. */
interface Preambles {
  readonly query: Preamble;
  readonly read: Preamble | undefined;
  readonly planOnce: Preamble;
}

const createPreambles = (role: string | undefined): Preambles => {
  if (role === undefined) {
    return {
      query: { name: 'keep_plans', text: `SELECT ${KEEP_PLANS}` },
      read: undefined,
      planOnce: { name: 'plan_once', text: `SELECT ${PLAN_ONCE}` },
    };
  }
  const enter = enterTenant(role, '$1');
  return {
    query: { name: 'enter_tenant_keep_plans', text: `${enter}, ${KEEP_PLANS}` },
    read: { name: 'enter_tenant', text: enter },
    planOnce: { name: 'enter_tenant_plan_once', text: `${enter}, ${PLAN_ONCE}` },
  };
};

/** What statements of a transaction go through; nested ones are part of it. */
const within = (about: Pick<TenantDb, 'tenantId' | 'readSchema'>, run: RunStatement): TenantDb => {
  const db: TenantDb = {
    tenantId: about.tenantId,
    readSchema: about.readSchema,
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

/** What the rows of all tenants are reached through. */
interface Source {
  readonly pool: pg.Pool;
  readonly role: string | undefined;
  readonly preambles: Preambles;
  readonly replica: Replica | undefined;
  readonly timeLimit: number;
}

/** One is made for each request, so its methods are shared. */
class PooledTenantDb implements TenantDb {
  readonly tenantId: string;
  readonly readSchema: string;
  readonly #source: Source;
  readonly #parameters: readonly string[];

  constructor(source: Source, tenantId: string, readSchema: string) {
    this.tenantId = tenantId;
    this.readSchema = readSchema;
    this.#source = source;
    this.#parameters = source.role === undefined ? [] : [tenantId];
  }

  async query<R>(statement: Statement, options?: QueryOptions): Promise<R[]> {
    const { pool, replica } = this.#source;
    const { query, planOnce } = this.#source.preambles;
    const preamble = options?.planOnce ? planOnce : query;
    const { rows, command } = await this.#send(pool, statement, preamble);
    if (replica && mayWrite(statement.text, command)) await replica.wrote(this.tenantId);
    return rows as R[];
  }

  async read<R>(statement: Statement, options?: QueryOptions): Promise<R[]> {
    const { pool, replica, preambles } = this.#source;
    const preamble = options?.planOnce ? preambles.planOnce : preambles.read;
    if (replica && (await replica.has(this.tenantId))) {
      try {
        return (await this.#send(replica.pool, statement, preamble)).rows as R[];
      } catch (error) {
        if (!replica.refused(error)) throw error;
      }
    }
    return (await this.#send(pool, statement, preamble)).rows as R[];
  }

  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T> {
    const { pool, replica } = this.#source;
    const onCommit = replica && ((position: string) => replica.wrote(this.tenantId, position));
    return this.#run(pool, `BEGIN; SELECT ${KEEP_PLANS}`, work, onCommit);
  }

  async snapshot<T>(work: (db: TenantDb) => Promise<T>): Promise<T> {
    const { pool, replica } = this.#source;
    if (replica && (await replica.has(this.tenantId))) {
      try {
        return await this.#run(replica.pool, SNAPSHOT, work);
      } catch (error) {
        // Another one on the primary would take as long.
        if (error instanceof TransactionTimeout || !replica.refused(error)) throw error;
      }
    }
    return this.#run(pool, SNAPSHOT, work);
  }

  #send(
    pool: pg.Pool,
    statement: Statement,
    preamble: Preamble | undefined,
  ): Promise<pg.QueryResult> {
    return pool.query(
      preamble ? new TenantQuery(statement, preamble, this.#parameters) : toQuery(statement),
    );
  }

  #run<T>(
    pool: pg.Pool,
    begin: string,
    work: (db: TenantDb) => Promise<T>,
    onCommit?: (position: string) => Promise<void>,
  ): Promise<T> {
    const { role, timeLimit } = this.#source;
    const entered = role ? `${begin}; ${enterTenant(role, `'${this.tenantId}'`)}` : begin;
    return runTransaction(pool, { begin: entered, timeLimit, onCommit }, (run) =>
      work(within(this, run)),
    );
  }
}

/**
 * Gives access to the rows of single tenants, through a pool. The returned function throws a TypeError if the id
 * is not a UUID.
 */
export const createTenantDbs = (
  pool: pg.Pool,
  options: TenantDbOptions = {},
): ((tenantId: string) => TenantDb) => {
  const { readSchema = 'public', role, replica, timeLimit = MAX_TRANSACTION_MS } = options;
  if (role !== undefined && !ROLE.test(role)) {
    throw new TypeError('The name of a role consists of lower-case letters and underscores');
  }
  const source: Source = { pool, role, preambles: createPreambles(role), replica, timeLimit };
  return (tenantId) => {
    if (!UUID.test(tenantId)) throw new TypeError('The id of a tenant must be a UUID');
    return new PooledTenantDb(source, tenantId, readSchema);
  };
};

/** Gives access to the rows of one tenant; see `createTenantDbs`. */
export const createTenantDb = (
  pool: pg.Pool,
  tenantId: string,
  options?: TenantDbOptions,
): TenantDb => createTenantDbs(pool, options)(tenantId);
