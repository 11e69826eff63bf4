import type { Database } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { createRecords } from '../../records/records.ts';
import { type ChannelBots, channelBot } from './bots.kind.ts';

/**
 * The bots of a channel that are not deleted, for reading them. This scope is not that of `channelBot`, because it would hide
 * the history of those that were removed.
 */
const activeChannelBot: typeof channelBot = {
  ...channelBot,
  scope: ({ tenantId }) => ({
    condition: Prisma.sql`bot_id IN (
      SELECT id FROM tenant_crm.bots WHERE tenant_id = ${tenantId}::uuid AND deleted_at IS NULL)`,
  }),
};

/** The bots of channels. One that is deleted is no bot of its channels until it is restored, but can be removed from them. */
export const createChannelBots = (database: Database): ChannelBots => {
  const bots = createRecords(channelBot, database);
  const active = createRecords(activeChannelBot, database);
  const within: ChannelBots['within'] = (...keys) => {
    const { list, get } = active.within(...keys);
    return { ...bots.within(...keys), list, get };
  };
  return { ...bots, within };
};
