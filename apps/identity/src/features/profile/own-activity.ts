import { type ActivityKind, actionsOfKind } from '../../activity/actions.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { PageAsked } from '../../lists/paging.ts';

/** Which page of a user's own activity is asked for, and which entries; what is undefined narrows nothing. */
export interface OwnActivityAsked extends PageAsked {
  readonly kind?: ActivityKind | undefined;
  /** Included. */
  readonly from?: Date | undefined;
  /** Not included. */
  readonly to?: Date | undefined;
}

/** A part of the entries of one kind. */
interface PartOfKind extends Pick<OwnActivityAsked, 'from' | 'to'> {
  readonly userId: string;
  readonly kind: ActivityKind;
  readonly skip: number;
  readonly take: number;
}

/**
 * Finds the `id` of the entries of a kind, the newest first. Each action is read by itself, from the end of an
 * index in order of time, so that few rows are read of a long log; with `action IN (...)` the planner reads
 * either all entries of these actions or all entries of the user.
 */
export const newestOfKind = ({ userId, kind, from, to, skip, take }: PartOfKind): Prisma.Sql => {
  const conditions = [
    Prisma.sql`e.user_id = ${userId}::uuid AND e.action = a.name`,
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
