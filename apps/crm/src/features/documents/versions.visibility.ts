import { Prisma } from '../../generated/prisma/client.ts';
import type { Scope } from '../../records/kind.ts';
import type { RecordRow } from '../../records/row.ts';
import { type FolderViewer, historyInFolders } from '../document-folders/folders.visibility.ts';

const { sql } = Prisma;

/**
 * The versions that the caller may see: like the history of the document, those since it left a folder that the caller may
 * not see, and the one that it had then.
 */
export const shownVersions = (caller: FolderViewer): Scope<RecordRow> => {
  const hidden = historyInFolders(caller, 'folder_id');
  if (!hidden) return {};
  const left = sql`(changes -> 'folder_id' ->> 0)`;
  return {
    condition: sql`coalesce((
      SELECT next.created_at FROM tenant_crm.document_versions AS next
      WHERE next.tenant_id = ${caller.tenantId}::uuid
        AND next.document_id = document_versions.document_id AND next.number > document_versions.number
      ORDER BY next.number LIMIT 1
    ), 'infinity') > coalesce((
      SELECT max(changed_at) FROM tenant_crm.record_changes
      WHERE record_changes.tenant_id = ${caller.tenantId}::uuid AND table_name = 'documents'
        AND record_id = document_versions.document_id AND jsonb_exists(changes, 'folder_id')
        AND ${left} IS NOT NULL AND NOT ${hidden.isVisible(sql`${left}::uuid`)}
    ), '-infinity')`,
  };
};
