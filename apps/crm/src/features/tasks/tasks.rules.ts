import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { followMerges } from '../contacts/merged-contacts.ts';
import { requireContributor, usersWithoutSight } from '../projects/projects.roles.ts';
import { columnGaps, lockColumn, rankWithin } from './board-column.ts';
import type { Status } from './tasks.schema.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

/** The part of a task that rules read. */
export interface TaskState {
  readonly id: string;
  readonly project_id: string | null;
  readonly assignee_ids: readonly string[];
  readonly status: Status;
  readonly completed_at: Date | null;
  readonly rank: string;
}

/** The columns that rules set. */
export interface Placed {
  readonly rank?: string;
  readonly status?: Status;
  readonly completed_at?: Date | null;
  readonly creator_id?: string | null;
  readonly creator_client_id?: string | null;
}

interface RowContext extends Context {
  readonly row: TaskState;
}

/** Throws if the caller may not change tasks of the task's project. */
export const checkChange = (context: RowContext): Promise<void> =>
  requireContributor(context.caller, context.db, context.row.project_id);

/** The completion time that goes with a change of status. */
export const completion = (
  { status: former }: Pick<TaskState, 'status'>,
  status: Status,
): Pick<Placed, 'completed_at'> => {
  if (status === former) return {};
  return { completed_at: status === 'done' ? new Date() : null };
};

/** Throws 422 if one of the assignees cannot see the project; `known` are those that the task in the project had before. */
const requireSight = async (
  db: TenantDb,
  projectId: string | null,
  assigneeIds: readonly string[],
  known: readonly string[] = [],
): Promise<void> => {
  const added = assigneeIds.filter((id) => !known.includes(id));
  if (projectId === null || added.length === 0) return;
  const blind = await usersWithoutSight(db, projectId, added);
  const index = assigneeIds.findIndex((id) => blind.has(id) && !known.includes(id));
  if (index === -1) return;
  const field = `assignee_ids.${index}`;
  throw invalidField(field, `${field} must be a member of the private project`);
};

/** A new task gets the last place of its column. */
export const placeNew = async (
  input: {
    readonly project_id?: string | null;
    readonly status: Status;
    readonly assignee_ids: readonly string[];
  },
  context: Context & { readonly id: string },
): Promise<Placed> => {
  const { caller, db, id } = context;
  const { project_id: projectId = null, status } = input;
  await requireContributor(caller, db, projectId);
  await requireSight(db, projectId, input.assignee_ids);
  const column = { projectId, status };
  await lockColumn(db, column);
  return {
    rank: rankWithin(await columnGaps.atEnd(db, column, id)),
    creator_id: caller.userUuid,
    creator_client_id: caller.userUuid === null ? caller.principal.id : null,
    completed_at: status === 'done' ? new Date() : null,
  };
};

/** With another status or project, a task gets the last place of its new column. */
export const placeUpdated = async (
  change: {
    readonly project_id?: string | null;
    readonly status?: Status;
    readonly assignee_ids?: readonly string[];
  },
  context: RowContext,
): Promise<Placed> => {
  const { caller, db, row } = context;
  const {
    project_id: projectId = row.project_id,
    status = row.status,
    assignee_ids: assigneeIds = row.assignee_ids,
  } = change;
  await checkChange(context);
  const isMoved = projectId !== row.project_id;
  if (isMoved) await requireContributor(caller, db, projectId);
  await requireSight(db, projectId, assigneeIds, isMoved ? [] : row.assignee_ids);
  if (!isMoved && status === row.status) return {};
  const column = { projectId, status };
  await lockColumn(db, column);
  const rank = rankWithin(await columnGaps.atEnd(db, column, row.id));
  const { completed_at: completedAt = row.completed_at } = completion(row, status);
  return { rank, completed_at: completedAt };
};

/**
 * A restored task gets its former place, or the one behind it if that is taken, and the contact that its own has been
 * merged into.
 */
export const placeRestored = async (
  context: RowContext & { readonly row: { readonly contact_id: string | null } },
): Promise<Placed & { readonly contact_id: string | null }> => {
  const { db, row } = context;
  await checkChange(context);
  const contact_id = await followMerges(db, 'tasks', row);
  const column = { projectId: row.project_id, status: row.status };
  await lockColumn(db, column);
  if (!(await columnGaps.isTaken(db, column, row.rank))) return { contact_id };
  return { contact_id, rank: rankWithin(await columnGaps.behind(db, column, row.rank)) };
};
