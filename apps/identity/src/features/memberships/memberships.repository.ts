import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';

/** What somebody is in a tenant. */
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

const told = {
  tenant: { select: { id: true, slug: true, name: true, status: true } },
  role: { select: { name: true, tenantId: true } },
  createdAt: true,
} as const;

export class MembershipsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Those of a user, by the name of the tenant; at most `limit`. */
  list(userId: string, limit: number): Promise<Membership[]> {
    return this.#database.membership.findMany({
      where: { userId },
      select: told,
      orderBy: [{ tenant: { name: 'asc' } }, { tenantId: 'asc' }],
      take: limit,
    });
  }

  find(userId: string, tenantId: string): Promise<Membership | null> {
    const where = { tenantId_userId: { tenantId, userId } };
    return this.#database.membership.findUnique({ where, select: told });
  }

  /** The next sign-in of the actor, and their account pages, start in this tenant. False where they are no member. */
  startIn(actor: Actor, tenantId: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      // Held, and before the user: whoever ends the membership waits, and then finds the tenant of the user.
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
