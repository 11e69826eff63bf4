import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/**
 * The PostgreSQL channel of the chat. `event <tenant> <position>` announces an event; the other notifications are
 * those of presence.
 */
export const CHAT_NOTIFICATIONS = 'crm_chat';

export const chatEventTypes = [
  'channel.created',
  'channel.updated',
  'channel.deleted',
  'channel.restored',
  'participant.added',
  'participant.updated',
  'participant.removed',
  'bot.added',
  'bot.removed',
  'message.created',
  'message.updated',
  'message.deleted',
  'message.restored',
  'message.recalled',
  'message.pinned',
  'message.unpinned',
  'reaction.added',
  'reaction.removed',
] as const;

export type ChatEventType = (typeof chatEventTypes)[number];

/** Something that happened in a channel. The payload has ids, never texts. */
export interface ChatEvent {
  readonly channelId: string;
  readonly type: ChatEventType;
  readonly payload: Readonly<Record<string, string | number | null>>;
}

/** Locks the feed of the tenant until the transaction ends, for changes that lock something after it. */
export const lockFeed = async (db: TenantDb): Promise<void> => {
  await db.query(sql`
    INSERT INTO tenant_crm.chat_feeds (tenant_id, last_position) VALUES (${db.tenantId}::uuid, 0)
    ON CONFLICT (tenant_id) DO UPDATE SET last_position = chat_feeds.last_position`);
};

/**
 * Adds an event to a channel as part of the transaction of the change, and announces it when that commits. The
 * channel and the tenant's feed stay locked until then, so that the numbers of the events in the channel, and their
 * positions in the tenant, have no gaps and grow in the order of commits.
 */
export const appendEvent = async (
  db: TenantDb,
  { channelId, type, payload }: ChatEvent,
): Promise<void> => {
  await db.query(sql`
    WITH numbered AS (
      UPDATE tenant_crm.channels SET last_event = last_event + 1
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${channelId}::uuid
      RETURNING id, last_event
    ), positioned AS (
      INSERT INTO tenant_crm.chat_feeds (tenant_id, last_position)
      SELECT ${db.tenantId}::uuid, 1 FROM numbered
      ON CONFLICT (tenant_id) DO UPDATE SET last_position = chat_feeds.last_position + 1
      RETURNING last_position
    ), appended AS (
      INSERT INTO tenant_crm.chat_events
        (tenant_id, channel_id, number, type, payload, created_at, position)
      SELECT ${db.tenantId}::uuid, id, last_event, ${type}::text, ${JSON.stringify(payload)}::jsonb,
        clock_timestamp(), last_position
      FROM numbered CROSS JOIN positioned
      RETURNING position
    )
    SELECT pg_notify(
      ${CHAT_NOTIFICATIONS}, concat_ws(' ', 'event', ${db.tenantId}::text, position))::text
    FROM appended`);
};
