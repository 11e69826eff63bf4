import { HttpError, invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { causeOf, recordChanges } from '../../records/record-changes.ts';
import { hiddenProjects } from './projects.visibility.ts';

const { sql } = Prisma;

export const projectRoles = ['manager', 'member', 'viewer'] as const;
export type ProjectRole = (typeof projectRoles)[number];

/** The part of a project that rules read. */
export interface ProjectState {
  readonly id: string;
  readonly owner_id: string | null;
  readonly is_private: boolean;
}

interface NewManagers {
  readonly projectId: string;
  readonly userIds: readonly string[];
}

/**
 * Makes users managers of a locked project, whether or not they are members already. For the members it is a creation or
 * an update by the caller, with its event.
 */
export const makeManagers = async (
  db: TenantDb,
  caller: Caller,
  { projectId, userIds }: NewManagers,
): Promise<void> => {
  if (userIds.length === 0) return;
  const table = 'project_members';
  const promotions = recordChanges(db, causeOf(caller, 'update'), {
    table,
    from: sql`promoted`,
    changes: sql`jsonb_build_object('role', jsonb_build_array(former_role, 'manager'))`,
  });
  const additions = recordChanges(db, causeOf(caller, 'create'), { table, from: sql`added` });
  await db.query(sql`
    WITH promoted AS (
      UPDATE tenant_crm.project_members
      SET role = 'manager', version = version + 1, updated_at = ${new Date()}
      FROM (
        SELECT id AS former_id, role AS former_role FROM tenant_crm.project_members
        WHERE tenant_id = ${db.tenantId}::uuid AND project_id = ${projectId}::uuid
          AND user_id = ANY(${userIds}::uuid[]) AND role <> 'manager'
        ORDER BY id FOR NO KEY UPDATE
      ) AS former
      WHERE tenant_id = ${db.tenantId}::uuid AND id = former_id
      RETURNING id, version, former_role
    ), added AS (
      INSERT INTO tenant_crm.project_members (tenant_id, id, project_id, user_id, role)
      SELECT ${db.tenantId}::uuid, gen_random_uuid(), ${projectId}::uuid, user_id, 'manager'
      FROM unnest(${userIds}::uuid[]) AS user_id
      ON CONFLICT (tenant_id, project_id, user_id) DO NOTHING
      RETURNING id, version
    ), recorded AS (${promotions})
    ${additions}`);
};

/** Whether a project has a manager besides one user. */
export const hasOtherManager = async (
  db: TenantDb,
  projectId: string,
  userId: string,
): Promise<boolean> => {
  const managers = await db.query(sql`
    SELECT user_id FROM tenant_crm.project_members
    WHERE tenant_id = ${db.tenantId}::uuid AND project_id = ${projectId}::uuid AND role = 'manager'
      AND user_id <> ${userId}::uuid
    LIMIT 1`);
  return managers.length > 0;
};

/** The project, locked until the transaction ends, so that changes of its members wait for each other. */
export const lockProject = async (db: TenantDb, projectId: string): Promise<ProjectState> => {
  const [project] = await db.query<ProjectState>(sql`
    SELECT id, owner_id, is_private FROM tenant_crm.projects
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${projectId}::uuid FOR NO KEY UPDATE`);
  if (!project) throw new TypeError('A member has a project.');
  return project;
};

const roleOf = async (
  { userUuid }: Caller,
  db: TenantDb,
  projectId: string,
): Promise<ProjectRole | undefined> => {
  const [member] = await db.query<{ role: ProjectRole }>(sql`
    SELECT role FROM tenant_crm.project_members
    WHERE tenant_id = ${db.tenantId}::uuid AND project_id = ${projectId}::uuid
      AND user_id = ${userUuid}::uuid`);
  return member?.role;
};

/**
 * Whether the caller has one of the roles in the project. Roles limit changes of private projects; in public ones,
 * permissions alone decide. System administrators need no role.
 */
const hasRole = async (
  caller: Caller,
  db: TenantDb,
  { id, is_private: isPrivate }: ProjectState,
  allowed: readonly ProjectRole[],
): Promise<boolean> => {
  if (!isPrivate || caller.isSystemAdmin) return true;
  const role = await roleOf(caller, db, id);
  return role !== undefined && allowed.includes(role);
};

/** Throws 403 `project_role_required` unless the caller has one of the roles in the project; see `hasRole`. */
export const requireRole = async (
  caller: Caller,
  db: TenantDb,
  project: ProjectState,
  allowed: readonly ProjectRole[],
): Promise<void> => {
  if (await hasRole(caller, db, project, allowed)) return;
  const message = `This requires the role ${allowed.join(' or ')} in the private project.`;
  throw new HttpError(403, 'project_role_required', message);
};

/** Which of these users cannot see the project, because it is private and they are no members. */
export const usersWithoutSight = async (
  db: TenantDb,
  projectId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const found = await db.query<{ user_id: string }>(sql`
    SELECT user_id FROM unnest(${userIds}::uuid[]) AS user_id
    WHERE (
      SELECT is_private FROM tenant_crm.projects
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${projectId}::uuid
    ) AND user_id NOT IN (
      SELECT member.user_id FROM tenant_crm.project_members AS member
      WHERE member.tenant_id = ${db.tenantId}::uuid AND member.project_id = ${projectId}::uuid
    )`);
  return new Set(found.map(({ user_id }) => user_id));
};

const contributors: readonly ProjectRole[] = ['manager', 'member'];

/** The project, deleted or not; undefined if the caller cannot see it. */
const findVisibleProject = async (
  caller: Caller,
  db: TenantDb,
  projectId: string,
): Promise<(ProjectState & { readonly deleted_at: Date | null }) | undefined> => {
  const hidden = hiddenProjects(caller);
  const [project] = await db.query<ProjectState & { readonly deleted_at: Date | null }>(sql`
    SELECT id, owner_id, is_private, deleted_at FROM tenant_crm.projects
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${projectId}::uuid
      AND ${hidden ? sql`id NOT IN ${hidden}` : sql`true`}`);
  return project;
};

/** Whether a project exists, is not deleted, and takes contributions from the caller: see `requireContributor`. */
export const mayContribute = async (
  caller: Caller,
  db: TenantDb,
  projectId: string,
): Promise<boolean> => {
  const project = await findVisibleProject(caller, db, projectId);
  if (!project || project.deleted_at) return false;
  return hasRole(caller, db, project, contributors);
};

/**
 * Throws 422 if the caller cannot see the project that an input refers to, and 403 `project_role_required` if
 * they are only a viewer of a private one.
 */
export const requireContributor = async (
  caller: Caller,
  db: TenantDb,
  projectId: string | null,
): Promise<void> => {
  if (projectId === null) return;
  const project = await findVisibleProject(caller, db, projectId);
  if (!project) {
    throw invalidField('project_id', 'project_id must be the id of an existing project');
  }
  await requireRole(caller, db, project, contributors);
};
