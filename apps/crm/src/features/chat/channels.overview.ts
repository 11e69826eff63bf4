import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ParticipantRole } from './channels.repository.ts';
import { unreadColumns } from './streams/read-markers.repository.ts';

const { sql } = Prisma;

/** The newest message of a channel that is not deleted. */
export interface LastMessage {
  readonly id: string;
  readonly position: number;
  readonly body: string | null;
  readonly file_name: string | null;
  readonly author_type: 'user' | 'bot' | 'client';
  readonly user_id: string | null;
  readonly bot_id: string | null;
  readonly client_id: string | null;
  readonly created_at: Date;
}

/** What a list of channels shows besides their columns. */
export interface ChannelOverview {
  /** The caller's role; null if they do not participate. */
  readonly role: ParticipantRole | null;
  /** Null if the caller does not participate. */
  readonly unread_count: number | null;
  readonly mention_count: number | null;
  /** The people of a direct channel; empty in others. */
  readonly user_ids: string[];
  readonly last_message: LastMessage | null;
}

type Row = Omit<ChannelOverview, 'last_message'> & { readonly channel_id: string } & {
  readonly [K in keyof LastMessage as `last_${K}`]: LastMessage[K] | null;
};

const lastMessageOf = (row: Row): LastMessage | null =>
  row.last_id === null || row.last_author_type === null || row.last_created_at === null
    ? null
    : {
        id: row.last_id,
        position: row.last_position ?? 0,
        body: row.last_body,
        file_name: row.last_file_name,
        author_type: row.last_author_type,
        user_id: row.last_user_id,
        bot_id: row.last_bot_id,
        client_id: row.last_client_id,
        created_at: row.last_created_at,
      };

/** The overview of channels by id, in one statement. */
export const readOverviews = async (
  db: TenantDb,
  channelIds: readonly string[],
  userId: string | null,
): Promise<ReadonlyMap<string, ChannelOverview>> => {
  if (channelIds.length === 0) return new Map();
  const [messages, participants, channels] = ['messages', 'channel_participants', 'channels'].map(
    (table) => Prisma.raw(`${db.readSchema}.${table}`),
  );
  const tenant = sql`tenant_id = ${db.tenantId}::uuid`;
  const rows = await db.read<Row>(sql`
    SELECT channels.id AS channel_id,
      own.role, own.unread_count, own.mention_count,
      CASE WHEN channels.kind = 'direct' THEN ARRAY(
        SELECT user_id FROM ${participants} AS people
        WHERE people.${tenant} AND people.channel_id = channels.id ORDER BY user_id
      ) ELSE '{}' END AS user_ids,
      last.id AS last_id, last.position AS last_position, last.body AS last_body,
      last.file_name AS last_file_name,
      last.author_type AS last_author_type, last.user_id AS last_user_id, last.bot_id AS last_bot_id,
      last.client_id AS last_client_id, last.created_at AS last_created_at
    FROM ${channels} AS channels
    LEFT JOIN LATERAL (
      SELECT role, ${unreadColumns(db, userId, db.readSchema)} FROM ${participants} AS own
      WHERE own.${tenant} AND own.channel_id = channels.id AND own.user_id = ${userId}::uuid
    ) AS own ON true
    LEFT JOIN LATERAL (
      SELECT * FROM ${messages} AS newest
      WHERE newest.${tenant} AND newest.channel_id = channels.id AND newest.deleted_at IS NULL
      ORDER BY newest.position DESC LIMIT 1
    ) AS last ON true
    WHERE channels.${tenant} AND channels.id = ANY(ARRAY(SELECT unnest(${channelIds}::uuid[])))`);
  return new Map(
    rows.map((row) => {
      const { channel_id: id, role, unread_count, mention_count, user_ids } = row;
      const last_message = lastMessageOf(row);
      return [id, { role, unread_count, mention_count, user_ids, last_message }];
    }),
  );
};
