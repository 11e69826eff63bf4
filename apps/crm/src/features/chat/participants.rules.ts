import { HttpError } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { lockChannel, type ParticipantRole } from './channels.repository.ts';
import { refuseDirect, requireOwner, requireOwnerToAppoint } from './channels.roles.ts';
import { appendEvent, type ChatEventType } from './chat-events.ts';
import { hasOtherOwner } from './participants.repository.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface ParticipantState {
  readonly channel_id: string;
  readonly user_id: string;
  readonly role: ParticipantRole;
}

interface RowContext extends Context {
  readonly row: ParticipantState;
}

/** Throws 409 for the last owner of a channel, whom nobody could replace. */
const assertReplaceable = async (db: TenantDb, row: ParticipantState): Promise<void> => {
  if (row.role !== 'owner' || (await hasOtherOwner(db, row.channel_id, row.user_id))) return;
  const message = 'A channel needs an owner: make another participant an owner first.';
  throw new HttpError(409, 'last_owner', message);
};

/** Only owners add users to a private channel, and other owners to any channel. */
export const checkNewParticipant = async (
  { role }: { readonly role: ParticipantRole },
  { caller, db, columns }: Context & { readonly columns: { readonly channel_id?: string } },
): Promise<{ read_position: number }> => {
  const channel = await lockChannel(db, columns.channel_id ?? '');
  refuseDirect(channel);
  await requireOwner(caller, db, channel);
  if (role === 'owner') await requireOwnerToAppoint(caller, db, channel);
  return { read_position: channel.position };
};

/** Only owners change roles. */
export const checkRoleChange = async (
  change: { readonly role: ParticipantRole },
  { caller, db, row }: RowContext,
): Promise<Record<never, never>> => {
  const channel = await lockChannel(db, row.channel_id);
  refuseDirect(channel);
  await requireOwnerToAppoint(caller, db, channel);
  if (change.role !== 'owner') await assertReplaceable(db, row);
  return {};
};

/**
 * Everybody may leave. Removing somebody else needs the permission, which the service checks; in a private channel only owners
 * can, and only owners remove other owners.
 */
export const checkRemoval = async ({ caller, db, row }: RowContext): Promise<void> => {
  const channel = await lockChannel(db, row.channel_id);
  refuseDirect(channel);
  if (row.user_id !== caller.userUuid) {
    await requireOwner(caller, db, channel);
    if (row.role === 'owner') await requireOwnerToAppoint(caller, db, channel);
  }
  await assertReplaceable(db, row);
};

const events: Readonly<Record<string, ChatEventType>> = {
  create: 'participant.added',
  update: 'participant.updated',
  delete: 'participant.removed',
};

/** Adds the event of a change. */
export const announceParticipant = async ({
  action,
  db,
  row,
}: RowContext & { readonly action: string }): Promise<void> => {
  const type = events[action];
  if (!type) throw new TypeError(`A participant has no event for ${action}.`);
  const { channel_id: channelId, user_id } = row;
  await appendEvent(db, { channelId, type, payload: { user_id } });
};
