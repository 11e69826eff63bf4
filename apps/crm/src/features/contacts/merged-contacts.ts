import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { createRecords, type Records } from '../../records/records.ts';
import type { TenantSource } from '../../records/scope.ts';
import type { LinkingTable } from './merges.repository.ts';
import { lockMerges } from './merges-lock.ts';

const { sql } = Prisma;

/**
 * The contact that a deleted record about a contact belongs to when it is restored: the one that its contact has been
 * merged into, if it has. Undoing the merge gives it back. If the survivor has been deleted, the record keeps its contact.
 * The caller must hold the lock of merges, as `recordsAboutContacts` does.
 */
export const followMerges = async (
  db: TenantDb,
  table: LinkingTable,
  { id, contact_id: contactId }: { readonly id: string; readonly contact_id: string | null },
): Promise<string | null> => {
  let current = contactId;
  while (current !== null) {
    // The contact is not deleted for good before the record refers to it.
    const [contact] = await db.query<{ is_deleted: boolean }>(sql`
      SELECT deleted_at IS NOT NULL AS is_deleted FROM tenant_crm.contacts
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${current}::uuid FOR KEY SHARE`);
    const [merge] = await db.query<{ survivor_id: string }>(sql`
      UPDATE tenant_crm.contact_merges
      SET moved = jsonb_set(moved, ARRAY[${table}], coalesce(moved -> ${table}, '[]') || to_jsonb(${id}::text))
      WHERE tenant_id = ${db.tenantId}::uuid AND merged_id = ${current}::uuid AND undone_at IS NULL
      RETURNING survivor_id`);
    // Nothing may begin to refer to a deleted contact.
    if (!merge) return contact?.is_deleted ? contactId : current;
    current = merge.survivor_id;
  }
  return null;
};

/**
 * Records about contacts, of a kind without a parent. Restoring one waits for merges before it locks a row, which merges lock
 * in another order.
 */
export const recordsAboutContacts = <T extends KindTypes>(
  kind: Kind<T>,
  source: TenantSource,
): Records<T> => ({
  ...createRecords(kind, source),
  restore: (caller, ...given) =>
    source.forTenant(caller.tenantId).transaction(async (db) => {
      await lockMerges(db, 'shared');
      return createRecords(kind, { forTenant: () => db }).restore(caller, ...given);
    }),
});
