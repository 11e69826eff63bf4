import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { TypesOf } from '../../records/kind.ts';
import type { ActionRule } from '../../records/records.ts';
import type { timeEntry } from './time-entries.kind.ts';
import { projectAtEnd } from './time-entries.projects.ts';
import { lockEntriesOf, requireEditor } from './time-entries.rules.ts';

/** How much the clocks of two servers may differ, or of a server and a browser that ends an entry. */
const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * When a timer of the user begins that is started now. If a faster clock has just ended an entry, the timer begins where
 * that ends: it would overlap otherwise, although the work did not. Needs the lock of the user's entries.
 */
export const timerStart = async (db: TenantDb, userId: string): Promise<Date> => {
  const [latest] = await db.query<{ ended_at: Date | null }>(Prisma.sql`
    SELECT ended_at FROM tenant_crm.time_entries
    WHERE tenant_id = ${db.tenantId}::uuid AND user_id = ${userId}::uuid AND deleted_at IS NULL
    ORDER BY started_at DESC LIMIT 1`);
  const now = Date.now();
  const end = latest?.ended_at?.getTime() ?? now;
  return new Date(end > now && end <= now + CLOCK_DIFFERENCE_MS ? end : now);
};

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
