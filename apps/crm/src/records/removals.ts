import type { TenantDb } from '../database.ts';
import type { Changes, Versions } from './changes.ts';
import type { KindTypes } from './kind.ts';
import { requireBelowMaximum } from './maximum.ts';
import { causeOf } from './record-changes.ts';
import type { Access, OpenScope } from './scope.ts';
import { transactionIn } from './transaction-in.ts';
import type { RowChanges } from './updates.ts';
import { checkVersion } from './versions.ts';

/** Deletes and restores records of a kind. */
export const createRemovals = <T extends KindTypes>(
  access: Access<T>,
  { changeLocked, changeDirectly }: RowChanges<T>,
): Pick<Changes<T>, 'delete' | 'restore'> => {
  type Row = T['row'];
  const { kind, repository, open, findLive, missing } = access;
  const { rules, follow, deletion, maximum } = kind;

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

  const restoreDirectly = async (
    { db, scope }: OpenScope<T>,
    caller: T['caller'],
    id: string,
    versions: Versions,
  ): Promise<Row> => {
    const cause = causeOf(caller, 'restore');
    // Retry if the record was deleted between the two statements.
    for (;;) {
      const expected = { id, versions, deleted: true };
      const row = await repository.update(db, scope, expected, { deleted_at: null }, cause);
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
    id: string,
    versions: Versions,
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
      const live = { ...ruled, deleted_at: null };
      const row = await repository.update(transaction, scope, expected, live, cause);
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

    async restore(caller, id, versions) {
      const opened = await open(caller);
      return rules.restore || follow || maximum !== undefined
        ? restoreLocked(opened, caller, id, versions)
        : restoreDirectly(opened, caller, id, versions);
    },
  };
};
