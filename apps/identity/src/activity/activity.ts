import type { Transaction } from '../database.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Origin } from '../origin/origin.ts';
import type { Caller, UserCaller } from '../tokens/caller.ts';
import type { Action } from './actions.ts';
import type { Changes } from './changes.ts';

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
  /** What changed; undefined if nothing did, or if the action says it all. */
  readonly changes?: Changes | undefined;
}

/** The log that an entry is added to. */
type Log = Pick<Transaction, 'activityEntry'>;

interface NewEntry extends ActivityDetails, Partial<Origin> {
  readonly action: Action;
  readonly userId: string | null;
  readonly tenantId: string | null;
  readonly impersonatorId?: string | null;
  readonly command?: string;
}

const add = async (tx: Log, { changes, ...entry }: NewEntry): Promise<void> => {
  // JSON has no dates.
  const json = changes && (JSON.parse(JSON.stringify(changes)) as Prisma.InputJsonObject);
  await tx.activityEntry.create({ data: { ...entry, ...(json && { changes: json }) } });
};

export const actorOf = (
  { id, tenant, impersonatorId }: Pick<UserCaller, 'id' | 'tenant' | 'impersonatorId'>,
  origin: Origin,
): Actor => ({ userId: id, tenantId: tenant?.id ?? null, impersonatorId, ...origin });

/** Adds an entry to the user's activity log. */
export const note = (
  tx: Log,
  actor: Actor,
  action: Action,
  details: ActivityDetails = {},
): Promise<void> => {
  const { userId, tenantId, impersonatorId = null, ipAddress, userAgent } = actor;
  return add(tx, { userId, tenantId, impersonatorId, ipAddress, userAgent, action, ...details });
};

/** Who ran a command is not known: the entry names the command, and belongs to the log of the user that it is about. */
export const noteCommand = (
  tx: Log,
  command: string,
  action: Action,
  {
    userId = null,
    tenantId = null,
    ...details
  }: ActivityDetails & { readonly userId?: string | null; readonly tenantId?: string | null } = {},
): Promise<void> => add(tx, { command, action, userId, tenantId, ...details });

/** Adds an entry to the caller's activity log; system applications have none. */
export const noteOf = async (
  tx: Log,
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
