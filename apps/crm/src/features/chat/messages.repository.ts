import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { COUNTED } from '../../records/hits.ts';
import { type Counted, offsetOf, totalColumn, totalOf } from '../../records/listing.ts';
import { keptCount } from '../../records/repository.ts';

const { sql, join } = Prisma;

/** The part of a message that rules read. */
export interface MessageState {
  readonly id: string;
  readonly channel_id: string;
  readonly position: number;
  readonly author_type: 'user' | 'bot' | 'client';
  readonly user_id: string | null;
  readonly bot_id: string | null;
  readonly client_id: string | null;
  readonly body: string | null;
  readonly thread_root_id: string | null;
  readonly file_content_id: string | null;
  readonly mentions: readonly string[];
  readonly recalled_at: Date | null;
  readonly pinned_at: Date | null;
  readonly created_at: Date;
  readonly deleted_at: Date | null;
}

/**
 * What others add to a message gives it another entity tag, but no new version: it is no conflict for the author, who changes
 * the message as of the version that they have read.
 */
export const REVISED = sql`revision = revision + 1`;

/** Counts a new reply in its thread; false unless the message begins a thread in this channel. */
export const addReply = async (
  db: TenantDb,
  channelId: string,
  rootId: string,
): Promise<boolean> => {
  const roots = await db.query(sql`
    UPDATE tenant_crm.messages
    SET reply_count = reply_count + 1, last_reply_at = greatest(last_reply_at, statement_timestamp()), ${REVISED}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${rootId}::uuid
      AND channel_id = ${channelId}::uuid AND thread_root_id IS NULL AND deleted_at IS NULL
    RETURNING id`);
  return roots.length > 0;
};

/** Counts a reply that is being deleted (-1) or restored (1) in its thread, whether or not that is deleted. */
export const recountReply = async (
  db: TenantDb,
  reply: { readonly id: string; readonly thread_root_id: string | null },
  change: 1 | -1,
): Promise<void> => {
  const { id, thread_root_id: rootId } = reply;
  if (rootId === null) return;
  // A statement that waits for a reply which is being posted does not see it afterwards, so another one waits.
  await db.query(sql`
    SELECT FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${rootId}::uuid FOR NO KEY UPDATE`);
  await db.query(sql`
    UPDATE tenant_crm.messages SET reply_count = reply_count + ${change}::int, ${REVISED},
      last_reply_at = (
        SELECT created_at FROM tenant_crm.messages
        WHERE tenant_id = ${db.tenantId}::uuid AND thread_root_id = ${rootId}::uuid
          AND CASE WHEN id = ${id}::uuid THEN ${change}::int = 1 ELSE deleted_at IS NULL END
        ORDER BY position DESC LIMIT 1
      )
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${rootId}::uuid`);
};

/**
 * Removes the texts of a recalled message, and whom they mentioned, from its history and from the stored response to the
 * request that posted it.
 */
export const forgetTexts = async (db: TenantDb, messageId: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.record_changes SET changes = changes - 'body' - 'mentions'
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = 'messages'
      AND record_id = ${messageId}::uuid`);
  await db.query(sql`
    UPDATE tenant_crm.idempotency_keys SET body = jsonb_set(
      '{}', '{data}', (body -> 'data')::jsonb || '{"body": null, "file": null, "mentions": []}'
    )::json
    WHERE tenant_id = ${db.tenantId}::uuid AND body #>> '{data,channel_id}' IS NOT NULL
      AND body #>> '{data,id}' = ${messageId}::text`);
};

/** The state of a message, deleted or not; undefined if there is none. */
export const findMessage = async (
  db: TenantDb,
  messageId: string,
): Promise<MessageState | undefined> => {
  const [found] = await db.query<MessageState>(sql`
    SELECT id, channel_id, position, author_type, user_id, bot_id, client_id, body, thread_root_id,
      file_content_id, mentions, recalled_at, pinned_at, created_at, deleted_at
    FROM tenant_crm.messages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${messageId}::uuid`);
  return found;
};

/** The part of a channel's messages that a caller requests. */
export interface MessageRequest {
  /** Only messages at lower positions, the nearest ones. */
  readonly before?: number | undefined;
  /** Only messages at higher positions: the nearest ones, unless `before` is given. */
  readonly after?: number | undefined;
  /** The number of the page, instead of `before` and `after`. */
  readonly page?: number | undefined;
  readonly perPage: number;
  /** Only replies to this message. */
  readonly threadRootId?: string | undefined;
  readonly isReply?: boolean | undefined;
  readonly isPinned?: boolean | undefined;
}

