import type { Policy } from '@tessera/scope-matcher';
import type { Prisma } from '../../generated/prisma/client.ts';

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly isBuiltIn: boolean;
  readonly policies: readonly Policy[];
}

export interface Member {
  readonly userId: string;
  readonly email: string | null;
  readonly name: string;
  readonly isActive: boolean;
  readonly isServiceAccount: boolean;
  readonly isSystemAdmin: boolean;
  readonly joinedAt: Date;
  readonly role: Role;
  /** Policies of the member themselves, in addition to the role's. */
  readonly policies: readonly Policy[];
}

/** Page, filters and order of a member list. */
export interface MemberQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  /** Only service accounts. */
  readonly isServiceAccount?: true;
  readonly sort: { readonly by: 'name' | 'email' | 'created_at'; readonly order: 'asc' | 'desc' };
}

/** Relations read with a membership. */
export const whole = {
  user: true,
  policies: { orderBy: [{ action: 'asc' }, { effect: 'asc' }] },
  role: { include: { policies: true } },
} as const satisfies Prisma.MembershipInclude;

type Row = Prisma.MembershipGetPayload<{ include: typeof whole }>;
type RoleRow = Row['role'];

/** A check constraint limits `effect` to the two values. */
export const policiesOf = (rows: readonly { action: string; effect: string }[]): Policy[] =>
  rows.map(({ action, effect }) => ({ action, effect: effect === 'allow' ? 'allow' : 'deny' }));

export const roleOf = ({ id, name, tenantId, policies }: RoleRow): Role => ({
  id,
  name,
  isBuiltIn: tenantId === null,
  policies: policiesOf(policies),
});

export const memberOf = ({ user, role, policies, createdAt }: Row): Member => ({
  userId: user.id,
  email: user.email,
  name: `${user.firstName} ${user.lastName}`.trim(),
  isActive: user.isActive,
  isServiceAccount: user.isServiceAccount,
  isSystemAdmin: user.isSystemAdmin,
  joinedAt: createdAt,
  role: roleOf(role),
  policies: policiesOf(policies),
});
