import { HttpError } from '@tessera/http-kit';
import type { Database, TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { KindTypes } from '../../records/kind.ts';
import { lockedRecords } from '../../records/locked-records.ts';
import type { Records } from '../../records/records.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { lacksWriter, spreadRestrictions } from './folders.repository.ts';
import type { FolderViewer } from './folders.visibility.ts';

const { empty, sql } = Prisma;

/** 403: a folder that a body names does not exist, or the caller may not change what is in it (decision C12). */
export const folderAccessDenied = (): HttpError =>
  new HttpError(
    403,
    'folder_access_denied',
    'The folder does not exist, or you may not change what is in it.',
  );

/** Whether a user has write access to one of these folders, an array in SQL. */
const writesTo = (
  { tenantId }: TenantDb,
  userId: string | null,
  folderIds: Prisma.Sql,
): Prisma.Sql => sql`EXISTS (
  SELECT FROM tenant_crm.document_folder_members
  WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid
    AND folder_id = ANY(${folderIds}) AND access = 'write'
)`;

/**
 * Throws 403 unless the caller may change what is in a live folder: everybody if it belongs to the tenant, otherwise
 * callers with write access to it or to a folder above. The root, null, belongs to the tenant. With `alsoDeleted`, a
 * deleted folder is like a live one.
 */
export const requireWritable = async (
  db: TenantDb,
  { userUuid, isSystemAdmin }: FolderViewer,
  folderId: string | null,
  { alsoDeleted = false }: { readonly alsoDeleted?: boolean } = {},
): Promise<void> => {
  if (folderId === null) return;
  const live = alsoDeleted ? empty : sql`AND deleted_at IS NULL`;
  const [folder] = await db.query<{ writable: boolean }>(sql`
    SELECT restricted_by = '{}' OR ${isSystemAdmin}
      OR ${writesTo(db, userUuid, sql`restricted_by`)} AS writable
    FROM tenant_crm.document_folders
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${folderId}::uuid ${live}`);
  if (!folder?.writable) throw folderAccessDenied();
};

/**
 * Throws 403 unless the caller may write to every private folder in the tree of a folder: whoever gets access to the
 * folder gets access to those below, too. With `liveOnly`, deleted folders do not count.
 */
export const requireTreeWritable = async (
  db: TenantDb,
  { userUuid, isSystemAdmin }: FolderViewer,
  folderId: string,
  { liveOnly = false }: { readonly liveOnly?: boolean } = {},
): Promise<void> => {
  if (isSystemAdmin) return;
  const live = liveOnly ? sql`AND folder.deleted_at IS NULL` : empty;
  const refused = await db.query(sql`
    WITH RECURSIVE tree (id, restricted_by) AS (
      SELECT id, restricted_by FROM tenant_crm.document_folders
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${folderId}::uuid
      UNION ALL
      SELECT folder.id, folder.restricted_by
      FROM tenant_crm.document_folders AS folder JOIN tree ON folder.parent_id = tree.id
      WHERE folder.tenant_id = ${db.tenantId}::uuid ${live}
    )
    SELECT id FROM tree
    WHERE restricted_by <> '{}' AND NOT ${writesTo(db, userUuid, sql`restricted_by`)} LIMIT 1`);
  if (refused.length > 0) throw folderAccessDenied();
};

/** Brings who may see a folder and those below it up to date. Throws 409 if nobody could change one of them. */
export const updateAccess = async (db: TenantDb, folderId: string): Promise<void> => {
  await spreadRestrictions(db, folderId);
  if (!(await lacksWriter(db, folderId))) return;
  throw new HttpError(
    409,
    'conflict',
    'At least one member of the folder, and of each private folder below it, must have write access; folders that can be restored count.',
  );
};

/** Whether a folder is not deleted; the root, null, never is. */
export const isLive = async (db: TenantDb, folderId: string | null): Promise<boolean> => {
  if (folderId === null) return true;
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.document_folders
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${folderId}::uuid AND deleted_at IS NULL`);
  return rows.length > 0;
};

/** Locks the tree of a tenant's folders until the transaction ends. */
export const lockTree = (db: TenantDb, mode: 'exclusive' | 'shared'): Promise<void> =>
  lockUntilEnd(db, `document folders ${db.tenantId}`, mode);

/**
 * Records whose changes hold the lock of the tenant's folder tree, which they take before any row: `exclusive` for
 * changes of the tree and of who has access, `shared` for changes of what is in the folders.
 */
export const underTreeLock = <T extends KindTypes>(
  records: Records<T>,
  database: Pick<Database, 'transaction'>,
  mode: 'exclusive' | 'shared',
): Records<T> => lockedRecords(records, database, (db) => lockTree(db, mode));
