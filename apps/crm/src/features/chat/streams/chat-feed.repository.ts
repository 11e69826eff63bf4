import type { HubEvent } from '@tessera/background-work';
import type { TenantDb } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import type { AnswerOf, RowOfKind } from '../../../records/kind.ts';
import { columnsOf, presenter } from '../../../records/row.ts';
import { channel } from '../channels.kind.ts';
import type { ChatViewer } from '../channels.visibility.ts';
import { ownChannels } from '../channels.visibility.ts';
import type { ChatEventType } from '../chat-events.ts';
import { withScanStatus } from '../message-files.repository.ts';
import { foundMessage } from './message-search.ts';
import type { ChatStreamEvent } from './stream-events.ts';

const { sql, raw, empty } = Prisma;

/** An event of the chat as it is distributed to the streams of its tenant. */
export interface ChatFeedEvent extends HubEvent {
  readonly channelId: string;
  readonly type: ChatEventType;
  /** The user whom an event of a participant is about. */
  readonly participantId: string | undefined;
  /** The participants of a channel that was created or restored. */
  readonly participantIds: readonly string[];
  /** What the streams send; the same object for all of them. */
  readonly sent: ChatStreamEvent;
}

/** The position of the tenant's newest event; 0 if there has been none. */
export const newestPosition = async (db: TenantDb): Promise<number> => {
  const [feed] = await db.query<{ newest: number }>(sql`
    SELECT last_position AS newest FROM tenant_crm.chat_feeds
    WHERE tenant_id = ${db.tenantId}::uuid`);
  return feed?.newest ?? 0;
};

/** What a stream needs to begin, as of one moment. */
export interface StreamState {
  /** The position of the newest event. */
  readonly newest: number;
  /** Streams continue from this position or a later one; the events before it are deleted. */
  readonly keptAfter: number;
  /** The channels whose events the stream delivers. */
  readonly channelIds: readonly string[];
}

/** The state of a stream of one channel, or of all channels that the caller participates in. */
export const readStreamState = async (
  db: TenantDb,
  viewer: ChatViewer,
  channelId: string | undefined,
): Promise<StreamState> => {
  const selected =
    channelId === undefined
      ? sql`id IN ${ownChannels(viewer)}`
      : sql`id = ${channelId}::uuid AND (kind = 'public' OR id IN ${ownChannels(viewer)})`;
  const [state] = await db.query<StreamState>(sql`
    SELECT newest, coalesce((
      SELECT position - 1 FROM tenant_crm.chat_events
      WHERE tenant_id = ${db.tenantId}::uuid ORDER BY position LIMIT 1
    ), newest) AS "keptAfter", ARRAY(
      SELECT id::text FROM tenant_crm.channels
      WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND ${selected}
    ) AS "channelIds"
    FROM (SELECT coalesce((
      SELECT last_position FROM tenant_crm.chat_feeds WHERE tenant_id = ${db.tenantId}::uuid
    ), 0) AS newest) AS feed`);
  return state as StreamState;
};

interface StoredEvent {
  readonly position: number;
  readonly channel_id: string;
  readonly type: ChatEventType;
  readonly payload: Readonly<Record<string, string | number | null>>;
}

export interface FeedRequest {
  readonly after: number;
  /** No later events than this one. */
  readonly upTo?: number;
  readonly limit: number;
  /** Only events of these channels, and of the participation of this user, whose channels may be deleted meanwhile. */
  readonly only?: { readonly channelIds: readonly string[]; readonly userId: string | null };
}

/** The events of a user's participation, and the deletion of their channels, as a further alternative. */
const ownEvents = (db: TenantDb, userId: string | null): Prisma.Sql => {
  if (userId === null) return empty;
  const channels = ownChannels({ tenantId: db.tenantId, userUuid: userId });
  return sql`OR type LIKE 'participant.%' AND payload ->> 'user_id' = ${userId}::text
    OR type = 'channel.deleted' AND channel_id IN ${channels}`;
};

const storedEvents = (db: TenantDb, request: FeedRequest): Promise<StoredEvent[]> => {
  const { after, upTo = Number.MAX_SAFE_INTEGER, limit, only } = request;
  const ofUser = only && ownEvents(db, only.userId);
  const condition = only
    ? sql`AND (channel_id = ANY(${only.channelIds}::uuid[]) ${ofUser})`
    : empty;
  return db.query(sql`
    SELECT position, channel_id, type, payload FROM tenant_crm.chat_events
    WHERE tenant_id = ${db.tenantId}::uuid AND position > ${after}::bigint
      AND position <= ${upTo}::bigint ${condition}
    ORDER BY position LIMIT ${limit}::int`);
};

