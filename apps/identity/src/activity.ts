import type { Transaction } from './database.ts';
import type { Origin } from './origin.ts';
import type { UserCaller } from './tokens/caller.ts';

/** Who does something, in which tenant, and from where. */
export interface Actor extends Origin {
  readonly userId: string;
  readonly tenantId: string | null;
}

export const actorOf = ({ id, tenant }: UserCaller, origin: Origin): Actor => ({
  userId: id,
  tenantId: tenant?.id ?? null,
  ...origin,
});

/** Notes what a user did, in their activity log. */
export const note = async (
  tx: Pick<Transaction, 'activityEntry'>,
  actor: Actor,
  action: string,
): Promise<void> => {
  const { userId, tenantId, ipAddress, userAgent } = actor;
  await tx.activityEntry.create({ data: { userId, tenantId, ipAddress, userAgent, action } });
};
