import {
  bool,
  date,
  described,
  int,
  list,
  named,
  nullable,
  oneOf,
  optional,
  shape,
  timeZone,
  uuid,
  withDefault,
} from '@tessera/fields';
import { invalidField, type RouteEntry } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { route } from '../../http.ts';
import { checkPeriod } from '../../records/period.ts';
import { timeEntry } from './time-entries.kind.ts';
import { toMinutes } from './time-entries.times.ts';
import {
  type Group,
  groups,
  type SummaryRow as Sums,
  summarize,
} from './time-entry-summary.repository.ts';

/** The longest period in days, and the largest number of rows in a response. */
const MAX_DAYS = 366;
const MAX_ROWS = 10_000;

const amount = int(0, Number.MAX_SAFE_INTEGER);
const amounts = {
  entries: described(amount, 'The number of time entries'),
  minutes: described(amount, 'The sum of their times, to the nearest minute'),
  billable_minutes: described(amount, 'The part of it that is billable, to the nearest minute'),
};

const SummaryRow = named(
  'TimeEntrySummaryRow',
  shape({
    user_id: optional(uuid()),
    project_id: described(optional(nullable(uuid())), 'Null: entries without a project'),
    day: described(optional(date()), 'The day on which the entries began, in the time zone'),
    entries: amounts.entries,
    minutes: amounts.minutes,
    billable_minutes: amounts.billable_minutes,
  }),
);

const Summary = shape({
  data: list(SummaryRow, { max: MAX_ROWS }),
  meta: named('TimeEntrySummaryTotals', shape(amounts)),
});

const SummaryQuery = shape({
  from: described(date(), 'The first day', '2026-03-01'),
  to: described(date(), `The last day; at most ${MAX_DAYS} days from the first`, '2026-03-31'),
  group_by: described(
    withDefault(
      oneOf(
        'user',
        'project',
        'day',
        'user,project',
        'user,day',
        'project,day',
        'user,project,day',
      ),
      'user',
    ),
    'Each row has the `user_id`, the `project_id` and the `day` that its entries have in common.',
  ),
  time_zone: described(
    withDefault(timeZone(), 'UTC'),
    'Where days begin and end, by its name in the IANA database',
  ),
  user_id: optional(uuid()),
  project_id: optional(uuid()),
  billable: optional(bool()),
});

/** The sums as responses show them. */
const rounded = <T extends Sums>({ milliseconds, billable_milliseconds, ...group }: T) => ({
  ...group,
  minutes: toMinutes(milliseconds),
  billable_minutes: toMinutes(billable_milliseconds),
});

/** `GET /time-entries/summary`: minutes by user, project and day. */
export const summaryRoute = (database: Database): RouteEntry =>
  route({
    method: 'get',
    path: '/time-entries/summary',
    permission: 'time_entries.list',
    summary: 'Sum up time entries by user, project and day',
    description:
      'The entries that began in the period and that the list shows to the caller, without running timers. An ' +
      'entry counts for the day on which it began. Times are added up exactly, and each sum is rounded: the sums of rows, ' +
      'and the minutes of single entries, may differ from the total by their rounding.',
    query: SummaryQuery,
    responses: { 200: Summary },
    async handler({ caller, query, reply }) {
      checkPeriod(query, MAX_DAYS);
      const { group_by: groupBy, ...filters } = query;
      const by = groups.filter((group) => groupBy.split(',').includes(group)) as Group[];
      const scope = timeEntry.scope?.(caller) ?? {};
      const db = database.forTenant(caller.tenantId);
      const rows = await summarize(db, scope, { ...filters, by, limit: MAX_ROWS + 1 });
      if (rows.length > MAX_ROWS) {
        const message = `group_by or the period must be narrower: there are more than ${MAX_ROWS} rows`;
        throw invalidField('group_by', message);
      }
      const total = { entries: 0, milliseconds: 0, billable_milliseconds: 0 };
      for (const row of rows) {
        total.entries += row.entries;
        total.milliseconds += row.milliseconds;
        total.billable_milliseconds += row.billable_milliseconds;
      }
      return reply(200, { data: rows.map(rounded), meta: rounded(total) });
    },
  });
