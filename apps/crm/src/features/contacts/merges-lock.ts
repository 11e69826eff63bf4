import type { TenantDb } from '../../database.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';

/** The name of the lock that merges of contacts in a tenant take before they lock any row. */
export const mergesLockOf = (tenantId: string): string => `contact_merges ${tenantId}`;

/**
 * The lock of merges in a tenant, which precedes the locks of rows: merges take it exclusively, and restoring a record takes it
 * shared. Without it, two of them could each hold a record or contact that the other one needs.
 */
export const lockMerges = (
  db: TenantDb,
  mode: 'exclusive' | 'shared' = 'exclusive',
): Promise<void> => lockUntilEnd(db, mergesLockOf(db.tenantId), mode);
