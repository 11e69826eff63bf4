import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { causeOf } from '../../records/record-changes.ts';
import { addWriter, membershipOf } from './folder-members.repository.ts';
import { requireTreeWritable, requireWritable, updateAccess } from './folders.access.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface MemberContext extends Context {
  readonly row: { readonly folder_id: string; readonly user_id: string };
}

/** Only callers who may write to a folder, and to all private folders below, add members to it. */
export const checkNewMember = async (
  _input: unknown,
  { caller, db, columns }: Context & { readonly columns: { readonly folder_id?: string } },
): Promise<Record<never, never>> => {
  const { folder_id: folderId = '' } = columns;
  await requireWritable(db, caller, folderId);
  await requireTreeWritable(db, caller, folderId);
  return {};
};

/** Only callers who may write to a folder change the access of its members. */
export const checkAccessChange = async (
  _change: unknown,
  { caller, db, row }: MemberContext,
): Promise<Record<never, never>> => {
  await requireWritable(db, caller, row.folder_id);
  return {};
};

/** Every member may leave a folder; only callers who may write to it remove others. */
export const checkRemoval = async ({ caller, db, row }: MemberContext): Promise<void> => {
  if (row.user_id !== caller.userUuid) await requireWritable(db, caller, row.folder_id);
};

/**
 * Keeps who may see the folders in step with their members. Whoever makes a folder of the tenant private by adding
 * its first member becomes a member too, and somebody must be able to change it (409).
 */
export const followMember = async ({
  action,
  caller,
  db,
  row,
}: MemberContext & { readonly action: string }): Promise<void> => {
  const { folder_id: folderId, user_id: userId } = row;
  const { members, isInherited } = await membershipOf(db, folderId);
  const { userUuid } = caller;
  const isFirst = action === 'create' && members === 1 && !isInherited;
  if (isFirst && userUuid !== null && userUuid !== userId) {
    await addWriter(db, causeOf(caller, 'create'), { folderId, userId: userUuid });
  }
  await updateAccess(db, folderId);
};
