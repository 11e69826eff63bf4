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
  const tenant = sql`${caller.tenantId}::uuid`;
  const left = sql`(changes -> 'folder_id' ->> 0)`;
  // The version that it had then may be deleted: the history knows which one the next upload replaced.
  return {
    condition: sql`number >= coalesce((
      SELECT coalesce((
        SELECT (changes -> 'current_version' ->> 0)::int FROM tenant_crm.record_changes AS upload
        WHERE upload.tenant_id = ${tenant} AND upload.table_name = 'documents' AND upload.record_id = document.id
          AND jsonb_exists(changes, 'current_version') AND changed_at > hidden.until
        ORDER BY changed_at LIMIT 1
      ), document.current_version)
      FROM tenant_crm.documents AS document CROSS JOIN LATERAL (
        SELECT max(changed_at) AS until FROM tenant_crm.record_changes AS move
        WHERE move.tenant_id = ${tenant} AND move.table_name = 'documents' AND move.record_id = document.id
          AND jsonb_exists(changes, 'folder_id')
          AND ${left} IS NOT NULL AND NOT ${hidden.isVisible(sql`${left}::uuid`)}
      ) AS hidden
      WHERE document.tenant_id = ${tenant} AND document.id = document_versions.document_id
        AND hidden.until IS NOT NULL
    ), 1)`,
  };
};
