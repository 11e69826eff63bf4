import { Slices } from '@tessera/fair-shares';
import { type FieldErrors, validate } from '@tessera/fields';
import { HttpError, validationFailed } from '@tessera/http-kit';
import type { Caller } from '../http.ts';
import type { Kind } from './kind.ts';
import { requirePermission } from './require-permission.ts';

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

/** An operation that can be run: its members fit together, and its body is validated. */
export interface Prepared {
  readonly operation: BatchOperation;
  readonly input: unknown;
}

/** An operation that cannot be run, or has failed. */
export interface Failed {
  readonly status: number;
  readonly error: HttpError;
}

export type PreparedOperations = readonly (Prepared | Failed)[];

/** How many invalid fields the errors of one batch name together; with more, each operation names its first one. */
const MAX_FIELDS_NAMED = 1000;

/** The error of an operation; its fields are named from the top of the batch: `operations.3.body.email`. */
const errorAt = (index: number, error: HttpError, below: string): HttpError => {
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

/** The outcome of an operation that failed; throws an error that is not the caller's. */
export const failedAt = (index: number, error: unknown, below: string): Failed => {
  if (!(error instanceof HttpError) || error.status >= 500) throw error;
  return { status: error.status, error: errorAt(index, error, below) };
};

const invalid = (field: string, message: string): HttpError =>
  validationFailed({ [field]: [`${field} ${message}`] });

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

/** 403 if the caller lacks a permission of the operation's verb (decision C22). */
const authorize = (
  kind: Kind,
  caller: Caller,
  { op, id }: Pick<BatchOperation, 'op' | 'id'>,
): void => {
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

const VERBS = ['create', 'update', 'delete'] as const;

/** Throws 403 if the caller may do nothing at all with records of the kind, whatever the batch contains. */
export const authorizeAny = (kind: Kind, caller: Caller): void => {
  const denials = VERBS.flatMap((op) => {
    try {
      authorize(kind, caller, { op });
      return [];
    } catch (error) {
      return [error];
    }
  });
  if (denials.length === VERBS.length) throw denials[0];
};

export interface PreparationOptions {
  readonly kind: Kind;
  readonly caller: Caller;
  /** Whether the first error undoes all operations, and is thrown. */
  readonly isAtomic: boolean;
}

/**
 * Checks every operation, in slices: its permissions, then its fields. An atomic batch throws 403 before any field is validated,
 * and otherwise the errors of all fields at once; in another one, each operation fails by itself.
 */
export const prepareOperations = async (
  operations: readonly BatchOperation[],
  { kind, caller, isAtomic }: PreparationOptions,
): Promise<PreparedOperations> => {
  if (isAtomic) authorizeOperations(kind, caller, operations.entries());
  const slices = new Slices();
  const prepared: (Prepared | Failed)[] = [];
  const errors: FieldErrors = Object.create(null);
  let named = 0;
  for (const [index, operation] of operations.entries()) {
    await slices.next();
    try {
      authorize(kind, caller, operation);
      prepared.push(prepare(kind, operation));
    } catch (error) {
      const failed = failedAt(index, named < MAX_FIELDS_NAMED ? error : firstOf(error), '');
      const fields = failed.error.errors ?? {};
      named += Object.keys(fields).length;
      Object.assign(errors, fields);
      prepared.push(failed);
    }
    if (isAtomic && named >= MAX_FIELDS_NAMED) break;
  }
  if (isAtomic && named > 0) throw validationFailed(errors);
  return prepared;
};

/** The same error with the first of its fields. */
const firstOf = (error: unknown): unknown => {
  if (!(error instanceof HttpError) || error.status !== 422) return error;
  return validationFailed(Object.fromEntries(Object.entries(error.errors ?? {}).slice(0, 1)));
};
