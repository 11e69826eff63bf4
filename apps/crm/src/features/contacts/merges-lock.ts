import type { TenantDb } from '../../database.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';

/** The name of the lock that merges of contacts in a tenant take before they lock any row. */
export const mergesLockOf = (tenantId: string): string => `contact_merges ${tenantId}`;

/**
 * Waits for merges in the tenant; `shared` only for those that are exclusive. A merge that waited for a record while another
 * one moved it would hold the lock of the record, which a merge of its new contact needs after those of contacts: a
 * deadlock.
 */
export const lockMerges = (
  db: TenantDb,
  mode: 'exclusive' | 'shared' = 'exclusive',
): Promise<void> => lockUntilEnd(db, mergesLockOf(db.tenantId), mode);