/** Messages, newest first. */
export interface MessagePage<Row> {
  readonly rows: Row[];
  /** The number of the page on which the first of them is. */
  readonly page: number;
  readonly total: number;
  readonly totalIsMinimum: boolean;
  /** Whether there are more on the far side: older ones, or newer ones if the page begins with `after`. */
  readonly more: boolean;
  /** The position at which the oldest page above `after` ends, if a page between `before` and `after` has more. */
  readonly oldestEnd: number | undefined;
}

const is = (condition: Prisma.Sql, wanted: boolean | undefined): Prisma.Sql[] =>
  wanted === undefined ? [] : [wanted ? condition : sql`NOT (${condition})`];

/** Where a page begins that is requested by its number. */
interface NumberedPage {
  readonly page: number;
  readonly offset: number;
}

/** The page with this number, or the last one if the messages end before it. */
const numbered = async (
  db: TenantDb,
  total: Prisma.Sql,
  request: Pick<MessageRequest, 'page' | 'perPage'>,
): Promise<NumberedPage> => {
  const { page = 1, perPage } = request;
  if (page === 1) return { page, offset: 0 };
  const [found] = await db.read<{ total: number }>(sql`SELECT ${total} AS total`);
  const within = pageWithin({ page, perPage }, found?.total ?? 0);
  return { page: within, offset: offsetOf(within, perPage) };
};

/**
 * One page of a channel's messages. If it is found by position, it takes as long in a channel with a million messages as in a
 * small one.
 */
export const readMessages = async <Row extends { readonly position: number }>(
  db: TenantDb,
  columns: Prisma.Sql,
  channelId: string,
  request: MessageRequest,
): Promise<MessagePage<Row>> => {
  const { before, after, perPage, threadRootId, isReply, isPinned } = request;
  const isBetween = before !== undefined && after !== undefined;
  const messages = Prisma.raw(`${db.readSchema}.messages`);
  const filters = [
    ...(threadRootId === undefined ? [] : [sql`thread_root_id = ${threadRootId}::uuid`]),
    ...is(sql`thread_root_id IS NOT NULL`, isReply),
    ...is(sql`pinned_at IS NOT NULL`, isPinned),
  ];
  const listed = join(
    [
      sql`tenant_id = ${db.tenantId}::uuid AND channel_id = ${channelId}::uuid AND deleted_at IS NULL`,
      ...filters,
    ],
    ' AND ',
  );
  const isForward = after !== undefined && before === undefined;
  /** The number of the page on which a position is. Of many newer messages, `COUNTED` are counted. */
  const pageOf = async (position: number | undefined): Promise<number> => {
    if (position === undefined) return 1;
    const [newer] = await db.read<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM (
        SELECT FROM ${messages} WHERE ${listed} AND position > ${position} LIMIT ${COUNTED}
      ) AS newer`);
    return Math.floor((newer?.count ?? 0) / perPage) + 1;
  };
  const total =
    filters.length === 0
      ? keptCount('messages', db.tenantId, ['channel_id', channelId])
      : sql`(SELECT count(*)::int FROM (
          SELECT FROM ${messages} WHERE ${listed} LIMIT ${COUNTED + 1}) AS found)`;
  const { page, offset } = await numbered(db, total, request);
  const found = await db.read<Counted<Row & { readonly position: number | null }>>(
    sql`
    SELECT ${totalColumn}, page.* FROM (SELECT ${total} AS ${totalColumn}) AS counted
    LEFT JOIN LATERAL (
      SELECT ${columns} FROM ${messages} WHERE ${listed}
        AND ${before === undefined ? sql`true` : sql`position < ${before}`}
        AND ${after === undefined ? sql`true` : sql`position > ${after}`}
      ORDER BY position ${isForward ? sql`ASC` : sql`DESC`} LIMIT ${perPage + 1} OFFSET ${offset}
    ) AS page ON true`,
    { planOnce: filters.length === 0 },
  );
  const counted = totalOf(found);
  const hits = found.filter(({ position }) => position !== null);
  const rows = hits.slice(0, perPage);
  const more = hits.length > perPage;
  const aboveOldest =
    isBetween && more
      ? await db.read<{ position: number }>(sql`
          SELECT position FROM ${messages} WHERE ${listed} AND position > ${after} AND position < ${before}
          ORDER BY position OFFSET ${perPage} LIMIT 1`)
      : [];
  if (isForward) rows.reverse();
  const isByPosition = before !== undefined || after !== undefined;
  return {
    rows,
    page: isByPosition ? await pageOf(rows[0]?.position ?? before) : page,
    total: filters.length === 0 ? counted : Math.min(counted, COUNTED),
    totalIsMinimum: filters.length > 0 && counted > COUNTED,
    more,
    oldestEnd: aboveOldest[0]?.position,
  };
};
