import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { historyAtVisible, outsideHidden } from '../../records/hidden-targets.ts';
import type { HiddenHistory } from '../../records/history.ts';
import type { Scope } from '../../records/kind.ts';
import type { RecordRow } from '../../records/row.ts';

const { sql } = Prisma;

/** The part of a caller that decides which projects are visible. */
export type ProjectViewer = Pick<Caller, 'tenantId' | 'userUuid' | 'isSystemAdmin'>;

/** The ids of the projects that the caller is a member of, as a subquery. A client is a member of none. */
const ownProjects = ({ tenantId, userUuid }: ProjectViewer): Prisma.Sql => sql`(
  SELECT project_id FROM tenant_crm.project_members
  WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userUuid}::uuid
)`;

/**
 * The ids of the private projects that the caller may not see, deleted ones included, as a subquery. Undefined
 * for system administrators, who see all projects.
 */
export const hiddenProjects = (caller: ProjectViewer): Prisma.Sql | undefined =>
  caller.isSystemAdmin
    ? undefined
    : sql`(
  SELECT id FROM tenant_crm.projects
  WHERE tenant_id = ${caller.tenantId}::uuid AND is_private AND id NOT IN ${ownProjects(caller)}
)`;

/** The ids of the deleted projects of a tenant, as a subquery. */
export const deletedProjects = ({ tenantId }: Pick<ProjectViewer, 'tenantId'>): Prisma.Sql => sql`(
  SELECT id FROM tenant_crm.projects
  WHERE tenant_id = ${tenantId}::uuid AND deleted_at IS NOT NULL
)`;

/** The ids of the projects whose records are not shown to the caller: deleted ones, and private ones of others. */
export const closedProjects = (caller: ProjectViewer): Prisma.Sql => {
  if (caller.isSystemAdmin) return deletedProjects(caller);
  return sql`(
  SELECT id FROM tenant_crm.projects
  WHERE tenant_id = ${caller.tenantId}::uuid
    AND (deleted_at IS NOT NULL OR (is_private AND id NOT IN ${ownProjects(caller)}))
)`;
};

/** The projects that the caller may see: public ones, and private ones that they are a member of. */
export const visibleProjects = (caller: ProjectViewer): Scope<RecordRow> => {
  if (caller.isSystemAdmin) return {};
  return {
    condition: sql`NOT is_private OR id IN ${ownProjects(caller)}`,
    excluded: sql`
      SELECT count(*)::int FROM tenant_crm.projects
      WHERE tenant_id = ${caller.tenantId}::uuid AND deleted_at IS NULL
        AND is_private AND id NOT IN ${ownProjects(caller)}`,
  };
};

/** What a record was while it was in a project that the caller may not see is no part of its history for them. */
export const historyInProjects = (caller: ProjectViewer): HiddenHistory | undefined =>
  historyAtVisible({
    tenantId: caller.tenantId,
    table: 'projects',
    field: 'project_id',
    visible: visibleProjects(caller).condition,
  });

/**
 * The records of another table that are in no project, or in one that the caller may see and that is not deleted. The table
 * needs a nullable column `project_id` and `keep_count('tenant_crm.<table>', 'project_id')`, so that the totals of its
 * lists stay exact. For a scope that has other parts as well, use `closedProjects`.
 */
export const inVisibleProjects = (
  caller: ProjectViewer,
  table: string,
): Pick<Scope<RecordRow>, 'condition' | 'excluded'> =>
  outsideHidden({
    tenantId: caller.tenantId,
    table,
    column: 'project_id',
    hidden: closedProjects(caller),
  });
