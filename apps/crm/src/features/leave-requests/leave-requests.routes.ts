import type { Exports, RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { recordRoutes } from '../../records/routes.ts';
import { calendarRoute } from './leave-calendar.routes.ts';
import { cancel, Review, review } from './leave-requests.actions.ts';
import { type LeaveRequests, leaveRequest } from './leave-requests.kind.ts';

const removalProblems = {
  403: 'The caller lacks `leave_requests.delete`; or the leave is approved, and the caller lacks `leave_requests.review` or is its owner (`own_leave_request`)',
};

const reviewProblems = {
  403: 'The caller lacks `leave_requests.review`, or reviews a request of their own (`own_leave_request`)',
  409: 'The request is not pending',
};

/** The routes of leave requests (decision C9). */
export const leaveRequestRoutes = (
  leaveRequests: LeaveRequests,
  database: Database,
  exports: Exports,
): RouteTable => {
  const routes = recordRoutes(leaveRequest, leaveRequests);
  const reviewing = { permission: 'leave_requests.review', body: Review } as const;
  return {
    listLeaveRequests: routes.list({
      description:
        'Callers without `leave_requests.review` see and change only leave requests of their own.',
    }),
    listLeaveCalendar: calendarRoute(database),
    exportLeaveRequests: routes.export({ permission: 'leave_requests.export', exports }),
    createLeaveRequest: routes.create({
      summary: 'Request a leave',
      description:
        "The caller's own; it waits for a review. Working days are counted by the tenant's working week. It must not overlap " +
        'with an approved leave of the caller; half a day beside half a day does not.',
    }),
    getLeaveRequest: routes.get(),
    updateLeaveRequest: routes.update({
      description:
        'Fields that are left out stay as they are; null empties a field. If the days change, the working days are ' +
        "counted again by the tenant's working week, and the leave must not overlap with an approved one of the same user.",
      problems: { 409: 'The request is not pending' },
    }),
    deleteLeaveRequest: routes.delete({
      description:
        'It can be restored. An approved leave is deleted by callers with `leave_requests.review` only, and not by its owner.',
      problems: removalProblems,
    }),
    listLeaveRequestHistory: routes.history(),
    restoreLeaveRequest: routes.restore({
      description:
        'A record that is not deleted stays as it is. An approved leave is restored by callers with `leave_requests.review` only, and not by its owner; it must not overlap with another approved leave of the same user.',
      problems: removalProblems,
    }),
    approveLeaveRequest: routes.action({
      ...reviewing,
      name: 'approve',
      summary: 'Approve a leave request',
      description:
        'Once, and not by its owner. It must not overlap with an approved leave of the same user; half a day beside half a day does not.',
      problems: reviewProblems,
      rule: review('approved'),
    }),
    rejectLeaveRequest: routes.action({
      ...reviewing,
      name: 'reject',
      summary: 'Reject a leave request',
      description: 'Once, and not by its owner.',
      problems: reviewProblems,
      rule: review('rejected'),
    }),
    cancelLeaveRequest: routes.action({
      name: 'cancel',
      summary: 'Withdraw a leave request',
      problems: {
        403: 'The caller lacks `leave_requests.update`, or is not its owner (`not_the_owner`)',
        409: 'The request is not pending',
      },
      rule: cancel,
    }),
  };
};
