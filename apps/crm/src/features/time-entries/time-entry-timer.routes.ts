import { named, type Out, omissible, shape } from '@tessera/fields';
import { HttpError, type RouteEntry } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { Database } from '../../database.ts';
import { record, route } from '../../http.ts';
import type { Versioned } from '../../records/records.ts';
import { tagged } from '../../records/versions.ts';
import { type TimeEntries, TimeEntry, TimeEntryInput } from './time-entries.kind.ts';
import { lockEntriesOf } from './time-entries.rules.ts';
import { timerStart } from './time-entry-timer.rules.ts';

const { project_id, task_id, billable, note } = TimeEntryInput.fields;
const Timer = named('TimerInput', shape({ project_id, task_id, billable, note }));

/** A timer overlaps with what ends later: a running timer, or an entry in the future. */
const asConflict = (error: unknown): never => {
  if (!(error instanceof HttpError) || !error.errors?.started_at) throw error;
  const message =
    'A timer is running already, or an entry of yours ends more than a minute from now.';
  throw new HttpError(409, 'conflict', message, { cause: error });
};

/** `POST /time-entries/start`: a new entry of the caller that begins now and has no end. */
export const startRoute = (timeEntries: TimeEntries, database: Database): RouteEntry =>
  route({
    method: 'post',
    path: '/time-entries/start',
    permission: 'time_entries.create',
    resource: 'time entry',
    summary: 'Start a timer',
    description:
      'A new time entry of the caller, which begins now and ends when it is stopped. If a faster clock has just ended ' +
      'an entry of theirs, at most a minute from now, it begins at that end.',
    body: omissible(Timer),
    responses: { 201: record(TimeEntry) },
    responseHeaders: { 201: ['ETag', 'Location'] },
    problems: {
      409: 'A timer of the caller is running already, or an entry of theirs ends more than a minute from now',
    },
    async handler({ caller, body, req, reply }) {
      const userId = requireUser(caller);
      const started: Versioned<Out<typeof TimeEntry>> = await database
        .transaction(caller.tenantId, async (db) => {
          await lockEntriesOf(db, userId);
          const timer: Out<typeof TimeEntryInput> = {
            ...body,
            started_at: await timerStart(db, userId),
            ended_at: null,
            user_id: userId,
          };
          return timeEntries.create(caller, timer);
        })
        .catch(asConflict);
      const collection = req.originalUrl.split('?', 1)[0]?.slice(0, -'/start'.length);
      const location = `${collection}/${started.id}`;
      return reply(
        201,
        { data: started.answer },
        { ETag: tagged(started).ETag, Location: location },
      );
    },
  });
