import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import type { Changes, Versions } from './changes.ts';
import type { KindTypes } from './kind.ts';
import { requireBelowMaximum } from './maximum.ts';
import { causeOf } from './record-changes.ts';
import type { Access, OpenScope } from './scope.ts';
import { transactionIn } from './transaction-in.ts';
import type { RowChanges } from './updates.ts';
import { checkVersion } from './versions.ts';

/** The record to restore, and the columns to replace. */
interface Restoration<T extends KindTypes> {
  readonly id: string;
  readonly versions: Versions;
  readonly input: Partial<T['create']>;
}

/** Deletes and restores records of a kind. */
export const createRemovals = <T extends KindTypes>(
  access: Access<T>,
  { changeLocked, changeDirectly }: RowChanges<T>,
): Pick<Changes<T>, 'delete' | 'restore'> => {
  type Row = T['row'];
  const { kind, repository, open, findLive, missing } = access;
  const { rules, follow, deletion, maximum, restoreConflicts } = kind;

  const deletePermanently = async (
    caller: T['caller'],
    id: string,
    versions: Versions,
  ): Promise<void> => {
    const opened = await open(caller);
    const remove = async (db: TenantDb): Promise<void> => {
      const within = { db, scope: opened.scope };
      const before = await findLive(within, id, { versions, lock: 'lock' });
      await rules.delete?.({ caller, db, row: before });
      const cause = causeOf(caller, 'delete');
      await repository.remove(db, opened.scope, { id, deleted: false }, cause);
      await follow?.({ action: 'delete', caller, db, before, row: before });
    };
    await transactionIn(access, opened, remove);
  };

  /** Refuses a value that another record has taken meanwhile: a 409, unless the request gives that value. */
  const refuseTaken =
    (given: object) =>
    (error: unknown): never => {
      const named = error instanceof HttpError ? Object.keys(error.errors ?? {}) : [];
      const field = named.find((name) => !Object.hasOwn(given, name));
      const message = field === undefined ? undefined : restoreConflicts[field];
      if (message === undefined) throw error;
      throw new HttpError(409, 'conflict', message, { cause: error });
    };

  const restoreDirectly = async (
    { db, scope }: OpenScope<T>,
    caller: T['caller'],
    { id, versions, input }: Restoration<T>,
  ): Promise<Row> => {
    const cause = causeOf(caller, 'restore');
    // Retry if the record was deleted between the two statements.
    for (;;) {
      const expected = { id, versions, deleted: true };
      const live = { ...input, deleted_at: null };
      const row = await repository
        .update(db, scope, expected, live, cause)
        .catch(refuseTaken(input));
      if (row) return row;
      const found = await repository.find(db, scope, id);
      if (!found) throw missing();
      checkVersion(found, versions);
      if (!found.deleted_at) return found;
    }
  };

  const restoreLocked = async (
    opened: OpenScope<T>,
    caller: T['caller'],
    { id, versions, input }: Restoration<T>,
  ): Promise<Row> =>
    transactionIn(access, opened, async (transaction) => {
      const { scope } = opened;
      const before = await repository.find(transaction, scope, id, 'lock');
      if (!before) throw missing();
      checkVersion(before, versions);
      if (!before.deleted_at) return before;
      await requireBelowMaximum(access, transaction, scope);
      const ruled = await rules.restore?.({ caller, db: transaction, row: before });
      const expected = { id, deleted: true };
      const cause = causeOf(caller, 'restore');
      const live = { ...input, ...ruled, deleted_at: null };
      const row = await repository
        .update(transaction, scope, expected, live, cause)
        .catch(refuseTaken(input));
      if (!row) throw missing();
      await follow?.({ action: 'restore', caller, db: transaction, before, row });
      return row;
    });

  return {
    async delete(caller, id, versions) {
      if (deletion === 'permanent') return deletePermanently(caller, id, versions);
      const deleted = { deleted_at: new Date() };
      if (!rules.delete && !follow) {
        await changeDirectly(caller, id, { action: 'delete', values: deleted }, versions);
        return;
      }
      await changeLocked(caller, {
        action: 'delete',
        id,
        versions,
        decide: async (context) => {
          await rules.delete?.(context);
          return deleted;
        },
      });
    },

    async restore(caller, id, versions, input = {}) {
      const opened = await open(caller);
      const restoration = { id, versions, input };
      return rules.restore || follow || maximum !== undefined
        ? restoreLocked(opened, caller, restoration)
        : restoreDirectly(opened, caller, restoration);
    },
  };
};
