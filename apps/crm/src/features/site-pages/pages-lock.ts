import type { TenantDb } from '../../database.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';

/** Locks the tree of a tenant's pages until the transaction ends. Precedes the locks of rows. */
export const lockPages = (db: TenantDb): Promise<void> => lockUntilEnd(db, `pages ${db.tenantId}`);
