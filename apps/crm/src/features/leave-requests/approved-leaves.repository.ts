import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { LeaveDays } from './working-days.ts';

const { sql } = Prisma;

/** The days as a range of SQL: the expression of the constraint `leave_requests_first_day_excl`, whose index finds them. */
const rangeOf = (days: Readonly<Record<keyof LeaveDays, Prisma.Sql>>): Prisma.Sql => sql`tsrange(
  ${days.first_day} + CASE WHEN ${days.is_first_day_half} THEN interval '12 hours' ELSE interval '0' END,
  ${days.last_day} + CASE WHEN ${days.is_last_day_half} THEN interval '12 hours' ELSE interval '1 day' END
)`;

const ofRow = rangeOf({
  first_day: sql`first_day`,
  last_day: sql`last_day`,
  is_first_day_half: sql`is_first_day_half`,
  is_last_day_half: sql`is_last_day_half`,
});

/** Whether the user has an approved leave, not deleted, on one of the days; half a day beside half a day is none. */
export const overlapsApproved = async (
  db: TenantDb,
  userId: string,
  days: LeaveDays,
): Promise<boolean> => {
  const given = rangeOf({
    first_day: sql`${days.first_day}::date`,
    last_day: sql`${days.last_day}::date`,
    is_first_day_half: sql`${days.is_first_day_half}::boolean`,
    is_last_day_half: sql`${days.is_last_day_half}::boolean`,
  });
  const found = await db.query(sql`
    SELECT id FROM tenant_crm.leave_requests
    WHERE tenant_id = ${db.tenantId}::uuid AND user_id = ${userId}::uuid
      AND deleted_at IS NULL AND status = 'approved' AND ${ofRow} && ${given}
    LIMIT 1`);
  return found.length > 0;
};
