import { isUuid } from '@tessera/fields';
import { currentTraceparent } from '@tessera/telemetry';
import pg from 'pg';
import { DistributedTenantDb, forwardSettings } from './distributed-tenant-db.ts';
import type { FairPool } from './fair-pool.ts';
import type { Replica } from './replica.ts';
import { type RowFormat, rowsIn } from './row-format.ts';
import { type Statement, toQuery } from './statements.ts';
import { type Preamble, TenantQuery } from './tenant-query.ts';
import { runTransaction, TransactionTimeout } from './transaction.ts';
import { within } from './within-transaction.ts';

export interface QueryOptions {
  /**
   * Plans the statement once per connection, with a generic plan that reads indexes in order (`plan_cache_mode`,
   * `enable_sort` and the settings of `byIndex`), which halves the cost of a short statement. Only for statements
   * with one index that suits every value and any size of the table. Ignored in a transaction.
   */
  readonly planOnce?: boolean;
}

export interface ReadOptions<R = unknown> extends QueryOptions {
  /**
   * Reads tables through indexes wherever one can be used, and does not compile the statement (`enable_seqscan`,
   * `random_page_cost` and `jit` of PostgreSQL). For statements that stop after some rows: a scan of a table that
   * tenants share may read the rows of all others first. Ignored within a transaction; always the case in a snapshot,
   * and without Citus with `planOnce`.
   */
  readonly byIndex?: boolean;
  /** Default: objects, whose values are parsed by `columnTypes`. */
  readonly format?: RowFormat<R> | undefined;
}

/**
 * Access to the rows of one tenant, in the database or in a transaction. Connections are the tenant's share of its pool;
 * see `FairPool`. Columns have their SQL names and are
 * parsed by `columnTypes`. Pass values for `jsonb` columns as JSON text; an array is an SQL array.
 */
export interface TenantDb {
  readonly tenantId: string;
  /**
   * The schema to read lists from: its tables, or views with the same names. A row-level security policy keeps LIKE
   * and array operators from using an index; these views filter by tenant without being a security barrier.
   */
  readonly readSchema: string;
  /**
   * Runs any statement on the primary and returns its rows. PostgreSQL may keep its plan, whatever `planCacheMode`
   * the pool has: otherwise it would plan the statements of triggers and SQL functions again for each row, which takes
   * longer than writing the row.
   */
  query<R>(statement: Statement, options?: QueryOptions): Promise<R[]>;
  /**
   * As `query`, for lists and exports: uses the pool's `planCacheMode`, and may use a replica that has this tenant's
   * last change.
   */
  read<R>(statement: Statement, options?: ReadOptions<R>): Promise<R[]>;
  /** Runs `work` in a transaction; in a transaction, as part of that one. Plans are kept as by `query`. */
  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
  /**
   * Runs `work`, which changes nothing, on one snapshot and reads tables as with `byIndex`; in a transaction, as part
   * of that one. `work` runs again on the primary if the replica fails.
   */
  snapshot<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
}

export interface TenantDbOptions {
  /** Default `public`. */
  readonly readSchema?: string;
  /**
   * The role to which row-level security applies. Statements run as this role, with the tenant's id in the setting
   * `tessera.tenant_id`; without it, as the user of the connection.
   */
  readonly role?: string | undefined;
  /** Settings of each transaction that may change rows, such as what triggers need to know. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether statements and transactions that may change rows have the current span in the setting
   * `tessera.traceparent`, for triggers. Default false.
   */
  readonly carriesTrace?: boolean | undefined;
  /**
   * Whether Citus distributes the tables. Settings are then forwarded to the servers with the rows. There can be no
   * `role`, because statements that insert what another one returns fail under row-level security, and no `replica`.
   */
  readonly distributed?: boolean | undefined;
  /** Used by `read` and `snapshot` if it has the tenant's last change. */
  readonly replica?: Replica | undefined;
  /** Maximum duration of a transaction in milliseconds. Default 30,000. */
  readonly timeLimit?: number;
  /**
   * `statement_timeout` of `read`, of statements with `planOnce` and of those in a snapshot, in milliseconds. Default: that of
   * the pool, which applies to all others.
   */
  readonly readTimeout?: number | undefined;
}

const MAX_TRANSACTION_MS = 30_000;

const ROLE = /^[a-z_]+$/;

/** The SQL that sets the role and the tenant of a transaction; `tenant` is an SQL expression. */
const enterTenant = (role: string, tenant: string): string =>
  `SELECT set_config('role', '${role}', true), set_config('tessera.tenant_id', ${tenant}, true)`;

