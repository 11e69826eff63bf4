import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Author } from './comments.visibility.ts';

const { sql, raw } = Prisma;

/** The thread of a live comment of an article that meets the condition; undefined if there is no such comment. */
export const findThread = async (
  db: TenantDb,
  { articleId, commentId }: { readonly articleId: string; readonly commentId: string },
  readable: Prisma.Sql = sql`true`,
): Promise<string | undefined> => {
  const [found] = await db.query<{ thread: string }>(sql`
    SELECT coalesce(thread_id, id) AS thread FROM tenant_crm.kb_article_comments
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${commentId}::uuid
      AND article_id = ${articleId}::uuid AND deleted_at IS NULL AND ${readable}`);
  return found?.thread;
};

/** The number of visible comments after the first one of each of these threads. */
export const countReplies = async (
  db: TenantDb,
  threads: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  if (threads.length === 0) return new Map();
  const rows = await db.read<{ thread_id: string; count: number }>(sql`
    SELECT thread_id, count(*)::int AS count FROM ${raw(db.readSchema)}.kb_article_comments
    WHERE tenant_id = ${db.tenantId}::uuid AND thread_id = ANY(${threads}::uuid[])
      AND status = 'visible' AND deleted_at IS NULL
    GROUP BY thread_id`);
  return new Map(rows.map(({ thread_id, count }) => [thread_id, count]));
};

/** The author of a comment, deleted or not; undefined if there is no such comment. */
export const findAuthor = async (db: TenantDb, commentId: string): Promise<Author | undefined> => {
  const [found] = await db.query<Author>(sql`
    SELECT author_type, user_id, client_id FROM tenant_crm.kb_article_comments
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${commentId}::uuid`);
  return found;
};

/** Who deleted a comment the last time; undefined if nobody did. */
export const deletedBy = async (db: TenantDb, commentId: string): Promise<Author | undefined> => {
  const [last] = await db.query<Author>(sql`
    SELECT CASE WHEN user_id IS NULL THEN 'client' ELSE 'user' END AS author_type, user_id, client_id
    FROM tenant_crm.record_changes
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = 'kb_article_comments'
      AND record_id = ${commentId}::uuid AND action = 'delete'
    ORDER BY version DESC LIMIT 1`);
  return last;
};
