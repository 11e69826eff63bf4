import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LeaveDays } from './working-days.ts';

const { sql, raw } = Prisma;

/** A leave as the calendar shows it. */
export interface CalendarLeave extends LeaveDays {
  readonly id: string;
  readonly user_id: string;
  readonly kind: 'vacation' | 'sick' | 'unpaid' | 'other';
  readonly status: 'pending' | 'approved';
  readonly working_days: number;
}

/** The live leaves, approved and pending, with a day in the range, by their first day; at most `limit`. */
export const leavesBetween = (
  db: TenantDb,
  { from, to, limit }: { readonly from: string; readonly to: string; readonly limit: number },
): Promise<CalendarLeave[]> =>
  db.read(sql`
    SELECT id, user_id, kind, status, first_day, last_day, is_first_day_half, is_last_day_half, working_days
    FROM ${raw(`${db.readSchema}.leave_requests`)}
    WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND status IN ('pending', 'approved')
      AND daterange(first_day, last_day, '[]') && daterange(${from}::date, ${to}::date, '[]')
    ORDER BY first_day, id LIMIT ${limit}`);
