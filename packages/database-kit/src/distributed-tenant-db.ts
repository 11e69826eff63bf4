import { currentTraceparent } from '@tessera/telemetry';
import pg from 'pg';
import type { FairPool } from './fair-pool.ts';
import { type RowFormat, rowsIn } from './row-format.ts';
import { type Statement, toQuery } from './statements.ts';
import type { ReadOptions, TenantDb } from './tenant-db.ts';
import { runTransaction } from './transaction.ts';
import { within } from './within-transaction.ts';

type Settings = Readonly<Record<string, string>>;

/** What the accesses to all tenants share. */
export interface DistributedSource {
  readonly pool: FairPool;
  /** Settings of each transaction that may change rows. */
  readonly settings: Settings;
  /** Whether these transactions have the current span in the setting `tessera.traceparent`. */
  readonly carriesTrace: boolean;
  readonly timeLimit: number;
  /** `statement_timeout` of reads with `byIndex` and of snapshots, in milliseconds; the coordinator applies it. */
  readonly readTimeout: number | undefined;
}

const BY_INDEX: Settings = { enable_seqscan: 'off', random_page_cost: '1.1', jit: 'off' };

const isEmpty = (settings: Settings): boolean => Object.keys(settings).length === 0;

/**
 * The SQL that sets settings of a transaction on Citus, which forwards SET LOCAL to the servers with the rows, but not
 * set_config. It forwards the whole text of a command; within DO, that text is SET LOCAL alone.
 */
export const forwardSettings = (settings: Settings): string => {
  const commands = Object.entries(settings).map(
    ([name, value]) => `SET LOCAL ${name} = ${pg.escapeLiteral(value)};`,
  );
  return [
    "SET LOCAL citus.propagate_set_commands = 'local'",
    `DO $tessera$ BEGIN ${commands.join(' ')} END $tessera$`,
  ].join('; ');
};

/** Access to the rows of one tenant in tables that Citus distributes. */
export class DistributedTenantDb implements TenantDb {
  readonly tenantId: string;
  readonly readSchema: string;
  readonly #source: DistributedSource;

  constructor(source: DistributedSource, tenantId: string, readSchema: string) {
    this.tenantId = tenantId;
    this.readSchema = readSchema;
    this.#source = source;
  }

  query<R>(statement: Statement): Promise<R[]> {
    if (isEmpty(this.#settings())) return this.#send(statement);
    return this.transaction((db) => db.query<R>(statement));
  }

  read<R>(statement: Statement, options?: ReadOptions<R>): Promise<R[]> {
    const { format } = options ?? {};
    if (!options?.byIndex) return this.#send(statement, format);
    return this.#run(this.#beginRead('BEGIN READ ONLY'), BY_INDEX, (db) =>
      db.read<R>(statement, { format }),
    );
  }

  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T> {
    return this.#run('BEGIN', this.#settings(), work);
  }

  snapshot<T>(work: (db: TenantDb) => Promise<T>): Promise<T> {
    return this.#run(
      this.#beginRead('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
      BY_INDEX,
      work,
    );
  }

  #beginRead(begin: string): string {
    const { readTimeout } = this.#source;
    return readTimeout === undefined
      ? begin
      : `${begin}; SET LOCAL statement_timeout = ${readTimeout}`;
  }

  #settings(): Settings {
    const { settings, carriesTrace } = this.#source;
    if (!carriesTrace) return settings;
    return { ...settings, 'tessera.traceparent': currentTraceparent() ?? '' };
  }

  async #send<R>(statement: Statement, format?: RowFormat<R>): Promise<R[]> {
    const { pool } = this.#source;
    return rowsIn(await pool.queryFor(this.tenantId, toQuery(statement, format)), format);
  }

  #run<T>(begin: string, settings: Settings, work: (db: TenantDb) => Promise<T>): Promise<T> {
    const { pool, timeLimit } = this.#source;
    const entered = isEmpty(settings) ? begin : `${begin}; ${forwardSettings(settings)}`;
    return runTransaction(pool, { tenantId: this.tenantId, begin: entered, timeLimit }, (run) =>
      work(within(this, run)),
    );
  }
}
