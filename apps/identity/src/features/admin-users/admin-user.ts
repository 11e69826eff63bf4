import type { Prisma } from '../../generated/prisma/client.ts';

/** Relations that the admin API shows with a user. */
export const userRelations = {
  twoFactor: { select: { confirmedAt: true } },
  memberships: {
    select: {
      tenant: { select: { id: true, slug: true, name: true } },
      role: { select: { name: true } },
    },
    orderBy: { tenant: { slug: 'asc' } },
  },
} as const satisfies Prisma.UserInclude;

/** A user as administrators see them. */
export type AdminUser = Prisma.UserGetPayload<{ include: typeof userRelations }>;
