import type { Database, TenantDb } from '../database.ts';
import type { KindTypes, TenantCaller } from './kind.ts';
import type { Records } from './records.ts';

/** Records whose changes take a lock before they lock any row, so that no two of them wait for each other. */
export const lockedRecords = <T extends KindTypes>(
  records: Records<T>,
  database: Pick<Database, 'transaction'>,
  lock: (db: TenantDb) => Promise<void>,
): Records<T> => {
  const locked = <R>({ tenantId }: TenantCaller, work: () => Promise<R>): Promise<R> =>
    database.transaction(tenantId, async (db) => {
      await lock(db);
      return work();
    });
  return {
    ...records,
    create: (caller, input) => locked(caller, () => records.create(caller, input)),
    createMany: (caller, inputs) => locked(caller, () => records.createMany(caller, inputs)),
    update: (caller, ...given) => locked(caller, () => records.update(caller, ...given)),
    edit: (caller, ...given) => locked(caller, () => records.edit(caller, ...given)),
    delete: (caller, ...given) => locked(caller, () => records.delete(caller, ...given)),
    restore: (caller, ...given) => locked(caller, () => records.restore(caller, ...given)),
    act: (caller, ...given) => locked(caller, () => records.act(caller, ...given)),
    within: (...keys) => lockedRecords(records.within(...keys), database, lock),
  };
};
