import type { PageRequest } from '@tessera/http-kit';
import { type ActivityKind, actionsOfKind } from '../../activity/actions.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Page and filters of a user's own activity; an undefined field does not filter. */
export interface OwnActivityQuery extends PageRequest {
  readonly tenantId?: string | undefined;
  readonly kind?: ActivityKind | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** A range of the entries of one kind. */
interface PartOfKind extends Pick<OwnActivityQuery, 'tenantId' | 'from' | 'to'> {
  readonly userId: string;
  readonly kind: ActivityKind;
  readonly skip: number;
  readonly take: number;
}

/**
 * Selects the ids of the entries of a kind, newest first. Each action is read separately from the end of an
 * index ordered by time, so that only few rows of a long log are read; with `action IN (...)` the planner reads
 * either all entries of these actions or all entries of the user.
 */
export const newestOfKind = (part: PartOfKind): Prisma.Sql => {
  const { userId, kind, tenantId, from, to, skip, take } = part;
  const conditions = [
    Prisma.sql`e.user_id = ${userId}::uuid AND e.action = a.name`,
    ...(tenantId === undefined ? [] : [Prisma.sql`e.tenant_id = ${tenantId}::uuid`]),
    ...(from ? [Prisma.sql`e.created_at >= ${from}`] : []),
    ...(to ? [Prisma.sql`e.created_at < ${to}`] : []),
  ];
  return Prisma.sql`
    SELECT entry.id FROM unnest(${actionsOfKind(kind)}::text[]) a(name)
    CROSS JOIN LATERAL (SELECT e.id, e.created_at FROM identity.activity_entries e
      WHERE ${Prisma.join(conditions, ' AND ')}
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${skip + take}) entry
    ORDER BY entry.created_at DESC, entry.id DESC LIMIT ${take} OFFSET ${skip}`;
};
