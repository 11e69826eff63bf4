import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { ChannelState } from './channels.repository.ts';
import { roleIn } from './participants.repository.ts';

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
  const message = 'This requires the role owner in the channel.';
  throw new HttpError(403, 'channel_role_required', message);
};

/** Throws 409 if the channel is direct: its participants are fixed, and it has no name. */
export const refuseDirect = ({ kind }: ChannelState): void => {
  if (kind !== 'direct') return;
  throw new HttpError(409, 'conflict', 'A direct channel cannot be changed or deleted.');
};
