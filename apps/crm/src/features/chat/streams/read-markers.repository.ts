import type { TenantDb } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';

const { sql, raw, empty } = Prisma;

/** How many unread mentions are counted. */
export const MAX_MENTIONS = 1000;

/** How many deleted messages are subtracted from the unread ones. */
export const MAX_DELETED = 1000;

/** What a user has not read in a channel. */
export interface Unread {
  readonly channel_id: string;
  readonly read_position: number;
  /** By positions, without deleted messages, up to `MAX_DELETED` of them. */
  readonly unread_count: number;
  /** At most `MAX_MENTIONS`. */
  readonly mention_count: number;
}

/**
 * SQL of the counts of what a user has not read, given `own`, their row of `channel_participants`, and `channels`. Only mentions
 * and deleted messages are counted, those that are unread, up to a limit.
 */
export const unreadColumns = (
  db: TenantDb,
  userId: string | null,
  schema: string,
): Prisma.Sql => sql`
  own.read_position, greatest(channels.last_position - own.read_position - (
    SELECT count(*)::int FROM (
      SELECT FROM ${raw(schema)}.messages AS message
      WHERE message.tenant_id = ${db.tenantId}::uuid AND message.channel_id = own.channel_id
        AND message.position > own.read_position AND message.deleted_at IS NOT NULL
      LIMIT ${MAX_DELETED}
    ) AS deleted
  ), 0) AS unread_count, (
    SELECT count(*)::int FROM (
      SELECT FROM ${raw(schema)}.message_mentions AS mention
      WHERE mention.tenant_id = ${db.tenantId}::uuid AND mention.user_id = ${userId}::uuid
        AND mention.channel_id = own.channel_id AND mention.position > own.read_position
      LIMIT ${MAX_MENTIONS}
    ) AS unread
  ) AS mention_count`;

/** What a user has not read: in one channel, or in each that they participate in. */
export const readUnread = (db: TenantDb, userId: string, channelId?: string): Promise<Unread[]> => {
  const inChannel = channelId === undefined ? empty : sql`AND channel_id = ${channelId}::uuid`;
  return db.query(
    sql`
    SELECT own.channel_id, ${unreadColumns(db, userId, 'tenant_crm')}
    FROM tenant_crm.channel_participants AS own
    JOIN tenant_crm.channels ON channels.tenant_id = ${db.tenantId}::uuid
      AND channels.id = own.channel_id AND channels.deleted_at IS NULL
    WHERE own.tenant_id = ${db.tenantId}::uuid AND own.user_id = ${userId}::uuid ${inChannel}
    ORDER BY own.channel_id`,
    { planOnce: true },
  );
};

/**
 * Marks the messages up to a position as read, all of them without one; a marker never moves back. Returns false
 * if the user does not participate in the channel.
 */
export const markRead = async (
  db: TenantDb,
  marker: {
    readonly channelId: string;
    readonly userId: string;
    readonly position?: number | undefined;
  },
): Promise<boolean> => {
  const { channelId, userId, position = Number.MAX_SAFE_INTEGER } = marker;
  const marked = await db.query(sql`
    UPDATE tenant_crm.channel_participants
    SET read_position = greatest(read_position, least(${position}::bigint, (
      SELECT last_position FROM tenant_crm.channels
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${channelId}::uuid
    )))
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid
      AND user_id = ${userId}::uuid
    RETURNING read_position`);
  return marked.length > 0;
};
