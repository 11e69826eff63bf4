import {
  bool,
  clearable,
  date,
  described,
  named,
  nullable,
  number,
  oneOf,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { requireUser } from '@tessera/resource-server';
import { equals, equalTo, from, timeFilters, timeSort, to } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import {
  areOtherDays,
  assertFree,
  assertMayRemove,
  assertPending,
  lockLeavesOf,
  overlap,
  setsDays,
  statuses,
  workingDaysOf,
} from './leave-requests.rules.ts';

const halfOfFirstDay = 'Whether the leave begins at noon of the first day';
const halfOfLastDay = 'Whether the leave ends at noon of the last day';

const LeaveRequestInput = named(
  'LeaveRequestInput',
  shape({
    kind: oneOf('vacation', 'sick', 'unpaid', 'other'),
    first_day: described(date(), 'The first day of the leave', '2026-07-06'),
    last_day: described(date(), 'The last day of the leave', '2026-07-17'),
    is_first_day_half: described(withDefault(bool(), false), halfOfFirstDay, false),
    is_last_day_half: described(withDefault(bool(), false), halfOfLastDay, false),
    reason: clearable(text(2000)),
  }),
);

const status = oneOf(...statuses);
const workingDays = described(
  number(0, 2000),
  "By the tenant's working week when the days were last set; a half day counts as 0.5",
  10,
);

export const LeaveRequest = answerOf('LeaveRequest', LeaveRequestInput, {
  user_id: uuid(),
  status,
  working_days: workingDays,
  reviewed_by: nullable(uuid()),
  reviewed_at: nullable(time()),
  review_comment: nullable(text(2000)),
});

export const leaveRequest = declareKind({
  table: 'leave_requests',
  name: 'leave request',
  permissions: 'leave_requests',
  create: LeaveRequestInput,
  answer: LeaveRequest,
  sort: { first_day: 'first_day', last_day: 'last_day', ...timeSort },
  defaultSort: '-first_day',
  filters: {
    ...equalTo(LeaveRequestInput, 'kind'),
    status: equals('status', status),
    user_id: equals('user_id', uuid()),
    first_day_from: from('first_day', date()),
    first_day_to: to('first_day', date()),
    last_day_from: from('last_day', date()),
    last_day_to: to('last_day', date()),
    ...timeFilters,
  },
  scope: (caller) =>
    caller.can('leave_requests.review') ? {} : { columns: { user_id: requireUser(caller) } },
  countedBy: ['user_id'],
  constraints: {
    leave_requests_first_day_excl: overlap,
  },
  rules: {
    async create(input, { caller, db }) {
      const user_id = requireUser(caller);
      const working_days = await workingDaysOf(db, input);
      await assertFree(db, user_id, input);
      return { user_id, working_days };
    },
    async update(change, { db, row }) {
      assertPending(row);
      if (!setsDays(change)) return {};
      const days = { ...row, ...change };
      const working_days = await workingDaysOf(db, days);
      if (areOtherDays(days, row)) await assertFree(db, row.user_id, days);
      return { working_days };
    },
    delete({ caller, row }) {
      assertMayRemove(caller, row);
    },
    async restore({ caller, db, row }) {
      assertMayRemove(caller, row);
      if (row.status === 'approved') await lockLeavesOf(db, row);
    },
  },
});

export type LeaveRequests = RecordsOf<typeof leaveRequest>;
