import { requireUser } from '@tessera/resource-server';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { makeManagers, type ProjectState, requireRole } from './projects.roles.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface RowContext extends Context {
  readonly row: ProjectState;
}

/** The owner of a new project. The creator of a private one becomes a manager, who sees it: only users can be that. */
export const ownerOf = (
  input: { readonly owner_id?: string | null; readonly is_private: boolean },
  { caller }: Context,
): { owner_id: string | null } => {
  const { owner_id: ownerId = caller.userUuid } = input;
  if (input.is_private) requireUser(caller);
  return { owner_id: ownerId };
};

/** Only managers of a private project make it public or change its owner; viewers change nothing. */
export const checkUpdate = async (
  change: { readonly owner_id?: string | null; readonly is_private?: boolean },
  { caller, db, row }: RowContext,
): Promise<Record<never, never>> => {
  const { owner_id: ownerId = row.owner_id, is_private: isPrivate = row.is_private } = change;
  const needsManager = ownerId !== row.owner_id || isPrivate !== row.is_private;
  await requireRole(caller, db, row, needsManager ? ['manager'] : ['manager', 'member']);
  return {};
};

/** Only managers delete and restore a private project. */
export const checkDeletion = ({ caller, db, row }: RowContext): Promise<void> =>
  requireRole(caller, db, row, ['manager']);

/** The creator, every owner, and whoever makes a project private become its managers. */
export const keepManagers = async ({
  action,
  caller,
  db,
  before,
  row,
}: RowContext & {
  readonly action: string;
  readonly before: ProjectState | undefined;
}): Promise<void> => {
  if (action !== 'create' && action !== 'update') return;
  const managers = new Set<string | null>();
  if (!before) managers.add(caller.userUuid);
  if (row.owner_id !== before?.owner_id) managers.add(row.owner_id);
  if (before && row.is_private && !before.is_private) managers.add(requireUser(caller));
  managers.delete(null);
  await makeManagers(db, caller, { projectId: row.id, userIds: [...managers] as string[] });
};
