import type { TenantDb } from '../../database.ts';
import { longAgo } from '../../files/trash.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { causeOf, recordChanges } from '../../records/record-changes.ts';
import { trashedFolder } from '../document-folders/folder-trash.kind.ts';
import { trashedDocument } from './document-trash.kind.ts';

const { raw, sql } = Prisma;

/**
 * Locks a row in a trash that the caller sees, as the list of that trash does, and returns a column of it; undefined if there
 * is none.
 */
const lockListed = async <R>(
  db: TenantDb,
  caller: Caller,
  { table, scope }: Pick<typeof trashedDocument | typeof trashedFolder, 'table' | 'scope'>,
  [id, column]: readonly [id: string, column: 'id' | 'folder_id'],
): Promise<R | undefined> => {
  const { condition = sql`TRUE` } = scope?.(caller) ?? {};
  const [row] = await db.query<R>(sql`
    SELECT ${raw(column)} FROM ${raw(`tenant_crm.${table}`)}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND (${condition}) FOR UPDATE`);
  return row;
};

/** Locks a document in the trash that the caller sees. */
export const lockTrashed = (
  db: TenantDb,
  caller: Caller,
  id: string,
): Promise<{ readonly folder_id: string | null } | undefined> =>
  lockListed(db, caller, trashedDocument, [id, 'folder_id']);

/** Locks a folder in the trash that the caller sees. Returns whether there is one. */
export const lockTrashedFolder = async (
  db: TenantDb,
  caller: Caller,
  id: string,
): Promise<boolean> => (await lockListed(db, caller, trashedFolder, [id, 'id'])) !== undefined;

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
