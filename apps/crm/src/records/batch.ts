import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import {
  type Failed,
  failedAt,
  type Prepared,
  type PreparedOperations,
} from './batch-preparation.ts';
import type { Kind, KindTypes } from './kind.ts';
import type { Records } from './records.ts';
import { separately } from './savepoint.ts';
import { lockUntilEnd } from './transaction-lock.ts';
import type { Changed } from './viewing.ts';

/** The result of an operation: the record, nothing after a deletion, or the error. */
export type BatchOutcome<Answer> =
  | { readonly status: 200 | 201; readonly record: Changed<Answer> }
  | { readonly status: 204 }
  | Failed;

type Outcomes<T extends KindTypes> = BatchOutcome<T['answer']>[];

/** Waits for batches of a table whose rules lock further rows, in the order of the operations. */
export const lockBatches = (db: TenantDb, table: string): Promise<void> =>
  lockUntilEnd(db, `batch ${table} ${db.tenantId}`);

/** Runs the operations of one batch in one transaction, in order. */
class Batch<T extends KindTypes> {
  readonly #kind: Kind;
  readonly #records: Records<T>;
  readonly #caller: T['caller'];
  readonly #db: TenantDb;
  readonly #isAtomic: boolean;
  /** The creations before this index run one by one: together they failed. */
  #separateBefore = 0;

  constructor(options: BatchOptions<T> & { readonly caller: T['caller']; readonly db: TenantDb }) {
    this.#kind = options.kind as unknown as Kind;
    this.#records = options.records;
    this.#caller = options.caller;
    this.#db = options.db;
    this.#isAtomic = options.isAtomic;
  }

  async run(prepared: PreparedOperations): Promise<Outcomes<T>> {
    const ids = prepared.flatMap((one) => ('error' in one ? [] : (one.operation.id ?? [])));
    const { table, rules, follow } = this.#kind;
    if (rules.create || rules.update || follow) {
      // Rules take further locks in the order of the operations, such as those of columns of a board.
      await lockBatches(this.#db, table);
    }
    // In one order, so that two batches never wait for each other.
    await this.#records.lock(this.#caller, ids);
    const outcomes: Outcomes<T> = [];
    while (outcomes.length < prepared.length) {
      outcomes.push(...(await this.#next(prepared, outcomes.length)));
    }
    return outcomes;
  }

  /** The outcomes of the next operations: of as many creations as follow each other, or of one operation. */
  async #next(prepared: PreparedOperations, index: number): Promise<Outcomes<T>> {
    const next = prepared[index] as (typeof prepared)[number];
    if ('error' in next) return [next];
    const rest = prepared.slice(index);
    const end = rest.findIndex((one) => 'error' in one || one.operation.op !== 'create');
    const creations = (end < 0 ? rest : rest.slice(0, end)) as Prepared[];
    // A rule may depend on the records that were created before.
    const { rules, follow } = this.#kind;
    const mayJoin = index >= this.#separateBefore && !rules.create && !follow;
    if (creations.length > 1 && mayJoin) {
      const created = await this.#createTogether(creations);
      if (created) return created;
      this.#separateBefore = index + creations.length;
    }
    try {
      const run = () => this.#runOne(next);
      return [this.#isAtomic ? await run() : await separately(this.#db, run)];
    } catch (error) {
      const failed = failedAt(index, error, '.body');
      if (this.#isAtomic) throw failed.error;
      return [failed];
    }
  }

  /** Undefined if one of them fails, which then has to be found. */
  async #createTogether(creations: readonly Prepared[]): Promise<Outcomes<T> | undefined> {
    const inputs = creations.map(({ input }) => input as T['create']);
    try {
      const created = await separately(this.#db, () =>
        this.#records.createMany(this.#caller, inputs),
      );
      return created.map((record) => ({ status: 201, record }));
    } catch (error) {
      if (!(error instanceof HttpError) || error.status >= 500) throw error;
      // No single one of them makes the response too long.
      if (error.status === 413 && this.#isAtomic) throw error;
      return undefined;
    }
  }

  async #runOne({ operation, input }: Prepared): Promise<BatchOutcome<T['answer']>> {
    const { op, id = '', version } = operation;
    const versions = version === undefined ? undefined : [version];
    if (op === 'create') {
      return {
        status: 201,
        record: await this.#records.create(this.#caller, input as T['create']),
      };
    }
    if (op === 'update') {
      const change = input as T['update'];
      return {
        status: 200,
        record: await this.#records.update(this.#caller, id, change, versions),
      };
    }
    await this.#records.delete(this.#caller, id, versions);
    return { status: 204 };
  }
}

export interface BatchOptions<T extends KindTypes> {
  readonly kind: Kind<T>;
  readonly records: Records<T>;
  /** Whether the first error undoes all operations, and is thrown. */
  readonly isAtomic: boolean;
}

/**
 * Creates, updates and deletes records of one kind in one transaction, in order, after `prepareOperations`. An atomic batch has effect as a whole or not at all; in another one, each operation
 * succeeds or fails by itself.
 */
export const runBatch = <T extends KindTypes>(
  db: TenantDb,
  caller: T['caller'],
  operations: PreparedOperations,
  options: BatchOptions<T>,
): Promise<BatchOutcome<T['answer']>[]> => new Batch({ ...options, caller, db }).run(operations);
