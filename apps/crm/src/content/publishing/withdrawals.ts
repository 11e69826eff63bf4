import { addActivities } from '../../activity/add-activity.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Actor } from '../../records/actor.ts';
import { createDifferences, recordChanges } from '../../records/record-changes.ts';
import type { PublicationStatus } from '../published.ts';
import { deleteScheduledOf } from './publications.repository.ts';
import type { Publishable } from './publishing.rules.ts';

const { sql, raw } = Prisma;

type Withdrawn = Extract<PublicationStatus, 'published' | 'scheduled'>;

/** What the history and the activity log say of a record that is a draft again, by its status before. */
const ACTIONS = {
  published: { change: 'unpublish', activity: 'unpublished' },
  scheduled: { change: 'unschedule', activity: 'unscheduled' },
} as const satisfies Record<Withdrawn, object>;

/**
 * Returns a function that turns records of a kind back into drafts, those of them that are published or scheduled, as
 * unpublishing each would, in as many statements for a thousand as for one.
 */
export const createWithdrawals = (
  kind: Publishable & Parameters<typeof createDifferences>[0],
): ((db: TenantDb, actor: Actor, ids: readonly string[]) => Promise<void>) => {
  const { former, names, changes } = createDifferences(kind)([
    'status',
    'published_at',
    'scheduled_at',
  ]);
  const table = raw(`tenant_crm.${kind.table}`);
  return async (db, actor, ids) => {
    const recorded = (status: Withdrawn): Prisma.Sql =>
      recordChanges(
        db,
        { action: ACTIONS[status].change, actor },
        {
          table: kind.table,
          from: sql`(SELECT * FROM withdrawn WHERE former_status = ${status}) AS these`,
          changes,
        },
      );
    const withdrawn = await db.query<{ id: string; former_status: Withdrawn }>(sql`
      WITH withdrawn AS (
        UPDATE ${table} SET status = 'draft', published_at = NULL, scheduled_at = NULL, version = version + 1,
          updated_at = ${new Date()}
        FROM (
          SELECT ${former} FROM ${table}
          WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${[...ids]}::uuid[]) AND deleted_at IS NULL
            AND status IN ('published', 'scheduled')
          ORDER BY id FOR NO KEY UPDATE
        ) AS former
        WHERE tenant_id = ${db.tenantId}::uuid AND id = former_id
        RETURNING id, version, status, published_at, scheduled_at, ${names}
      ), unpublished AS (${recorded('published')}), unscheduled AS (${recorded('scheduled')})
      SELECT id, former_status FROM withdrawn ORDER BY id`);
    await deleteScheduledOf(
      db,
      withdrawn.map(({ id }) => id),
    );
    await addActivities(
      db,
      actor,
      withdrawn.map(({ id, former_status: before }) => ({
        action: ACTIONS[before].activity,
        resourceType: kind.resource,
        resourceId: id,
        details: { status_before: before },
      })),
    );
  };
};
