import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** The PostgreSQL channel that announces events: JSON with `tenant_id`, `channel_id` and `number`. */
export const CHAT_NOTIFICATIONS = 'crm_chat';

export type ChatEventType =
  | `channel.${'created' | 'updated' | 'deleted' | 'restored'}`
  | `participant.${'added' | 'updated' | 'removed'}`
  | `bot.${'added' | 'removed'}`
  | `message.${'created' | 'updated' | 'deleted' | 'restored' | 'recalled' | 'pinned' | 'unpinned'}`
  | `reaction.${'added' | 'removed'}`;

/** Something that happened in a channel. The payload has ids, never texts. */
export interface ChatEvent {
  readonly channelId: string;
  readonly type: ChatEventType;
  readonly payload: Readonly<Record<string, string | number | null>>;
}

/**
 * Adds an event to a channel as part of the transaction of the change, and announces it when that commits. The
 * channel stays locked until then, so that the numbers of its events have no gaps and grow in the order of commits.
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
    ), appended AS (
      INSERT INTO tenant_crm.chat_events (tenant_id, channel_id, number, type, payload, created_at)
      SELECT ${db.tenantId}::uuid, id, last_event, ${type}::text, ${JSON.stringify(payload)}::jsonb,
        clock_timestamp() FROM numbered
      RETURNING channel_id, number
    )
    SELECT pg_notify(${CHAT_NOTIFICATIONS}, jsonb_build_object(
      'tenant_id', ${db.tenantId}::text, 'channel_id', channel_id, 'number', number)::text)::text
    FROM appended`);
};
