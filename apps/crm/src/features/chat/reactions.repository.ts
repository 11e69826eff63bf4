import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { REVISED } from './messages.repository.ts';

const { sql } = Prisma;

/** A reaction of one user to a message. */
export interface Reaction {
  readonly message_id: string;
  readonly emoji: string;
  readonly user_id: string;
}

/** The reactions to a message with one emoji. */
export interface ReactionCount {
  readonly emoji: string;
  readonly count: number;
  /** Whether the caller has reacted with it. */
  readonly is_own: boolean;
}

/** Adds a reaction to a locked message; false if the user has reacted with this emoji already. */
export const insertReaction = async (
  db: TenantDb,
  { message_id: messageId, emoji, user_id: userId }: Reaction,
): Promise<boolean> => {
  const added = await db.query(sql`
    INSERT INTO tenant_crm.message_reactions (tenant_id, message_id, emoji, user_id)
    VALUES (${db.tenantId}::uuid, ${messageId}::uuid, ${emoji}, ${userId}::uuid)
    ON CONFLICT (tenant_id, message_id, emoji, user_id) DO NOTHING
    RETURNING emoji`);
  return added.length > 0;
};

/** Removes a reaction from a locked message; false if there is none. */
export const deleteReaction = async (
  db: TenantDb,
  { message_id: messageId, emoji, user_id: userId }: Reaction,
): Promise<boolean> => {
  const removed = await db.query(sql`
    DELETE FROM tenant_crm.message_reactions
    WHERE tenant_id = ${db.tenantId}::uuid AND message_id = ${messageId}::uuid
      AND emoji = ${emoji} AND user_id = ${userId}::uuid
    RETURNING emoji`);
  return removed.length > 0;
};

/** How many different emoji a message has. */
export const countEmoji = async (db: TenantDb, messageId: string): Promise<number> => {
  const [counted] = await db.query<{ count: number }>(sql`
    SELECT count(DISTINCT emoji)::int AS count FROM tenant_crm.message_reactions
    WHERE tenant_id = ${db.tenantId}::uuid AND message_id = ${messageId}::uuid`);
  return counted?.count ?? 0;
};

/** The reactions to messages by message, each emoji once, in the order of their first use. */
export const reactionsTo = async (
  db: TenantDb,
  messageIds: readonly string[],
  userId: string | null,
): Promise<ReadonlyMap<string, readonly ReactionCount[]>> => {
  if (messageIds.length === 0) return new Map();
  const rows = await db.read<ReactionCount & { readonly message_id: string }>(
    sql`
    SELECT message_id, emoji, count(*)::int AS count,
      coalesce(bool_or(user_id = ${userId}::uuid), false) AS is_own
    FROM ${Prisma.raw(db.readSchema)}.message_reactions
    WHERE tenant_id = ${db.tenantId}::uuid AND message_id = ANY(${messageIds}::uuid[])
    GROUP BY message_id, emoji ORDER BY message_id, min(created_at), emoji`,
    { planOnce: true },
  );
  const byMessage = new Map<string, ReactionCount[]>();
  for (const { message_id: id, emoji, count, is_own } of rows) {
    byMessage.set(id, [...(byMessage.get(id) ?? []), { emoji, count, is_own }]);
  }
  return byMessage;
};

/** A new revision of a message whose reactions have changed, for its entity tag. */
export const touchMessage = async (db: TenantDb, messageId: string): Promise<void> => {
  await db.query(sql`
    UPDATE tenant_crm.messages SET ${REVISED}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${messageId}::uuid`);
};

/** One user's reaction, for a list. */
export interface UserReaction {
  readonly emoji: string;
  readonly user_id: string;
  readonly created_at: Date;
}

/** One page of the reactions to a message, in their order, with their number. */
export const listReactions = async (
  db: TenantDb,
  messageId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly rows: UserReaction[] }> => {
  const of = sql`FROM ${Prisma.raw(db.readSchema)}.message_reactions
    WHERE tenant_id = ${db.tenantId}::uuid AND message_id = ${messageId}::uuid`;
  const [counted] = await db.read<{ total: number }>(sql`SELECT count(*)::int AS total ${of}`);
  const rows = await db.read<UserReaction>(sql`
    SELECT emoji, user_id, created_at ${of}
    ORDER BY created_at, emoji, user_id LIMIT ${limit} OFFSET ${offset}`);
  return { total: counted?.total ?? 0, rows };
};
