import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { ChannelState } from './channels.repository.ts';
import { hasOtherOwner, roleIn } from './participants.repository.ts';

const ownerRequired = (): HttpError =>
  new HttpError(403, 'channel_role_required', 'This requires the role owner in the channel.');

/**
 * Throws 403 `channel_role_required` unless the caller is an owner of the private channel. In public channels,
 * permissions alone decide.
 */
export const requireOwner = async (
  { userUuid }: Caller,
  db: TenantDb,
  { id, kind }: ChannelState,
): Promise<void> => {
  if (kind === 'public' || (await roleIn(db, id, userUuid)) === 'owner') return;
  throw ownerRequired();
};

/**
 * Throws 403 `channel_role_required` unless the caller is an owner, also of a public channel: owners delete the messages
 * of others. In a public channel without owners, which a client has created, permissions alone decide.
 */
export const requireOwnerToAppoint = async (
  { userUuid }: Caller,
  db: TenantDb,
  { id, kind }: ChannelState,
): Promise<void> => {
  if ((await roleIn(db, id, userUuid)) === 'owner') return;
  if (kind === 'public' && !(await hasOtherOwner(db, id, userUuid))) return;
  throw ownerRequired();
};

/** Throws 409 if the channel is direct: its participants are fixed, and it has no name. */
export const refuseDirect = ({ kind }: ChannelState): void => {
  if (kind !== 'direct') return;
  throw new HttpError(409, 'conflict', 'A direct channel cannot be changed or deleted.');
};
