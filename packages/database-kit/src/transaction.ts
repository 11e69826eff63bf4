import type pg from 'pg';
import type { FairPool } from './fair-pool.ts';
import { PRIMARY_POSITION } from './replica.ts';
import { type RowFormat, rowsIn } from './row-format.ts';
import { type Statement, toQuery } from './statements.ts';

/** Runs a statement and returns its rows. */
export type RunStatement = <R>(statement: Statement, format?: RowFormat<R>) => Promise<R[]>;

export interface TransactionOptions {
  /** Whose share of the connections it uses. */
  readonly tenantId: string;
  /** The SQL that begins the transaction; several statements need one round trip. */
  readonly begin: string;
  /** Milliseconds after which the transaction is rolled back. */
  readonly timeLimit: number;
  /** Called with the primary's position after the commit, which is read in the same round trip. */
  readonly onCommit?: ((position: string) => Promise<void>) | undefined;
}

/** The transaction exceeded its time limit; it may succeed if repeated. */
export class TransactionTimeout extends Error {
  override readonly name = 'TransactionTimeout';
}

/**
 * Runs a transaction on one connection of the pool: it commits when `work` resolves and is rolled back when
 * `work` rejects. Concurrent statements run one after the other. Rejects with the error of `work`, with a
 * TransactionTimeout, or with the error of a statement that `work` ignored.
 */
export async function runTransaction<T>(
  pool: FairPool,
  { tenantId, begin, timeLimit, onCommit }: TransactionOptions,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  const client = await pool.connectFor(tenantId);
  /** Why the connection cannot be used again. */
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  // A checked-out connection has no other listener; without one, its loss would end the process.
  client.on('error', onError);
  const statements = new Statements(client);
  const limit = new TimeLimit(timeLimit);
  try {
    await client.query(begin);
    const result = await Promise.race([work((...given) => statements.run(...given)), limit.over]);
    await statements.commit(onCommit);
    return result;
  } catch (error) {
    // The running statement may take long; closing the connection ends the wait for it.
    if (error instanceof TransactionTimeout) broken = error;
    else await statements.rollback().catch(onError);
    throw error;
  } finally {
    limit.stop();
    statements.close();
    client.off('error', onError);
    client.release(broken);
  }
}

class TimeLimit {
  readonly over: Promise<never>;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number) {
    this.over = new Promise((_resolve, reject) => {
      this.#timer = setTimeout(
        () => reject(new TransactionTimeout(`The transaction took over ${milliseconds} ms`)),
        milliseconds,
      );
    });
    // It may reject before anything awaits it, if BEGIN is slow.
    this.over.catch(() => undefined);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** The statements of one transaction, sent one after the other: `pg` must not queue them itself. */
class Statements {
  readonly #client: pg.PoolClient;
  #last: Promise<unknown> = Promise.resolve();
  #failure: unknown;
  #isClosed = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async run<R>(statement: Statement, format?: RowFormat<R>): Promise<R[]> {
    const result = await this.#inTurn(toQuery(statement, format)).catch((error) => {
      this.#failure = error;
      throw error;
    });
    return rowsIn(result, format);
  }

  async commit(onCommit?: TransactionOptions['onCommit']): Promise<void> {
    const text = onCommit ? `COMMIT; ${PRIMARY_POSITION}` : 'COMMIT';
    const committed = this.#inTurn({ text });
    this.close();
    // Several statements have several results, which pg's types do not express.
    const [{ command }, position] = [await committed].flat() as pg.QueryResult[] as [
      pg.QueryResult,
      pg.QueryResult<{ position: string }>?,
    ];
    // PostgreSQL answers COMMIT with ROLLBACK if a statement has failed.
    if (command === 'ROLLBACK') throw this.#failure ?? new Error('Nothing was committed');
    await onCommit?.(position?.rows[0]?.position ?? '0/0');
  }

  async rollback(): Promise<void> {
    this.close();
    await this.#last;
    await this.#client.query('ROLLBACK');
  }

  /** Rejects further statements. */
  close(): void {
    this.#isClosed = true;
  }

  #inTurn(query: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.#isClosed) return Promise.reject(new Error('The transaction has ended'));
    const result = this.#last.then(() => this.#client.query(query));
    this.#last = result.catch(() => undefined);
    return result;
  }
}
