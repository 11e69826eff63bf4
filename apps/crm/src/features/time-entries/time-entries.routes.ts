import type { Exports, RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { recordRoutes } from '../../records/routes.ts';
import { type TimeEntries, timeEntry } from './time-entries.kind.ts';
import { summaryRoute } from './time-entry-summary.routes.ts';
import { startRoute } from './time-entry-timer.routes.ts';
import { stop } from './time-entry-timer.rules.ts';

/** The routes of time entries (decision C11). */
export const timeEntryRoutes = (
  timeEntries: TimeEntries,
  database: Database,
  exports: Exports,
): RouteTable => {
  const routes = recordRoutes(timeEntry, timeEntries);
  return {
    listTimeEntries: routes.list({
      description:
        'Callers without `time_entries.export` see and change only their own. Entries of private projects are ' +
        'visible to the members of the project only, of whom viewers change only their own; and to the users who ' +
        'did the work, also when they have left the project.',
    }),
    exportTimeEntries: routes.export({ permission: 'time_entries.export', exports }),
    summarizeTimeEntries: summaryRoute(database),
    createTimeEntry: routes.create({
      description:
        'With either `minutes` or `ended_at`. The entries of a user must not overlap; null as `ended_at` is a ' +
        'timer that is running.',
    }),
    startTimer: startRoute(timeEntries, database),
    getTimeEntry: routes.get(),
    updateTimeEntry: routes.update(),
    deleteTimeEntry: routes.delete(),
    restoreTimeEntry: routes.restore({
      problems: { 409: 'It overlaps with another entry of the user' },
    }),
    listTimeEntryHistory: routes.history(),
    stopTimer: routes.action({
      name: 'stop',
      summary: 'Stop a timer',
      description:
        'The time entry ends now. It takes the project that its task has by now, if the caller sees the task.',
      problems: { 409: 'The timer is not running, or has not begun yet' },
      rule: stop,
    }),
  };
};
