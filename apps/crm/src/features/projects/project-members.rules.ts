import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import {
  hasOtherManager,
  lockProject,
  type ProjectRole,
  type ProjectState,
  requireRole,
} from './projects.roles.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface MemberState {
  readonly project_id: string;
  readonly user_id: string;
  readonly role: ProjectRole;
}

interface MemberContext extends Context {
  readonly row: MemberState;
}

/**
 * Throws 409 if somebody must stay a manager: the owner of a project, and the last manager of a private one,
 * whom nobody could replace.
 */
const assertReplaceable = async (
  db: TenantDb,
  project: ProjectState,
  row: MemberState,
): Promise<void> => {
  if (project.owner_id === row.user_id) {
    const message = 'The owner stays a manager of the project: change the owner first.';
    throw new HttpError(409, 'conflict', message);
  }
  if (!project.is_private || row.role !== 'manager') return;
  if (await hasOtherManager(db, row.project_id, row.user_id)) return;
  const message = 'A private project needs a manager: make another member a manager first.';
  throw new HttpError(409, 'conflict', message);
};

/** Only managers add members to a private project. */
export const checkNewMember = async (
  _input: unknown,
  { caller, db, columns }: Context & { readonly columns: { readonly project_id?: string } },
): Promise<Record<never, never>> => {
  await requireRole(caller, db, await lockProject(db, columns.project_id ?? ''), ['manager']);
  return {};
};

/** Only managers change roles in a private project. */
export const checkRoleChange = async (
  change: { readonly role: ProjectRole },
  { caller, db, row }: MemberContext,
): Promise<Record<never, never>> => {
  const project = await lockProject(db, row.project_id);
  await requireRole(caller, db, project, ['manager']);
  if (change.role !== 'manager') await assertReplaceable(db, project, row);
  return {};
};

/** Everybody may leave a private project; only managers remove others. */
export const checkRemoval = async ({ caller, db, row }: MemberContext): Promise<void> => {
  const project = await lockProject(db, row.project_id);
  if (row.user_id !== caller.userUuid) await requireRole(caller, db, project, ['manager']);
  await assertReplaceable(db, project, row);
};
