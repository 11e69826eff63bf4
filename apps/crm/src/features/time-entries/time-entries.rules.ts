import { isTimeInRange } from '@tessera/fields';
import { HttpError, invalidField } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import type { TypesOf } from '../../records/kind.ts';
import type { ActionRule } from '../../records/records.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { mayContribute, requireContributor } from '../projects/projects.roles.ts';
import { inVisibleProjects } from '../projects/projects.visibility.ts';
import type { timeEntry } from './time-entries.kind.ts';
import { isTooLong, minutesAfter } from './time-entries.times.ts';

const { sql } = Prisma;

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

/** The times that an input gives. */
interface Times {
  readonly started_at?: Date;
  readonly ended_at?: Date | null;
  readonly minutes?: number;
}

/** The part of an entry that rules read. */
interface EntryState {
  readonly user_id: string;
  readonly project_id: string | null;
  readonly task_id: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

interface RowContext extends Context {
  readonly row: EntryState;
}

/**
 * Lets concurrent changes of one user's entries wait for each other until the transaction ends. The exclusion
 * constraint refuses an overlap without it, but two insertions that wait for each other would be a deadlock.
 */
export const lockEntriesOf = async (db: TenantDb, userId: string): Promise<void> => {
  await lockUntilEnd(db, `time_entries ${db.tenantId} ${userId}`);
};

/** The project of a task; undefined if the caller cannot see the task, or if it is deleted. */
const findVisibleTask = async (
  caller: Caller,
  db: TenantDb,
  taskId: string,
): Promise<{ readonly project_id: string | null } | undefined> => {
  const { condition = sql`true` } = inVisibleProjects(caller, 'tasks');
  const [task] = await db.query<{ project_id: string | null }>(sql`
    SELECT project_id FROM tenant_crm.tasks
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${taskId}::uuid AND deleted_at IS NULL
      AND (${condition})`);
  return task;
};

/** The end that an input gives; undefined if it gives none. */
const endOf = ({ ended_at, minutes }: Times, start: Date): Date | null | undefined => {
  if (minutes === undefined) return ended_at;
  if (ended_at !== undefined) {
    throw invalidField('minutes', 'minutes and ended_at must not be given together');
  }
  const end = minutesAfter(start, minutes);
  if (!isTimeInRange(end)) {
    throw invalidField(
      'minutes',
      'minutes must be so few that the entry ends before the year 10000',
    );
  }
  return end;
};

/**
 * Throws 422 if an entry is longer than a year: the database cannot compute the minutes of some thousands of years,
 * not even to refuse an end before the start.
 */
const assertLength = (start: Date, end: Date | null): void => {
  if (!isTooLong(start, end)) return;
  throw invalidField('ended_at', 'ended_at must be after started_at, and within a year of it');
};

/** The user of a new entry; without `time_entries.export`, only the caller. */
const userOf = (given: string | undefined, own: string | undefined, caller: Caller): string => {
  if (own === undefined) return given ?? requireUser(caller);
  if (given === undefined || given === own) return own;
  throw invalidField('user_id', 'user_id must be your own without time_entries.export');
};

/**
 * The project of an entry: the given one, or else that of its task. Throws 422 if the caller cannot see the task,
 * or if it belongs to another project.
 */
const projectOf = async (
  { caller, db }: Context,
  taskId: string | null | undefined,
  given: string | null | undefined,
): Promise<string | null> => {
  if (taskId === undefined || taskId === null) return given ?? null;
  const task = await findVisibleTask(caller, db, taskId);
  if (!task) throw invalidField('task_id', 'task_id must be the id of an existing task');
  if (given !== undefined && given !== task.project_id) {
    throw invalidField('task_id', 'task_id must be the id of a task of the project');
  }
  return task.project_id;
};

/** The project after a change. With another task, an entry moves to the project of the task. */
const projectAfter = async (
  { task_id: taskId, project_id: given }: Partial<Pick<EntryState, 'task_id' | 'project_id'>>,
  { caller, db, row }: RowContext,
): Promise<string | null> => {
  const isSameTask = taskId === undefined || taskId === row.task_id;
  if (isSameTask && (given === undefined || given === row.project_id)) return row.project_id;
  if (taskId === null && given === undefined) return row.project_id;
  const projectId = await projectOf(
    { caller, db },
    taskId === undefined ? row.task_id : taskId,
    given,
  );
  if (projectId !== row.project_id) await requireContributor(caller, db, projectId);
  return projectId;
};

/**
 * The project of a timer that ends: that of its task, which may have moved meanwhile. It stays if the caller does not see
 * the task any more, or may not add an entry to its project: a timer can always be ended.
 */
const projectAtEnd = async ({ caller, db, row }: RowContext): Promise<string | null> => {
  const task = row.task_id === null ? undefined : await findVisibleTask(caller, db, row.task_id);
  if (!task || task.project_id === row.project_id) return row.project_id;
  if (task.project_id === null) return null;
  return (await mayContribute(caller, db, task.project_id)) ? task.project_id : row.project_id;
};

/** Throws 403 `project_role_required` if a viewer of a private project changes an entry that is not their own. */
export const requireEditor = async ({ caller, db, row }: RowContext): Promise<void> => {
  if (row.user_id !== caller.userUuid) await requireContributor(caller, db, row.project_id);
};

/** A new entry has either minutes or an end; null as the end is a running timer. */
export const checkNewEntry = async (
  input: Times & {
    readonly user_id?: string;
    readonly project_id?: string | null;
    readonly task_id?: string | null;
    readonly started_at: Date;
  },
  { caller, db, columns }: Context & { readonly columns: { readonly user_id?: string } },
): Promise<{ user_id: string; ended_at: Date | null; project_id: string | null }> => {
  const endedAt = endOf(input, input.started_at);
  if (endedAt === undefined) {
    throw invalidField('ended_at', 'either ended_at or minutes is required');
  }
  assertLength(input.started_at, endedAt);
  const userId = userOf(input.user_id, columns.user_id, caller);
  const projectId = await projectOf({ caller, db }, input.task_id, input.project_id);
  await requireContributor(caller, db, projectId);
  await lockEntriesOf(db, userId);
  return { user_id: userId, ended_at: endedAt, project_id: projectId };
};

/** A change may move an entry, end it, or give it to another task or project. */
export const checkChange = async (
  change: Times & { readonly project_id?: string | null; readonly task_id?: string | null },
  { caller, db, row }: RowContext,
): Promise<{ ended_at?: Date | null; project_id?: string | null }> => {
  await requireEditor({ caller, db, row });
  const start = change.started_at ?? row.started_at;
  const endedAt = endOf(change, start);
  // A timer that ran for longer than a year can still get another note.
  if (change.started_at || endedAt)
    assertLength(start, endedAt === undefined ? row.ended_at : endedAt);
  const isOnlyEnded =
    !row.ended_at && endedAt && change.task_id === undefined && change.project_id === undefined;
  const projectId = isOnlyEnded
    ? await projectAtEnd({ caller, db, row })
    : await projectAfter(change, { caller, db, row });
  await lockEntriesOf(db, row.user_id);
  return {
    ...(endedAt !== undefined && { ended_at: endedAt }),
    ...(projectId !== row.project_id && { project_id: projectId }),
  };
};

/** A restored entry must not overlap with those that were made meanwhile. */
export const checkRestored = async (context: RowContext): Promise<void> => {
  await requireEditor(context);
  await lockEntriesOf(context.db, context.row.user_id);
};

/** How much the clocks of two servers may differ. */
const CLOCK_DIFFERENCE_MS = 60_000;

/** Stops a running timer now. */
export const stop: ActionRule<TypesOf<typeof timeEntry>, unknown> = async (context) => {
  const { db, row } = context;
  await requireEditor(context);
  if (row.ended_at) throw new HttpError(409, 'conflict', 'The timer is not running.');
  const now = Date.now();
  const start = row.started_at.getTime();
  if (start > now + CLOCK_DIFFERENCE_MS) {
    throw new HttpError(409, 'conflict', 'The timer has not begun yet.');
  }
  const projectId = await projectAtEnd(context);
  await lockEntriesOf(db, row.user_id);
  return {
    // An entry is never empty, even if the clocks of two servers differ.
    ended_at: new Date(Math.max(now, start + 1)),
    ...(projectId !== row.project_id && { project_id: projectId }),
  };
};