type Rows<R> = ReadonlyMap<string, R>;

const byId = <R extends { readonly id: string }>(rows: readonly R[]): Rows<R> =>
  new Map(rows.map((row) => [row.id, row]));

const messageColumns = raw([...columnsOf(foundMessage).keys()].join(', '));
const channelColumns = raw([...columnsOf(channel).keys()].join(', '));
const presentMessage = presenter<RowOfKind<typeof foundMessage>, AnswerOf<typeof foundMessage>>(
  foundMessage,
);
const presentChannel = presenter<RowOfKind<typeof channel>, AnswerOf<typeof channel>>(channel);

/** A channel without what differs by reader. */
const plainChannel = (row: RowOfKind<typeof channel>) => {
  const {
    last_message: _last,
    role: _role,
    unread_count: _unread,
    mention_count: _mentions,
    user_ids: _users,
    ...plain
  } = presentChannel(row);
  return plain;
};

const idsIn = (events: readonly StoredEvent[], id: (event: StoredEvent) => unknown): string[] => [
  ...new Set(events.map(id).filter((found) => typeof found === 'string')),
];

const isOfMessage = ({ type }: StoredEvent): boolean => type.startsWith('message.');
const isOfChannel = ({ type }: StoredEvent): boolean => type.startsWith('channel.');
/** A channel appears for its participants, who are not announced one by one. */
const appears = ({ type }: StoredEvent): boolean =>
  type === 'channel.created' || type === 'channel.restored';

const readMessages = async (db: TenantDb, events: readonly StoredEvent[]) => {
  const ids = idsIn(events.filter(isOfMessage), ({ payload }) => payload.message_id);
  if (ids.length === 0) return new Map<string, never>();
  const rows = await db.query<RowOfKind<typeof foundMessage>>(sql`
    SELECT ${messageColumns} FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[]) AND deleted_at IS NULL`);
  return byId(await withScanStatus(db, rows.map(presentMessage)));
};

const readChannels = async (db: TenantDb, events: readonly StoredEvent[]) => {
  const ids = idsIn(events.filter(isOfChannel), ({ channel_id }) => channel_id);
  if (ids.length === 0) return new Map<string, never>();
  return byId(
    await db.query<RowOfKind<typeof channel>>(sql`
      SELECT ${channelColumns} FROM tenant_crm.channels
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[]) AND deleted_at IS NULL`),
  );
};

const readParticipants = async (db: TenantDb, events: readonly StoredEvent[]) => {
  const ids = idsIn(events.filter(appears), ({ channel_id }) => channel_id);
  if (ids.length === 0) return new Map<string, string[]>();
  const rows = await db.query<{ id: string; users: string[] }>(sql`
    SELECT channel_id AS id, array_agg(user_id::text) AS users
    FROM tenant_crm.channel_participants
    WHERE tenant_id = ${db.tenantId}::uuid AND channel_id = ANY(${ids}::uuid[])
    GROUP BY channel_id`);
  return new Map(rows.map(({ id, users }) => [id, users]));
};

/** Events in order, each with the channel or message that it is about as that is now. */
export const readFeed = async (db: TenantDb, request: FeedRequest): Promise<ChatFeedEvent[]> => {
  const events = await storedEvents(db, request);
  const [messages, channels, participants] = await Promise.all([
    readMessages(db, events),
    readChannels(db, events),
    readParticipants(db, events),
  ]);
  return events.map((event): ChatFeedEvent => {
    const { position, channel_id: channelId, type, payload } = event;
    const found = isOfMessage(event) && messages.get(`${payload.message_id}`);
    const about = isOfChannel(event) && channels.get(channelId);
    const data = Object.assign(
      { channel_id: channelId },
      payload,
      found ? { message: found } : {},
      about ? { channel: plainChannel(about) } : {},
    );
    return {
      position,
      channelId,
      type,
      participantId: type.startsWith('participant.') ? `${payload.user_id}` : undefined,
      participantIds: appears(event) ? (participants.get(channelId) ?? []) : [],
      sent: { event: type, id: `${position}`, data },
    };
  });
};
