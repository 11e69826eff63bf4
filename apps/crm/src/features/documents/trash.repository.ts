import type { TenantDb } from '../../database.ts';
import { longAgo } from '../../files/trash.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { causeOf, recordChanges } from '../../records/record-changes.ts';
import { trashedFolder } from '../document-folders/folder-trash.kind.ts';
import { trashedDocument } from './document-trash.kind.ts';

const { sql } = Prisma;

/** Locks a document in the trash that the caller sees, as the list of the trash does; undefined if there is none. */
export const lockTrashed = async (
  db: TenantDb,
  caller: Caller,
  id: string,
): Promise<{ readonly folder_id: string | null } | undefined> => {
  const { condition = sql`TRUE` } = trashedDocument.scope?.(caller) ?? {};
  const [row] = await db.query<{ folder_id: string | null }>(sql`
    SELECT folder_id FROM tenant_crm.documents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND (${condition}) FOR UPDATE`);
  return row;
};

/** Locks a folder in the trash that the caller sees, in the same way. Returns whether there is one. */
export const lockTrashedFolder = async (
  db: TenantDb,
  caller: Caller,
  id: string,
): Promise<boolean> => {
  const { condition = sql`TRUE` } = trashedFolder.scope?.(caller) ?? {};
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.document_folders
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND (${condition}) FOR UPDATE`);
  return rows.length > 0;
};

/**
 * Takes a document out of the trash, so that it is deleted for good next and not restored. The history shows who has
 * decided that, as a second deletion.
 */
export const expire = async (db: TenantDb, caller: Caller, id: string): Promise<void> => {
  const recorded = recordChanges(db, causeOf(caller, 'delete'), {
    table: 'documents',
    from: sql`expired`,
  });
  await db.query(sql`
    WITH expired AS (
      UPDATE tenant_crm.documents
      SET deleted_at = ${longAgo()}, version = version + 1, updated_at = ${new Date()}
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid
      RETURNING id, version
    ), recorded AS (${recorded})
    SELECT id FROM expired`);
};
