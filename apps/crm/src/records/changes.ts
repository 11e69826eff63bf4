import { createCreations } from './creations.ts';
import type { KindTypes } from './kind.ts';
import type { RecordAction } from './records.ts';
import { createRemovals } from './removals.ts';
import type { Access } from './scope.ts';
import { createStoredValues } from './stored-values.ts';
import { createRowChanges, createUpdates } from './updates.ts';
import type { AcceptedVersion } from './versions.ts';

export type Versions = readonly AcceptedVersion[] | undefined;

/** The changes of one kind of record; see `Records` for their errors. */
export interface Changes<T extends KindTypes> {
  create(caller: T['caller'], input: T['create']): Promise<T['row']>;
  createMany(caller: T['caller'], inputs: readonly T['create'][]): Promise<readonly T['row'][]>;
  addMany(caller: T['caller'], inputs: readonly T['create'][]): Promise<readonly string[]>;
  updateMany(
    caller: T['caller'],
    changes: readonly { readonly id: string; readonly change: T['update'] }[],
  ): Promise<readonly string[]>;
  update(
    caller: T['caller'],
    id: string,
    change: T['update'],
    versions: Versions,
  ): Promise<T['row']>;
  edit(
    caller: T['caller'],
    id: string,
    changeOf: (row: T['row']) => T['update'],
    versions: Versions,
    action?: string,
  ): Promise<T['row']>;
  delete(caller: T['caller'], id: string, versions: Versions): Promise<void>;
  restore(
    caller: T['caller'],
    id: string,
    versions: Versions,
    input?: Partial<T['create']>,
  ): Promise<T['row']>;
  act<Body>(
    caller: T['caller'],
    id: string,
    action: RecordAction<T, Body>,
    body: Body,
    versions: Versions,
  ): Promise<T['row']>;
}

/**
 * A change without a rule and without `follow` is a single statement. Otherwise one transaction locks the row,
 * runs the rule, writes the row and runs `follow`.
 */
export const createChanges = <T extends KindTypes>(access: Access<T>): Changes<T> => {
  const values = createStoredValues(access);
  const rowChanges = createRowChanges(access, values);
  return {
    ...createCreations(access, values),
    ...createUpdates(access, values, rowChanges),
    ...createRemovals(access, rowChanges),
  };
};