const BY_INDEX = [
  "set_config('enable_seqscan', 'off', true)",
  // With the default of 4, which suits hard disks, the planner prefers a bitmap of all hits of a frequent word to
  // reading as many rows as are needed.
  "set_config('random_page_cost', '1.1', true)",
  "set_config('jit', 'off', true)",
].join(', ');
const SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT ${BY_INDEX}`;
// The plan may be made while the table is still small, and a sort cheaper than its index.
const PLAN_ONCE = `set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('enable_sort', 'off', true), ${BY_INDEX}`;
const KEEP_PLANS = "set_config('plan_cache_mode', 'auto', true)";

/** The SQL that sets settings of a transaction; each begins with a comma. */
const settingsSql = (settings: Readonly<Record<string, string>> = {}): string =>
  Object.entries(settings)
    .map(
      ([name, value]) =>
        `, set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, true)`,
    )
    .join('');

/** The SQL that sets the time limit of reads; begins with a comma. PostgreSQL applies it to the statements that follow. */
const timeoutSql = (readTimeout: number | undefined): string =>
  settingsSql(readTimeout === undefined ? {} : { statement_timeout: `${readTimeout}` });

const traceOfChange = (): string => currentTraceparent() ?? '';

/** The statements that precede each statement of a role, or of the connection's user. */
interface Preambles {
  readonly query: Preamble;
  readonly read: Preamble | undefined;
  readonly planOnce: Preamble;
  readonly byIndex: Preamble;
}

const createPreambles = (
  role: string | undefined,
  settings: string,
  carriesTrace: boolean,
  timeout: string,
): Preambles => {
  const traced = (parameter: string): string =>
    carriesTrace ? `, set_config('tessera.traceparent', ${parameter}, true)` : '';
  if (role === undefined) {
    return {
      query: { name: 'keep_plans', text: `SELECT ${KEEP_PLANS}${settings}${traced('$1')}` },
      read: timeout ? { name: 'read', text: `SELECT ${timeout.slice(2)}` } : undefined,
      planOnce: { name: 'plan_once', text: `SELECT ${PLAN_ONCE}${settings}${timeout}` },
      byIndex: { name: 'by_index', text: `SELECT ${BY_INDEX}${timeout}` },
    };
  }
  const enter = enterTenant(role, '$1');
  return {
    query: {
      name: 'enter_tenant_keep_plans',
      text: `${enter}, ${KEEP_PLANS}${settings}${traced('$2')}`,
    },
    read: { name: 'enter_tenant', text: `${enter}${timeout}` },
    planOnce: {
      name: 'enter_tenant_plan_once',
      text: `${enter}, ${PLAN_ONCE}${settings}${timeout}`,
    },
    byIndex: { name: 'enter_tenant_by_index', text: `${enter}, ${BY_INDEX}${timeout}` },
  };
};

const preambleOfRead = (preambles: Preambles, options: ReadOptions): Preamble | undefined => {
  if (options.planOnce) return preambles.planOnce;
  return options.byIndex ? preambles.byIndex : preambles.read;
};

/** Whether a statement may have changed rows; a common table expression may, too. */
const mayWrite = (text: string, command: string): boolean =>
  command !== 'SELECT' || /\b(?:insert|update|delete|merge)\b/i.test(text);

const checkRole = (role: string | undefined): void => {
  if (role !== undefined && !ROLE.test(role)) {
    throw new TypeError('The name of a role may contain only lower-case letters and underscores');
  }
};

const checkTenant = (tenantId: string): void => {
  if (!isUuid(tenantId)) throw new TypeError('The id of a tenant must be a UUID');
};

/** What the accesses to all tenants share. */
interface Source {
  readonly pool: FairPool;
  readonly role: string | undefined;
  readonly settings: string;
  readonly carriesTrace: boolean;
  readonly preambles: Preambles;
  readonly replica: Replica | undefined;
  readonly timeLimit: number;
  /** See `timeoutSql`. */
  readonly timeout: string;
}

/** How a statement is sent. */
interface Sending {
  readonly preamble: Preamble | undefined;
  /** The parameters of the preamble. Default: the tenant. */
  readonly parameters?: readonly string[];
  readonly format?: RowFormat<unknown> | undefined;
}

/** A class, because an instance is created for every request. */
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
    const { rows, command } = options?.planOnce
      ? await this.#send(pool, statement, { preamble: planOnce })
      : await this.#send(pool, statement, {
          preamble: query,
          parameters: this.#parametersOfChange(),
        });
    if (replica && mayWrite(statement.text, command)) await replica.recordWrite(this.tenantId);
    return rows as R[];
  }

  async read<R>(statement: Statement, options: ReadOptions<R> = {}): Promise<R[]> {
    const { pool, replica } = this.#source;
    if (replica && (await replica.isCurrentFor(this.tenantId))) {
      try {
        return await this.#readFrom(replica.pool, statement, options);
      } catch (error) {
        if (!replica.shouldUsePrimary(error)) throw error;
      }
    }
    return this.#readFrom(pool, statement, options);
  }

  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T> {
    const { pool, replica, settings, carriesTrace } = this.#source;
    const onCommit =
      replica && ((position: string) => replica.recordWrite(this.tenantId, position));
    const trace = carriesTrace ? settingsSql({ 'tessera.traceparent': traceOfChange() }) : '';
    return this.#run(pool, `BEGIN; SELECT ${KEEP_PLANS}${settings}${trace}`, work, onCommit);
  }

  async snapshot<T>(work: (db: TenantDb) => Promise<T>): Promise<T> {
    const { pool, replica, timeout } = this.#source;
    const begin = `${SNAPSHOT}${timeout}`;
    if (replica && (await replica.isCurrentFor(this.tenantId))) {
      try {
        return await this.#run(replica.pool, begin, work);
      } catch (error) {
        // On the primary, the transaction would take as long.
        if (error instanceof TransactionTimeout || !replica.shouldUsePrimary(error)) throw error;
      }
    }
    return this.#run(pool, begin, work);
  }

  async #readFrom<R>(pool: FairPool, statement: Statement, options: ReadOptions<R>): Promise<R[]> {
    const { format } = options;
    const preamble = preambleOfRead(this.#source.preambles, options);
    return rowsIn(await this.#send(pool, statement, { preamble, format }), format);
  }

  #send(
    pool: FairPool,
    statement: Statement,
    { preamble, parameters = this.#parameters, format }: Sending,
  ): Promise<pg.QueryResult> {
    return pool.queryFor(
      this.tenantId,
      preamble
        ? new TenantQuery(statement, preamble, parameters, format)
        : toQuery(statement, format),
    );
  }

  #parametersOfChange(): readonly string[] {
    return this.#source.carriesTrace ? [...this.#parameters, traceOfChange()] : this.#parameters;
  }

  #run<T>(
    pool: FairPool,
    begin: string,
    work: (db: TenantDb) => Promise<T>,
    onCommit?: (position: string) => Promise<void>,
  ): Promise<T> {
    const { role, timeLimit } = this.#source;
    const { tenantId } = this;
    const entered = role ? `${begin}; ${enterTenant(role, `'${tenantId}'`)}` : begin;
    return runTransaction(pool, { tenantId, begin: entered, timeLimit, onCommit }, (run) =>
      work(within(this, run)),
    );
  }
}

/**
 * Returns a function that gives access to the rows of a tenant; it throws a TypeError if the id is not a UUID.
 */
export const createTenantDbs = (
  pool: FairPool,
  options: TenantDbOptions = {},
): ((tenantId: string) => TenantDb) => {
  const { readSchema = 'public', role, replica, timeLimit = MAX_TRANSACTION_MS } = options;
  checkRole(role);
  if (options.distributed) {
    if (role !== undefined || replica) {
      throw new TypeError('Distributed tables have neither a role nor a replica');
    }
    const { carriesTrace = false } = options;
    const { settings = {}, readTimeout } = options;
    const distributed = { pool, settings, carriesTrace, timeLimit, readTimeout };
    return (tenantId) => {
      checkTenant(tenantId);
      return new DistributedTenantDb(distributed, tenantId, readSchema);
    };
  }
  const settings = settingsSql(options.settings);
  const { carriesTrace = false } = options;
  const timeout = timeoutSql(options.readTimeout);
  const preambles = createPreambles(role, settings, carriesTrace, timeout);
  const source: Source = {
    pool,
    role,
    settings,
    carriesTrace,
    preambles,
    replica,
    timeLimit,
    timeout,
  };
  return (tenantId) => {
    checkTenant(tenantId);
    return new PooledTenantDb(source, tenantId, readSchema);
  };
};

/** Access to the rows of one tenant; see `createTenantDbs`. */
export const createTenantDb = (
  pool: FairPool,
  tenantId: string,
  options?: TenantDbOptions,
): TenantDb => createTenantDbs(pool, options)(tenantId);

/** The rows of several tenants in one transaction. */
export interface TenantsInTransaction {
  forTenant(tenantId: string): TenantDb;
  /** Continues as the user of the connection, without a tenant. */
  leaveTenant(): Promise<void>;
}

/**
 * Access to the rows of any tenant within the transaction that is open on a connection. Statements run one after the
 * other; the caller commits.
 */
export const tenantsInTransaction = (
  client: Pick<pg.ClientBase, 'query'>,
  {
    role,
    readSchema = 'public',
    settings,
    distributed,
  }: Pick<TenantDbOptions, 'role' | 'readSchema' | 'settings' | 'distributed'>,
): TenantsInTransaction => {
  checkRole(role);
  const further = settingsSql(settings);
  let entered: string | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  const enter = async (tenantId: string): Promise<void> => {
    if (entered === tenantId) return;
    if (distributed) await client.query(forwardSettings(settings ?? {}));
    else if (role === undefined) await client.query(`SELECT ${KEEP_PLANS}${further}`);
    else await client.query(`${enterTenant(role, '$1')}, ${KEEP_PLANS}${further}`, [tenantId]);
    entered = tenantId;
  };
  return {
    forTenant(tenantId) {
      checkTenant(tenantId);
      return within({ tenantId, readSchema }, (statement, format) =>
        inTurn(async () => {
          await enter(tenantId);
          return rowsIn(await client.query(toQuery(statement, format)), format);
        }),
      );
    },
    leaveTenant: () =>
      inTurn(async () => {
        if (role !== undefined) await client.query(enterTenant('none', "''"));
        entered = undefined;
      }),
  };
};
