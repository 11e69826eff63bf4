import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';

/** A user's membership of a tenant. */
export interface Membership {
  readonly tenant: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly status: string;
  };
  readonly role: { readonly name: string; readonly tenantId: string | null };
  readonly createdAt: Date;
}

const selection = {
  tenant: { select: { id: true, slug: true, name: true, status: true } },
  role: { select: { name: true, tenantId: true } },
  createdAt: true,
} as const;

export class MembershipsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A user's memberships by tenant name, at most `limit`. */
  list(userId: string, limit: number): Promise<Membership[]> {
    return this.#database.membership.findMany({
      where: { userId },
      select: selection,
      orderBy: [{ tenant: { name: 'asc' } }, { tenantId: 'asc' }],
      take: limit,
    });
  }

  find(userId: string, tenantId: string): Promise<Membership | null> {
    const where = { tenantId_userId: { tenantId, userId } };
    return this.#database.membership.findUnique({ where, select: selection });
  }

  /**
   * Makes the actor's next sign-in and account pages start in this tenant. False if they are not a member.
   */
  startIn(actor: Actor, tenantId: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      // Locked before the user, so that a removal of the membership waits and then resets the user's tenant.
      const memberships = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM identity.memberships
        WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid FOR KEY SHARE`;
      if (memberships.length === 0) return false;
      await tx.user.update({ where: { id: userId }, data: { tenantId } });
      await note(tx, { ...actor, tenantId }, 'tenant_switched');
      return true;
    });
  }
}
