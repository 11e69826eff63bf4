import type { TenantDb } from '../database.ts';
import type { KindTypes } from './kind.ts';
import type { Access, OpenScope } from './scope.ts';

/** Runs `work` in a transaction that has locked the parent, if the kind's changes lock it. */
export const transactionIn = <T extends KindTypes, R>(
  { kind: { parent, locksParent }, lockParent }: Access<T>,
  { db, scope }: OpenScope<T>,
  work: (transaction: TenantDb) => Promise<R>,
): Promise<R> =>
  db.transaction(async (transaction) => {
    if (parent && locksParent) await lockParent(transaction, scope);
    return work(transaction);
  });
