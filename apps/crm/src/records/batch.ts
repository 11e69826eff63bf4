import { type FieldErrors, validate } from '@tessera/fields';
import { HttpError, validationFailed } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import type { Caller } from '../http.ts';
import type { Kind, KindTypes } from './kind.ts';
import type { Records } from './records.ts';
import { requirePermission } from './require-permission.ts';
import { separately } from './savepoint.ts';
import { lockUntilEnd } from './transaction-lock.ts';
import type { Changed } from './viewing.ts';

/** One operation of a batch. */
export interface BatchOperation {
  readonly op: 'create' | 'update' | 'delete';
  /** The record to update or delete. */
  readonly id?: string | undefined;
  /** The version that the update or deletion is meant for. Default: any. */
  readonly version?: number | undefined;
  /** The fields to create or update. */
  readonly body?: unknown;
}

/** The result of an operation: the record, nothing after a deletion, or the error. */
export type BatchOutcome<Answer> =
  | { readonly status: 200 | 201; readonly record: Changed<Answer> }
  | { readonly status: 204 }
  | { readonly status: number; readonly error: HttpError };

/** The error of an operation; its fields are named from the top of the batch: `operations.3.body.email`. */
const errorAt = (index: number, error: HttpError, below = '.body'): HttpError => {
  const path = `operations.${index}`;
  const { status, code, message, headers, details, cause } = error;
  const errors: FieldErrors = error.errors
    ? Object.fromEntries(
        Object.entries(error.errors).map(([field, messages]) => [
          `${path}${below}.${field}`,
          messages,
        ]),
      )
    : { [path]: [message] };
  return new HttpError(status, code, message, { errors, headers, details, cause });
};

const invalid = (field: string, message: string): HttpError =>
  validationFailed({ [field]: [`${field} ${message}`] });

/** An operation that can be run: its members fit together, and its body is validated. */
interface Prepared {
  readonly operation: BatchOperation;
  readonly input: unknown;
}

const prepare = (kind: Kind, operation: BatchOperation): Prepared => {
  const { op, id, version, body } = operation;
  if (op === 'create' && id !== undefined) throw invalid('id', 'is not taken by create');
  if (op === 'create' && version !== undefined) throw invalid('version', 'is not taken by create');
  if (op !== 'create' && id === undefined) throw invalid('id', 'is required');
  if (op === 'delete' && body !== undefined) throw invalid('body', 'is not taken by delete');
  if (op !== 'delete' && body === undefined) throw invalid('body', 'is required');
  if (op === 'delete') return { operation, input: undefined };
  const result = validate(op === 'create' ? kind.create : kind.update, body);
  if (result.ok) return { operation, input: result.value };
  throw errorBelowBody(result.errors);
};

/** Errors of a body, whose root `validate` calls `body`. */
const errorBelowBody = (errors: FieldErrors): HttpError =>
  validationFailed(
    Object.fromEntries(
      Object.entries(errors).map(([field, messages]) => [
        field === 'body' ? field : `body.${field}`,
        messages,
      ]),
    ),
  );

/** 403 if the caller lacks a permission of the operation's verb (decision C22). */
const authorize = (kind: Kind, caller: Caller, { op, id }: BatchOperation): void => {
  const resource = { type: kind.name, id: id ?? null };
  for (const permission of [kind.permissions?.[op] ?? []].flat()) {
    requirePermission(caller, permission, resource);
  }
};

/**
 * Throws 403 for the first of the operations, given with their places in the batch, for which the caller lacks a
 * permission.
 */
export const authorizeOperations = (
  kind: Kind,
  caller: Caller,
  operations: Iterable<readonly [index: number, operation: BatchOperation]>,
): void => {
  for (const [index, operation] of operations) {
    try {
      authorize(kind, caller, operation);
    } catch (error) {
      throw error instanceof HttpError ? errorAt(index, error, '') : error;
    }
  }
};

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

  async run(operations: readonly BatchOperation[]): Promise<Outcomes<T>> {
    const prepared = this.#prepared(operations);
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

  /** Every operation checked; in an atomic batch, throws all errors of fields at once. */
  #prepared(operations: readonly BatchOperation[]) {
    const prepared = operations.map((operation, index) => {
      try {
        authorize(this.#kind, this.#caller as unknown as Caller, operation);
        return prepare(this.#kind, operation);
      } catch (error) {
        return this.#failed(index, error, '');
      }
    });
    const errors = prepared.flatMap((one) => ('error' in one ? [one.error] : []));
    const [first] = errors;
    if (!this.#isAtomic || !first) return prepared;
    const denied = errors.find(({ status }) => status === 403);
    if (denied) throw denied;
    throw validationFailed(Object.assign({}, ...errors.map((error) => error.errors)));
  }

  /** The outcomes of the next operations: of as many creations as follow each other, or of one operation. */
  async #next(
    prepared: readonly (Prepared | { readonly status: number; readonly error: HttpError })[],
    index: number,
  ): Promise<Outcomes<T>> {
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
      const failed = this.#failed(index, error, '.body');
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

  #failed(index: number, error: unknown, below: string) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error;
    return { status: error.status, error: errorAt(index, error, below) };
  }
}

export interface BatchOptions<T extends KindTypes> {
  readonly kind: Kind<T>;
  readonly records: Records<T>;
  /** Whether the first error undoes all operations, and is thrown. */
  readonly isAtomic: boolean;
}

/**
 * Creates, updates and deletes records of one kind in one transaction, in order; each operation needs the
 * permission of its verb. An atomic batch has effect as a whole or not at all; in another one, each operation
 * succeeds or fails by itself.
 */
export const runBatch = <T extends KindTypes>(
  db: TenantDb,
  caller: T['caller'],
  operations: readonly BatchOperation[],
  options: BatchOptions<T>,
): Promise<BatchOutcome<T['answer']>[]> => new Batch({ ...options, caller, db }).run(operations);
