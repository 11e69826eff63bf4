import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { historyAtVisible, outsideHidden } from '../../records/hidden-targets.ts';
import type { HiddenHistory } from '../../records/history.ts';
import type { Scope } from '../../records/kind.ts';
import type { RecordRow } from '../../records/row.ts';

const { sql } = Prisma;

/** The part of a caller that decides which folders are visible. */
export type FolderViewer = Pick<Caller, 'tenantId' | 'userUuid' | 'isSystemAdmin'>;

/** The ids of the folders that the caller is a member of, as an array in SQL. A client is a member of none. */
const ownFolders = ({ tenantId, userUuid }: FolderViewer): Prisma.Sql => sql`ARRAY(
  SELECT folder_id FROM tenant_crm.document_folder_members
  WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userUuid}::uuid
)`;

/**
 * The ids of the folders that the caller may not see, deleted ones included, as a subquery. Undefined for system
 * administrators, who see all folders.
 */
const hiddenFolders = (caller: FolderViewer): Prisma.Sql | undefined =>
  caller.isSystemAdmin
    ? undefined
    : sql`(
  SELECT id FROM tenant_crm.document_folders
  WHERE tenant_id = ${caller.tenantId}::uuid AND restricted_by <> '{}'
    AND NOT restricted_by && ${ownFolders(caller)}
)`;

/**
 * The folders that the caller may see: those of the tenant, and those below a folder that they are a member of.
 * System administrators see all.
 */
export const visibleFolders = (caller: FolderViewer): Scope<RecordRow> => {
  if (caller.isSystemAdmin) return {};
  return {
    condition: sql`restricted_by = '{}' OR restricted_by && ${ownFolders(caller)}`,
    excluded: sql`
      SELECT count(*)::int FROM tenant_crm.document_folders
      WHERE tenant_id = ${caller.tenantId}::uuid AND deleted_at IS NULL AND restricted_by <> '{}'
        AND NOT restricted_by && ${ownFolders(caller)}`,
  };
};

/** The history of records in folders leaves out what they were in a folder that the caller may not see. */
export const historyInFolders = (
  caller: FolderViewer,
  field: 'folder_id' | 'parent_id',
): HiddenHistory | undefined =>
  historyAtVisible({
    tenantId: caller.tenantId,
    table: 'document_folders',
    field,
    visible: visibleFolders(caller).condition,
  });

/**
 * The records of another table that are in no folder, or in one that the caller may see. The table needs a nullable
 * column `folder_id` and `keep_count('tenant_crm.<table>', 'folder_id')`, so that the totals of its lists stay exact.
 */
export const inVisibleFolders = (caller: FolderViewer, table: string): Scope<RecordRow> =>
  outsideHidden({
    tenantId: caller.tenantId,
    table,
    column: 'folder_id',
    hidden: hiddenFolders(caller),
  });
