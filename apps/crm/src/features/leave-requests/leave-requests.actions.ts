import { optional, shape, text } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { TypesOf } from '../../records/kind.ts';
import type { ActionRule } from '../../records/records.ts';
import type { leaveRequest } from './leave-requests.kind.ts';
import { assertNotOwn, assertPending, lockLeavesOf } from './leave-requests.rules.ts';

type LeaveTypes = TypesOf<typeof leaveRequest>;

/** What a reviewer may add to a decision. */
export const Review = shape({ comment: optional(text(2000)) });

/** Approves or rejects a pending request, once. Nobody reviews their own, not even while impersonating. */
export const review =
  (decision: 'approved' | 'rejected'): ActionRule<LeaveTypes, { comment?: string }> =>
  async ({ caller, db, row, body }) => {
    const reviewer = requireUser(caller);
    assertNotOwn(caller, row);
    assertPending(row);
    if (decision === 'approved') await lockLeavesOf(db, row);
    return {
      status: decision,
      reviewed_by: reviewer,
      reviewed_at: new Date(),
      review_comment: body.comment ?? null,
    };
  };

/** Withdraws a pending request; only its owner can. */
export const cancel: ActionRule<LeaveTypes, unknown> = ({ caller, row }) => {
  if (row.user_id !== requireUser(caller)) {
    throw new HttpError(403, 'not_the_owner', 'Only the owner can cancel a leave request.');
  }
  assertPending(row);
  return { status: 'cancelled' };
};
