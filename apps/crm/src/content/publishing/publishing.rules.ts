import { randomUUID } from 'node:crypto';
import type { JobQueue } from '@tessera/background-work/jobs';
import { described, type Out, optional, shape, time } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { clientNotConfigured } from '@tessera/resource-server';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import { isSamePrincipal, principalOf } from '../../absent-callers/stored-principal.ts';
import { addActivity } from '../../activity/add-activity.ts';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { type Actor, actorOf } from '../../records/actor.ts';
import type { PublicationState } from '../published.ts';
import { publicationJob } from './publication-job.ts';
import {
  databaseTime,
  deleteScheduled,
  findScheduled,
  type ScheduledPublication,
  storeScheduled,
} from './publications.repository.ts';

/** The body of a publication. */
export const PublishInput = shape({
  publish_at: described(
    optional(time()),
    'Default: now. A time in the future schedules the publication; a past one becomes `published_at`.',
  ),
});

/** The kind of a record: its table, and its resource as in the names of permissions. */
export interface Publishable {
  readonly table: string;
  readonly resource: string;
}

interface PublishableRow extends PublicationState {
  readonly id: string;
}

/** What the rules use: the transaction of the change, and the row that it has locked. */
export interface RuleContext {
  readonly caller: Caller;
  readonly db: TenantDb;
  readonly row: PublishableRow;
}

/** The columns that the rules set. */
export type StateChange = Partial<PublicationState>;

/** Why a scheduled publication does not happen. */
export type DropReason = 'permission_lost' | 'rights_unknown';

const draft: PublicationState = { status: 'draft', published_at: null, scheduled_at: null };

/** What publishing needs besides the database. */
export interface PublishingDependencies {
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly access: RightsSource;
}

/** The rules that change who may read a record. Each change adds a row to the activity log. */
export const publishingRules = (kind: Publishable) => {
  const log = (
    { db, row }: Pick<RuleContext, 'db' | 'row'>,
    actor: Actor,
    action: string,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> =>
    addActivity(db, actor, {
      action,
      resourceType: kind.resource,
      resourceId: row.id,
      details: { status_before: row.status, ...details },
    });

  const logOf = (context: RuleContext, action: string, details = {}): Promise<void> =>
    log(context, actorOf(context.caller), action, details);

  const publishNow = async (
    context: RuleContext,
    publishedAt: Date,
    details = {},
  ): Promise<StateChange> => {
    const { db, row } = context;
    if (row.status === 'scheduled') await deleteScheduled(db, row.id);
    await logOf(context, 'published', { published_at: publishedAt, ...details });
    return { status: 'published', published_at: publishedAt, scheduled_at: null };
  };

  const schedule = async (
    context: RuleContext,
    publishAt: Date,
    { jobs, access }: PublishingDependencies,
  ): Promise<StateChange> => {
    const { caller, db, row } = context;
    if (row.status === 'published') {
      throw new HttpError(409, 'conflict', 'The record is published already; unpublish it first.');
    }
    const principal = principalOf(caller);
    if (row.scheduled_at?.getTime() === publishAt.getTime()) {
      const scheduled = await findScheduled(db, row.id);
      // Somebody else takes the publication over, which then depends on their rights.
      if (scheduled && isSamePrincipal(scheduled.principal, principal)) return {};
    }
    // Whether who schedules it may still publish then is asked of identity.
    if (!access.canAskRights) throw clientNotConfigured();
    const { tenantId: tenant_id } = caller;
    const ids = { content_id: row.id, schedule_id: randomUUID() };
    await storeScheduled(db, {
      ...ids,
      table_name: kind.table,
      publish_at: publishAt,
      user_id: caller.userUuid,
      principal,
    });
    await jobs.enqueue(db, publicationJob, { tenant_id, ...ids }, { runAt: publishAt });
    await logOf(context, 'scheduled', { publish_at: publishAt });
    return { status: 'scheduled', published_at: null, scheduled_at: publishAt };
  };

  /** The publication with this id, if it still waits. */
  const findWaiting = async (
    { db, row }: RuleContext,
    scheduleId: string,
  ): Promise<ScheduledPublication | undefined> => {
    const found = row.status === 'scheduled' ? await findScheduled(db, row.id) : undefined;
    return found?.schedule_id === scheduleId ? found : undefined;
  };

  return {
    /**
     * Publishes the record now or schedules its publication. Publishing a published record, and scheduling the same
     * time again as the same caller, change nothing. Throws 409 for a published record and a time in the future.
     */
    publish:
      (dependencies: PublishingDependencies) =>
      async (
        context: RuleContext & { readonly body: Out<typeof PublishInput> },
      ): Promise<StateChange> => {
        const { db, row, body } = context;
        const now = await databaseTime(db);
        const at = body.publish_at ?? now;
        if (at > now) return schedule(context, at, dependencies);
        const isUnchanged =
          body.publish_at === undefined || row.published_at?.getTime() === at.getTime();
        if (row.status === 'published' && isUnchanged) return {};
        return publishNow(context, at);
      },

    /** Publishes the record if the publication with this id still waits. */
    publishScheduled:
      (scheduleId: string) =>
      async (context: RuleContext): Promise<StateChange> => {
        if (!(await findWaiting(context, scheduleId))) return {};
        const { scheduled_at } = context.row;
        return publishNow(context, await databaseTime(context.db), { scheduled_at });
      },

    /** Drops the publication with this id if it still waits: the record is a draft again. */
    drop:
      (scheduleId: string, reason: DropReason) =>
      async (context: RuleContext): Promise<StateChange> => {
        const scheduled = await findWaiting(context, scheduleId);
        if (!scheduled) return {};
        const { db, row } = context;
        await deleteScheduled(db, row.id);
        await logOf(context, 'publication_dropped', {
          reason,
          scheduled_at: row.scheduled_at,
          scheduled_by: scheduled.principal.id,
          impersonator_id: scheduled.principal.impersonator_id,
        });
        return draft;
      },

    /** Makes the record a draft again, whether it was published, scheduled or archived. */
    async unpublish(context: RuleContext): Promise<StateChange> {
      const { db, row } = context;
      if (row.status === 'draft') return {};
      if (row.status === 'scheduled') await deleteScheduled(db, row.id);
      await logOf(context, row.status === 'scheduled' ? 'unscheduled' : 'unpublished');
      return draft;
    },

    /** Archives the record: it is neither public nor scheduled any more. */
    async archive(context: RuleContext): Promise<StateChange> {
      const { db, row } = context;
      if (row.status === 'archived') return {};
      if (row.status === 'scheduled') await deleteScheduled(db, row.id);
      await logOf(context, 'archived');
      return { status: 'archived', published_at: null, scheduled_at: null };
    },

    /** Drops the scheduled publication of a record that is deleted; one that was public no longer is. */
    async delete(context: RuleContext): Promise<void> {
      const { db, row } = context;
      if (row.status === 'scheduled') {
        await deleteScheduled(db, row.id);
        await logOf(context, 'publication_dropped', {
          reason: 'deleted',
          scheduled_at: row.scheduled_at,
        });
      }
      if (row.status === 'published') await logOf(context, 'unpublished', { reason: 'deleted' });
    },

    /** A deleted record that was published or scheduled comes back as a draft. */
    restore: async ({ row }: Pick<RuleContext, 'row'>): Promise<StateChange> =>
      row.status === 'published' || row.status === 'scheduled' ? draft : {},
  };
};

/** What deleting and restoring a record does to its publication. */
export const publicationRules = (kind: Publishable) => {
  const { delete: remove, restore } = publishingRules(kind);
  return { delete: remove, restore };
};
