import { date, described, list, named, oneOf, shape } from '@tessera/fields';
import { invalidField, type RouteEntry } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { record, route } from '../../http.ts';
import { checkPeriod } from '../../records/period.ts';
import { leavesBetween } from './leave-calendar.repository.ts';
import { LeaveRequest } from './leave-requests.kind.ts';

/** The longest range, in days, and the largest number of leaves in a response. */
const MAX_DAYS = 366;
const MAX_LEAVES = 10_000;

const {
  id,
  user_id,
  kind,
  first_day,
  last_day,
  is_first_day_half,
  is_last_day_half,
  working_days,
} = LeaveRequest.fields;

export const CalendarLeave = named(
  'CalendarLeave',
  shape({
    id,
    user_id,
    kind,
    status: oneOf('pending', 'approved'),
    first_day,
    last_day,
    is_first_day_half,
    is_last_day_half,
    working_days,
  }),
);

const CalendarRange = shape({
  from: described(date(), 'The first day of the range', '2026-07-01'),
  to: described(date(), `The last day; a range has at most ${MAX_DAYS} days`, '2026-07-31'),
});

/** `GET /leave-requests/calendar`: who is away, or wants to be, between two days. */
export const calendarRoute = (database: Database): RouteEntry =>
  route({
    method: 'get',
    path: '/leave-requests/calendar',
    permission: 'leave_requests.review',
    summary: 'List the approved and pending leaves between two days',
    description: 'Leaves with at least one day in the range, by their first day.',
    query: CalendarRange,
    responses: { 200: record(list(CalendarLeave, { max: MAX_LEAVES })) },
    async handler({ caller, query, reply }) {
      checkPeriod(query, MAX_DAYS);
      const db = database.forTenant(caller.tenantId);
      const leaves = await leavesBetween(db, { ...query, limit: MAX_LEAVES + 1 });
      if (leaves.length > MAX_LEAVES) {
        throw invalidField('to', `to must be earlier: there are more than ${MAX_LEAVES} leaves`);
      }
      return reply(200, { data: leaves });
    },
  });
