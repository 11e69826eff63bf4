import type { TenantDb } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { ownChannels } from '../channels.visibility.ts';

const { sql } = Prisma;

/** The ids of the channels that a user participates in. */
export const channelsOfUser = async (db: TenantDb, userId: string): Promise<string[]> => {
  const channels = await db.query<{ id: string }>(
    sql`SELECT id FROM tenant_crm.channels WHERE tenant_id = ${db.tenantId}::uuid
        AND deleted_at IS NULL
        AND id IN ${ownChannels({ tenantId: db.tenantId, userUuid: userId })}`,
  );
  return channels.map(({ id }) => id);
};

/** The users who participate in a channel. */
export const usersOfChannel = async (db: TenantDb, channelId: string): Promise<string[]> => {
  const participants = await db.query<{ user_id: string }>(sql`
    SELECT user_id FROM tenant_crm.channel_participants
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid
    ORDER BY user_id`);
  return participants.map(({ user_id: userId }) => userId);
};
