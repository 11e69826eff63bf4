import type { TenantDb } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';

const { sql } = Prisma;

/** A channel that a bot was added to. */
export interface ChannelOfBot {
  readonly id: string;
  readonly kind: 'public' | 'private';
  readonly name: string;
  readonly topic: string | null;
}

/** A bot as it sees itself. */
export interface BotRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The bot; undefined if it has been deleted meanwhile. */
export const findOwnBot = async (db: TenantDb, botId: string): Promise<BotRow | undefined> => {
  const [found] = await db.query<BotRow>(sql`
    SELECT id, name, description, created_at, updated_at FROM tenant_crm.bots
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${botId}::uuid AND deleted_at IS NULL`);
  return found;
};

/** The channels that a bot was added to and that are not deleted, ordered by id. */
export const findChannelsOfBot = (
  db: TenantDb,
  botId: string,
  { channelId, limit }: { readonly channelId?: string | undefined; readonly limit: number },
): Promise<ChannelOfBot[]> =>
  db.query<ChannelOfBot>(sql`
    SELECT channel.id, channel.kind, channel.name, channel.topic
    FROM tenant_crm.channel_bots AS member
    JOIN tenant_crm.channels AS channel
      ON channel.tenant_id = ${db.tenantId}::uuid AND channel.id = member.channel_id
      AND channel.deleted_at IS NULL
    WHERE member.tenant_id = ${db.tenantId}::uuid AND member.bot_id = ${botId}::uuid
      AND ${channelId === undefined ? sql`true` : sql`member.channel_id = ${channelId}::uuid`}
    ORDER BY member.channel_id LIMIT ${limit}`);

/** Whether a bot that is not deleted belongs to a channel. */
export const isBotIn = async (db: TenantDb, channelId: string, botId: string): Promise<boolean> => {
  const found = await db.query(sql`
    SELECT member.id FROM tenant_crm.channel_bots AS member
    JOIN tenant_crm.bots AS bot
      ON bot.tenant_id = ${db.tenantId}::uuid AND bot.id = member.bot_id AND bot.deleted_at IS NULL
    WHERE member.tenant_id = ${db.tenantId}::uuid AND member.channel_id = ${channelId}::uuid
      AND member.bot_id = ${botId}::uuid`);
  return found.length > 0;
};

/** The channel of a message that a bot wrote; undefined if there is no such message, or if it is deleted. */
export const findChannelOfOwnMessage = async (
  db: TenantDb,
  botId: string,
  messageId: string,
): Promise<string | undefined> => {
  const [found] = await db.query<{ channel_id: string }>(sql`
    SELECT channel_id FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${messageId}::uuid
      AND bot_id = ${botId}::uuid AND deleted_at IS NULL`);
  return found?.channel_id;
};
