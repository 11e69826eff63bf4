import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { createRecords } from '../../records/records.ts';
import { createAccess } from '../../records/scope.ts';
import { lockChannel } from './channels.repository.ts';
import { type Participants, participant } from './participants.kind.ts';

/**
 * The participants of channels. A change locks the channel before the participant, like everything that changes both:
 * two changes wait for each other instead of failing.
 */
export const createParticipants = (database: Database): Participants => {
  const participants = createRecords(participant, database);
  const accessTo = createAccess(participant, database);
  const within: Participants['within'] = (channelId = '') => {
    const inChannel = participants.within(channelId);
    const inTurn = <R>(caller: Caller, change: () => Promise<R>): Promise<R> =>
      database.transaction(caller.tenantId, async (db) => {
        // Only callers who see the channel lock it.
        await accessTo(channelId).open(caller);
        await lockChannel(db, channelId);
        return change();
      });
    return {
      ...inChannel,
      create: (caller, input) => inTurn(caller, () => inChannel.create(caller, input)),
      update: (caller, id, change, versions) =>
        inTurn(caller, () => inChannel.update(caller, id, change, versions)),
      delete: (caller, id, versions) =>
        inTurn(caller, () => inChannel.delete(caller, id, versions)),
    };
  };
  return { ...participants, within };
};
