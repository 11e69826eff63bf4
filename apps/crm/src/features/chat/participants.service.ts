import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { causeOf } from '../../records/record-changes.ts';
import { createRecords } from '../../records/records.ts';
import { requirePermission, requireScope } from '../../records/require-permission.ts';
import type { Channels } from './channels.kind.ts';
import { type Participants, participant } from './participants.kind.ts';
import { addParticipants } from './participants.repository.ts';

const REMOVAL = 'chat.participants.delete';

/**
 * Participants. Everybody may leave; removing somebody else requires `chat.participants.delete`. A token that is limited to
 * other scopes does neither.
 */
export const createParticipants = (
  database: Database,
  channels: Pick<Channels, 'requireVisible'>,
): Participants => {
  const participants = createRecords(participant, database);
  const within: Participants['within'] = (...keys) => {
    const inChannel = participants.within(...keys);
    return {
      ...inChannel,
      async delete(caller, userId, versions) {
        requireScope(caller, REMOVAL);
        if (userId !== caller.userUuid) {
          await channels.requireVisible(caller, keys);
          // Before it shows whether the user participates.
          requirePermission(caller, REMOVAL, { type: 'participant', id: userId });
        }
        await inChannel.delete(caller, userId, versions);
      },
    };
  };
  return { ...participants, within };
};

/** Makes a user an owner of a channel that nobody else reaches, in a transaction that has locked the channel. */
export const joinAsOwner = (
  db: TenantDb,
  caller: Caller,
  channelId: string,
  userId: string,
): Promise<void> =>
  addParticipants(db, causeOf(caller, 'create'), { channelId, userIds: [userId], role: 'owner' });
