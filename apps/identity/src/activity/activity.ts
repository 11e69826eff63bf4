import type { Transaction } from '../database.ts';
import type { Origin } from '../origin/origin.ts';
import type { Caller, UserCaller } from '../tokens/caller.ts';
import type { Action } from './actions.ts';

/** The user of an activity, their tenant, and where the request came from. */
export interface Actor extends Origin {
  readonly userId: string;
  readonly tenantId: string | null;
  /** The administrator who acts as the user (decision I16). */
  readonly impersonatorId?: string | null;
}

/** Optional details of an entry. */
export interface ActivityDetails {
  /** The id of what was changed, if it is not the user. */
  readonly subjectId?: string;
  /** The reason, as entered by the actor. */
  readonly reason?: string;
}

export const actorOf = (
  { id, tenant, impersonatorId }: Pick<UserCaller, 'id' | 'tenant' | 'impersonatorId'>,
  origin: Origin,
): Actor => ({ userId: id, tenantId: tenant?.id ?? null, impersonatorId, ...origin });

/** Adds an entry to the user's activity log. */
export const note = async (
  tx: Pick<Transaction, 'activityEntry'>,
  actor: Actor,
  action: Action,
  details: ActivityDetails = {},
): Promise<void> => {
  const { userId, tenantId, impersonatorId = null, ipAddress, userAgent } = actor;
  await tx.activityEntry.create({
    data: { userId, tenantId, impersonatorId, ipAddress, userAgent, action, ...details },
  });
};

/** Adds an entry to the caller's activity log; system applications have none. */
export const noteOf = async (
  tx: Pick<Transaction, 'activityEntry'>,
  caller: Caller,
  origin: Origin,
  action: Action,
  details: ActivityDetails & { readonly tenantId?: string | null } = {},
): Promise<void> => {
  if (caller.type === 'client') return;
  const { tenantId, ...more } = details;
  const actor = actorOf(caller, origin);
  await note(tx, tenantId === undefined ? actor : { ...actor, tenantId }, action, more);
};
