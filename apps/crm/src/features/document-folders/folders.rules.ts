import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { requireCoversChangeable } from '../../content/published-covers.ts';
import type { TenantDb } from '../../database.ts';
import { isRestorable } from '../../files/trash.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { isWithin } from '../../records/trees.ts';
import { isLive, requireTreeWritable, requireWritable, updateAccess } from './folders.access.ts';
import { isEmpty, restoreContents, restrictionsOf } from './folders.repository.ts';

const { sql } = Prisma;

interface FolderState {
  readonly id: string;
  readonly parent_id: string | null;
  readonly restricted_by: readonly string[];
}

type Restrictions = Pick<FolderState, 'restricted_by'>;

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface FolderContext extends Context {
  readonly row: FolderState;
}

/** A folder is created in one that the caller may write to. */
export const checkNewFolder = async (
  { parent_id: parentId = null }: { readonly parent_id?: string | null },
  { caller, db }: Context,
): Promise<Restrictions> => {
  await requireWritable(db, caller, parentId);
  return { restricted_by: await restrictionsOf(db, parentId) };
};

/**
 * A change needs write access; a move needs it on both sides, and must not put a folder into itself. A move into a
 * private folder gives its members access to all folders below, so it needs write access to these as well.
 */
export const checkFolderChange = async (
  { parent_id: parentId }: { readonly parent_id?: string | null },
  { caller, db, row }: FolderContext,
): Promise<Partial<Restrictions>> => {
  await requireWritable(db, caller, row.id);
  if (parentId === undefined || parentId === row.parent_id) return {};
  await requireWritable(db, caller, row.parent_id);
  await requireWritable(db, caller, parentId);
  if (parentId !== null && (await isWithin(db, 'document_folders', parentId, row.id))) {
    throw invalidField('parent_id', 'parent_id must not be the folder itself or a folder below it');
  }
  const above = await restrictionsOf(db, parentId);
  if (above.length > 0) await requireTreeWritable(db, caller, row.id);
  const own = row.restricted_by.filter((id) => id === row.id);
  return { restricted_by: [...above, ...own] };
};

/** Only an empty folder is deleted (decision C7). */
export const checkFolderDeletion = async ({ caller, db, row }: FolderContext): Promise<void> => {
  await requireWritable(db, caller, row.id);
  if (await isEmpty(db, row.id)) return;
  throw new HttpError(409, 'folder_not_empty', 'The folder is not empty.');
};

/**
 * A folder is restored into the folder in which it was. Its final deletion takes several transactions: once it may have
 * begun, a part of the folder is not restored.
 */
export const checkFolderRestoration = async ({
  caller,
  db,
  row,
}: FolderContext & { readonly row: { readonly deleted_at: Date | null } }): Promise<void> => {
  if (!isRestorable(row)) throw notFound('The document folder');
  if (!(await isLive(db, row.parent_id))) {
    throw new HttpError(409, 'conflict', 'The folder above is deleted: restore it first.');
  }
  await requireWritable(db, caller, row.parent_id);
};

/** Updates who may see the folders below after a move, and restores what was deleted with a folder. */
export const followFolder = async ({
  action,
  caller,
  db,
  before,
  row,
}: FolderContext & {
  readonly action: string;
  readonly before: FolderState | undefined;
}): Promise<void> => {
  if (before && row.parent_id !== before.parent_id) await updateAccess(db, row.id);
  if (action !== 'restore') return;
  // Only now is the row live, so that its own members count.
  await requireWritable(db, caller, row.id);
  await requireCoversChangeable({
    caller,
    db,
    documents: sql`
      SELECT id FROM tenant_crm.documents
      WHERE tenant_id = ${db.tenantId}::uuid AND deleted_with = ${row.id}::uuid`,
    resource: { type: 'document folder', id: row.id },
  });
  await restoreContents(db, row.id, actorOf(caller));
};
