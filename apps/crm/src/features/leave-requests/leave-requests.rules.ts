import { HttpError, invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { readSettings } from '../settings/settings.service.ts';
import { overlapsApproved } from './approved-leaves.repository.ts';
import { calendarDays, countWorkingDays, type LeaveDays } from './working-days.ts';

export const statuses = ['pending', 'approved', 'rejected', 'cancelled'] as const;
export type LeaveStatus = (typeof statuses)[number];

interface Leave {
  readonly id: string;
  readonly user_id: string;
  readonly status: LeaveStatus;
}

/** Three years, for parental leave. */
const MAX_DAYS = 3 * 366;

/** 409 unless the request is pending. */
export const assertPending = ({ status }: Leave): void => {
  if (status === 'pending') return;
  throw new HttpError(409, 'conflict', `The leave request is ${status}.`);
};

const dayFields = ['first_day', 'last_day', 'is_first_day_half', 'is_last_day_half'] as const;

/** Whether a change sets a day. */
export const setsDays = (change: object): boolean =>
  dayFields.some((field) => Object.hasOwn(change, field));

/** Whether two leaves have other days; a change may also repeat those that a leave has. */
export const areOtherDays = (one: LeaveDays, other: LeaveDays): boolean =>
  dayFields.some((field) => one[field] !== other[field]);

/** The 422 of days that an approved leave of the user has, by this rule or by the constraint. */
export const overlap = {
  field: 'first_day',
  message: 'first_day to last_day overlaps with an approved leave of the same user',
} as const;

/**
 * 422 if the days overlap with an approved leave of the user, so that they learn of it before the reviewer does. A leave
 * that is approved at the same time is not seen; the constraint refuses the approval then.
 */
export const assertFree = async (db: TenantDb, userId: string, days: LeaveDays): Promise<void> => {
  if (!(await overlapsApproved(db, userId, days))) return;
  throw invalidField(overlap.field, overlap.message);
};

/** Checks the days of a leave (422), and counts the working days by the tenant's week as it is now. */
export const workingDaysOf = async (db: TenantDb, days: LeaveDays): Promise<number> => {
  const { first_day, last_day, is_first_day_half, is_last_day_half } = days;
  if (last_day < first_day) throw invalidField('last_day', 'last_day must not be before first_day');
  if (calendarDays(days) > MAX_DAYS) {
    throw invalidField('last_day', `last_day must be within ${MAX_DAYS} days of first_day`);
  }
  if (first_day === last_day && is_first_day_half && is_last_day_half) {
    throw invalidField(
      'is_last_day_half',
      'is_last_day_half must be false: the leave begins at noon of the same day',
    );
  }
  const { working_week } = await readSettings(db);
  return countWorkingDays(days, working_week);
};

/** 403 if the request is the caller's own, or that of the user as whom the caller acts. */
export const assertNotOwn = (
  { userUuid, impersonatorId }: Pick<Caller, 'userUuid' | 'impersonatorId'>,
  { user_id }: Leave,
): void => {
  if (user_id !== userUuid && user_id !== impersonatorId) return;
  throw new HttpError(403, 'own_leave_request', 'You cannot review your own leave request.');
};

/**
 * Deleting or restoring an approved leave takes the approval back or gives it again: 403 for callers who could not
 * review it.
 */
export const assertMayRemove = (caller: Caller, leave: Leave): void => {
  if (leave.status !== 'approved') return;
  requirePermission(caller, 'leave_requests.review', { type: 'leave request', id: leave.id });
  assertNotOwn(caller, leave);
};

/**
 * Waits until no other transaction approves or restores a leave of the user. The exclusion constraint alone
 * would let two transactions wait for each other, which PostgreSQL ends as a deadlock.
 */
export const lockLeavesOf = async (db: TenantDb, { user_id }: Leave): Promise<void> => {
  await lockUntilEnd(db, `leave_requests ${db.tenantId} ${user_id}`);
};
