import { HttpError } from '@tessera/http-kit';
import type { TypesOf } from '../../records/kind.ts';
import type { ActionRule } from '../../records/records.ts';
import type { timeEntry } from './time-entries.kind.ts';
import { projectAtEnd } from './time-entries.projects.ts';
import { lockEntriesOf, requireEditor } from './time-entries.rules.ts';

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
