import type { Database } from '../../database.ts';
import { createRecords } from '../../records/records.ts';
import { requirePermission, requireScope } from '../../records/require-permission.ts';
import type { Channels } from './channels.kind.ts';
import { type Participants, participant } from './participants.kind.ts';

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
