import { Prisma } from '../../generated/prisma/client.ts';
import type { Scope } from '../../records/kind.ts';
import type { RecordRow } from '../../records/row.ts';
import {
  hiddenProjects,
  inVisibleProjects,
  type ProjectViewer,
} from '../projects/projects.visibility.ts';

const { sql } = Prisma;

/** The entries of visible projects and of none, and the caller's own, whatever project they are in. */
export const visibleEntries = (caller: ProjectViewer): Scope<RecordRow> => {
  const { condition, excluded } = inVisibleProjects(caller, 'time_entries');
  const hidden = hiddenProjects(caller);
  if (!condition || !hidden) return {};
  const own = sql`user_id = ${caller.userUuid}::uuid`;
  return {
    condition: sql`${condition} OR ${own}`,
    // One project after the other: a user may have entered thousands of entries, but few into projects that they no
    // longer see.
    excluded: sql`(${excluded}) - (
      SELECT coalesce(sum(entries.count), 0)::int FROM ${hidden} AS hidden CROSS JOIN LATERAL (
        SELECT count(*) FROM tenant_crm.time_entries
        WHERE tenant_id = ${caller.tenantId}::uuid AND project_id = hidden.id AND ${own} AND deleted_at IS NULL
      ) AS entries
    )`,
  };
};
