import { Prisma } from '../../generated/prisma/client.ts';
import type { Scope } from '../../records/kind.ts';
import type { RecordRow } from '../../records/row.ts';
import {
  deletedProjects,
  hiddenProjects,
  inVisibleProjects,
  type ProjectViewer,
} from '../projects/projects.visibility.ts';

const { sql } = Prisma;

/** The number of the caller's entries that a condition selects, not deleted. */
const ownCount = ({ tenantId, userUuid }: ProjectViewer, condition: Prisma.Sql): Prisma.Sql => sql`(
  SELECT count(*)::int FROM tenant_crm.time_entries
  WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userUuid}::uuid AND deleted_at IS NULL AND ${condition}
)`;

/**
 * The entries of visible projects and of none, and the caller's own, whatever project they are in. Those of deleted projects
 * are not shown, except for a timer of the caller that is running, which can be stopped.
 */
export const visibleEntries = (caller: ProjectViewer): Scope<RecordRow> => {
  const { condition, excluded } = inVisibleProjects(caller, 'time_entries');
  const deleted = deletedProjects(caller);
  const hidden = hiddenProjects(caller);
  const own = sql`user_id = ${caller.userUuid}::uuid`;
  // One project after the other: a user may have entered thousands of entries, but few into projects that they no
  // longer see.
  const ownInHidden =
    hidden &&
    sql`(
      SELECT coalesce(sum(entries.count), 0)::int FROM ${hidden} AS hidden CROSS JOIN LATERAL (
        SELECT count(*) FROM tenant_crm.time_entries
        WHERE tenant_id = ${caller.tenantId}::uuid AND project_id = hidden.id AND ${own} AND deleted_at IS NULL
          AND hidden.id NOT IN ${deleted}
      ) AS entries
    )`;
  return {
    condition: sql`${condition} OR (${own} AND (ended_at IS NULL OR project_id NOT IN ${deleted}))`,
    excluded: sql`(${excluded}) - ${ownInHidden ?? sql`0`}
      - ${ownCount(caller, sql`ended_at IS NULL AND project_id IN ${deleted}`)}`,
  };
};

/** The caller's own entries, without those of deleted projects, except for a running timer. */
export const ownEntries = (caller: ProjectViewer): Scope<RecordRow> => {
  const deleted = deletedProjects(caller);
  return {
    condition: sql`project_id IS NULL OR ended_at IS NULL OR project_id NOT IN ${deleted}`,
    excluded: ownCount(caller, sql`ended_at IS NOT NULL AND project_id IN ${deleted}`),
  };
};
