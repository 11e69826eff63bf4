import type { Prisma } from '../../generated/prisma/client.ts';
import { type Role, roleOf } from '../members/member.ts';

/** A role with its member count in one tenant. */
export interface TenantRole extends Role {
  readonly description: string;
  /** Number of members of the tenant with this role. */
  readonly memberCount: number;
  readonly createdAt: Date;
}

/** Relations read with a role. */
export const roleRelations = (tenantId: string) =>
  ({
    policies: { orderBy: [{ action: 'asc' }, { effect: 'asc' }] },
    _count: { select: { memberships: { where: { tenantId } } } },
  }) as const satisfies Prisma.RoleInclude;

type Row = Prisma.RoleGetPayload<{ include: ReturnType<typeof roleRelations> }>;

export const tenantRoleOf = (row: Row): TenantRole => ({
  ...roleOf(row),
  description: row.description,
  memberCount: row._count.memberships,
  createdAt: row.createdAt,
});
