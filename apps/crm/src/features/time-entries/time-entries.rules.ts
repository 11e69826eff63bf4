import { isTimeInRange } from '@tessera/fields';
import { invalidField } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { requireContributor } from '../projects/projects.roles.ts';
import {
  type Context,
  placementAfter,
  projectAtEnd,
  projectOf,
  type RowContext,
} from './time-entries.projects.ts';
import { isTooLong, MAX_MINUTES, minutesAfter, minutesBetween } from './time-entries.times.ts';

/** The times that an input gives. */
interface Times {
  readonly started_at?: Date | undefined;
  readonly ended_at?: Date | null | undefined;
  readonly minutes?: number | null | undefined;
}

/**
 * Lets concurrent changes of one user's entries wait for each other until the transaction ends. The exclusion
 * constraint refuses an overlap without it, but two insertions that wait for each other would be a deadlock.
 */
export const lockEntriesOf = async (db: TenantDb, userId: string): Promise<void> => {
  await lockUntilEnd(db, `time_entries ${db.tenantId} ${userId}`);
};

/** The end that an input gives; undefined if it gives none. */
const endOf = ({ ended_at, minutes }: Times, start: Date): Date | null | undefined => {
  if (minutes === undefined) return ended_at;
  if (ended_at !== undefined) {
    throw invalidField('minutes', 'minutes and ended_at must not be given together');
  }
  // A stored entry may be shorter than what an input can ask for.
  if (!minutes) throw invalidField('minutes', `minutes must be from 1 to ${MAX_MINUTES}`);
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
 * The times of a change without those that only repeat the entry, as when a client sends back what it has read: its minutes
 * are rounded, and would move its end. With another start, minutes alone are the length to keep.
 */
const withoutRepeated = (
  { started_at: start, ended_at: end, minutes }: Times,
  row: RowContext['row'],
): Times => {
  const isSameStart = start === undefined || start.getTime() === row.started_at.getTime();
  const areShown = minutes === minutesBetween(row.started_at, row.ended_at);
  if (minutes !== undefined && areShown && (isSameStart || end !== undefined)) {
    return { started_at: start, ended_at: end };
  }
  const isSameEnd = end?.getTime() === row.ended_at?.getTime();
  return minutes !== undefined && isSameEnd
    ? { started_at: start, minutes }
    : { started_at: start, ended_at: end, minutes };
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
): Promise<{ ended_at?: Date | null; project_id?: string | null; task_id?: null }> => {
  await requireEditor({ caller, db, row });
  const start = change.started_at ?? row.started_at;
  const endedAt = endOf(withoutRepeated(change, row), start);
  // A timer that ran for longer than a year can still get another note.
  if (change.started_at || endedAt)
    assertLength(start, endedAt === undefined ? row.ended_at : endedAt);
  const isOnlyEnded =
    !row.ended_at && endedAt && change.task_id === undefined && change.project_id === undefined;
  const { project_id: projectId, ...taskless } = isOnlyEnded
    ? { project_id: await projectAtEnd({ caller, db, row }) }
    : await placementAfter(change, { caller, db, row });
  await lockEntriesOf(db, row.user_id);
  return {
    ...(endedAt !== undefined && { ended_at: endedAt }),
    ...(projectId !== row.project_id && { project_id: projectId }),
    ...taskless,
  };
};

/** A restored entry must not overlap with those that were made meanwhile. */
export const checkRestored = async (context: RowContext): Promise<void> => {
  await requireEditor(context);
  await lockEntriesOf(context.db, context.row.user_id);
};
