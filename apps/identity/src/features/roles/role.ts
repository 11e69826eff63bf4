import type { Prisma } from '../../generated/prisma/client.ts';
import { type Role, roleOf } from '../members/member.ts';

/** A role as its tenant sees it. */
export interface TenantRole extends Role {
  readonly description: string;
  /** How many members of the tenant have it. */
  readonly memberCount: number;
  readonly createdAt: Date;
}

/** What is read of a role to tell all of it. */
export const wholeRole = (tenantId: string) =>
  ({
    policies: { orderBy: [{ action: 'asc' }, { effect: 'asc' }] },
    _count: { select: { memberships: { where: { tenantId } } } },
  }) as const satisfies Prisma.RoleInclude;

type Row = Prisma.RoleGetPayload<{ include: ReturnType<typeof wholeRole> }>;

export const tenantRoleOf = (row: Row): TenantRole => ({
  ...roleOf(row),
  description: row.description,
  memberCount: row._count.memberships,
  createdAt: row.createdAt,
});
