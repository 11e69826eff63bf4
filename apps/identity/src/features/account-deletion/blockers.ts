import type { Transaction } from '../../database.ts';
import { hasOtherAdministrator, isAdministrator } from '../admin-users/administrators.ts';
import { isFullOwner } from '../members/members.service.ts';
import { MembersReader } from '../members/members.transaction.ts';

/** What prevents the deletion of an account: nobody else could administer these. */
export interface Blockers {
  /** Tenants whose last owner is the user. */
  readonly tenants: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
  }[];
  /** True for the last active administrator of the platform. */
  readonly isLastAdministrator: boolean;
}

export const isBlocked = ({ tenants, isLastAdministrator }: Blockers): boolean =>
  tenants.length > 0 || isLastAdministrator;

/** What blocks the deletion of a user's account. A tenant that is being deleted does not count. */
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
    const members = new MembersReader(tx, tenant.id);
    const member = await members.member(userId);
    const isNeeded = member !== null && isFullOwner(member);
    if (isNeeded && !(await members.hasOtherOwner(userId))) tenants.push(tenant);
  }
  const isLastAdministrator =
    (await isAdministrator(tx, userId)) && !(await hasOtherAdministrator(tx, userId));
  return { tenants, isLastAdministrator };
};
