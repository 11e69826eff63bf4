import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { createRecords, type Records } from '../../records/records.ts';
import { createAccess } from '../../records/scope.ts';
import { lockChannel } from './channels.repository.ts';

/**
 * Records of channels, such as participants. A change locks the channel before the record, like everything that
 * changes both: two changes wait for each other instead of failing.
 */
export const createInTurn = <T extends KindTypes & { readonly caller: Caller }>(
  kind: Kind<T>,
  database: Database,
): Records<T> => {
  const records = createRecords(kind, database);
  const accessTo = createAccess(kind, database);
  const within: Records<T>['within'] = (channelId = '') => {
    const inChannel = records.within(channelId);
    const inTurn = <R>(caller: T['caller'], change: () => Promise<R>): Promise<R> =>
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
  return { ...records, within };
};
