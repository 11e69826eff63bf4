import type { TenantDb } from '../database.ts';
import type { KindTypes } from './kind.ts';
import type { ColumnValues } from './row.ts';

/** What a rule can use. */
export interface RuleContext<T extends KindTypes> {
  readonly caller: T['caller'];
  /** The transaction of the change. */
  readonly db: TenantDb;
}

/** The same with the row before the change, which stays locked until the transaction ends. */
export interface RowContext<T extends KindTypes> extends RuleContext<T> {
  readonly row: T['row'];
}

type Awaitable<V> = V | Promise<V>;

/** What a rule for a new record can use. */
export interface CreationContext<T extends KindTypes> extends RuleContext<T> {
  /** The id that the record will have. */
  readonly id: string;
  /** The columns that the scope sets, such as the id of the parent. */
  readonly columns: ColumnValues<T['row']>;
}

/**
 * The rules of a kind. Each runs in the transaction of the change. It may throw an `HttpError` to reject the
 * change, and may set columns that are not part of the input.
 */
export interface Rules<T extends KindTypes> {
  create?(input: T['create'], context: CreationContext<T>): Awaitable<ColumnValues<T['row']>>;
  update?(change: T['update'], context: RowContext<T>): Awaitable<ColumnValues<T['row']>>;
  delete?(context: RowContext<T>): Awaitable<void>;
  restore?(context: RowContext<T>): Awaitable<void> | Promise<ColumnValues<T['row']>>;
}

/** A change that has been written but not yet committed. */
export interface RecordChange<T extends KindTypes> extends RuleContext<T> {
  /** `create`, `update`, `delete`, `restore`, or the name of an action. */
  readonly action: string;
  /** Undefined after `create`. */
  readonly before: T['row'] | undefined;
  readonly row: T['row'];
}
