import type { TenantDb } from '../../database.ts';
import { causeOf } from '../../records/record-changes.ts';
import { recordUnversioned } from '../../records/unversioned-changes.ts';

/** Adds a test to the history of an account, which may have been deleted meanwhile. */
export const recordTest = async (db: TenantDb, id: string): Promise<void> => {
  const cause = causeOf({ tenantId: db.tenantId }, 'test');
  await recordUnversioned(db, cause, { table: 'messaging_accounts', id });
};
