import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { lockMerges } from './merges-lock.ts';

const { sql } = Prisma;

/**
 * Removes the values of a deleted custom field from what was taken in merges: undoing one would remove the same values of a
 * new field with this key. Waits for merges, which write again what they have read; `db` is a transaction.
 */
export const removeTakenValues = async (db: TenantDb, key: string): Promise<void> => {
  await lockMerges(db, 'shared');
  await db.query(sql`
    UPDATE tenant_crm.contact_merges SET taken = taken #- ${['custom', key]}::text[]
    WHERE tenant_id = ${db.tenantId}::uuid AND jsonb_exists(taken -> 'custom', ${key}::text)`);
};
