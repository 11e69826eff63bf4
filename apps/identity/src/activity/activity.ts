import type { Transaction } from '../database.ts';
import type { Origin } from '../origin/origin.ts';
import type { Caller, UserCaller } from '../tokens/caller.ts';
import type { Action } from './actions.ts';

/** Who does something, in which tenant, and from where. */
export interface Actor extends Origin {
  readonly userId: string;
  readonly tenantId: string | null;
  /** The administrator who acts as the user (decision I16). */
  readonly impersonatorId?: string | null;
}

/** What an entry tells besides who did what. */
export interface Particulars {
  /** Whom or what it was done to, where that is not the user. */
  readonly subjectId?: string;
  /** Why, in the words of who did it. */
  readonly reason?: string;
}

export const actorOf = (
  { id, tenant, impersonatorId }: Pick<UserCaller, 'id' | 'tenant' | 'impersonatorId'>,
  origin: Origin,
): Actor => ({ userId: id, tenantId: tenant?.id ?? null, impersonatorId, ...origin });

/** Notes what a user did, in their activity log. */
export const note = async (
  tx: Pick<Transaction, 'activityEntry'>,
  actor: Actor,
  action: Action,
  particulars: Particulars = {},
): Promise<void> => {
  const { userId, tenantId, impersonatorId = null, ipAddress, userAgent } = actor;
  await tx.activityEntry.create({
    data: { userId, tenantId, impersonatorId, ipAddress, userAgent, action, ...particulars },
  });
};

/** Notes what a caller did, where it is somebody with a log: a system application has none. */
export const noteOf = async (
  tx: Pick<Transaction, 'activityEntry'>,
  caller: Caller,
  origin: Origin,
  action: Action,
  particulars: Particulars & { readonly tenantId?: string | null } = {},
): Promise<void> => {
  if (caller.type === 'client') return;
  const { tenantId, ...more } = particulars;
  const actor = actorOf(caller, origin);
  await note(tx, tenantId === undefined ? actor : { ...actor, tenantId }, action, more);
};
