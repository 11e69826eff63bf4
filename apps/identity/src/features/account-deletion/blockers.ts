import type { Transaction } from '../../database.ts';
import { hasOtherAdministrator, isAdministrator } from '../admin-users/administrators.ts';
import { isFullOwner } from '../members/members.service.ts';
import { MembersToRead } from '../members/members.transaction.ts';

/** Why an account cannot be deleted: nobody else could administer these. */
export interface Blockers {
  /** Tenants that it is the last owner of. */
  readonly tenants: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
  }[];
  /** Of the platform. */
  readonly isLastAdministrator: boolean;
}

export const isBlocked = ({ tenants, isLastAdministrator }: Blockers): boolean =>
  tenants.length > 0 || isLastAdministrator;

/** What keeps the account of a user; a tenant that is being deleted keeps nobody. */
export const blockersOf = async (tx: Transaction, userId: string): Promise<Blockers> => {
  const owned = await tx.membership.findMany({
    where: {
      userId,
      role: { name: 'owner', tenantId: null },
      tenant: { status: { not: 'deleting' } },
    },
    select: { tenant: { select: { id: true, slug: true, name: true } } },
    orderBy: { tenant: { name: 'asc' } },
  });
  const tenants: Blockers['tenants'][number][] = [];
  for (const { tenant } of owned) {
    const members = new MembersToRead(tx, tenant.id);
    const member = await members.member(userId);
    const isNeeded = member !== null && isFullOwner(member);
    if (isNeeded && !(await members.hasOtherOwner(userId))) tenants.push(tenant);
  }
  const isLastAdministrator =
    (await isAdministrator(tx, userId)) && !(await hasOtherAdministrator(tx, userId));
  return { tenants, isLastAdministrator };
};
