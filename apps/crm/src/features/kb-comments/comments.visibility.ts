import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';

const { sql, raw } = Prisma;

/** The author of a comment. */
export interface Author {
  readonly author_type: 'user' | 'client';
  readonly user_id: string | null;
  readonly client_id: string | null;
}

/** What decides who sees a comment. */
export interface CommentState extends Author {
  readonly status: 'visible' | 'pending' | 'hidden';
  readonly deleted_at: Date | null;
}

/** The author of what a caller writes: the user, or the client of a token without a user (decision C21). */
export const authorOf = (caller: Caller): Author =>
  caller.userUuid === null
    ? { author_type: 'client', user_id: null, client_id: actorOf(caller).clientId }
    : { author_type: 'user', user_id: caller.userUuid, client_id: null };

export const isAuthor = (caller: Caller, comment: Author): boolean => {
  const own = authorOf(caller);
  return own.author_type === 'user'
    ? own.user_id === comment.user_id
    : comment.author_type === 'client' && own.client_id === comment.client_id;
};

/** Whether the caller moderates the comments of all articles. */
export const isModerator = (caller: Caller): boolean => caller.can('kb_articles.moderate');

/** Whether the caller may read a comment. */
export const maySee = (caller: Caller, comment: CommentState): boolean =>
  comment.deleted_at === null &&
  (comment.status === 'visible' || isModerator(caller) || isAuthor(caller, comment));

const ownComments = (caller: Caller): Prisma.Sql => {
  const { author_type: type, user_id: userId, client_id: clientId } = authorOf(caller);
  return type === 'user'
    ? sql`user_id = ${userId}::uuid`
    : sql`(author_type = 'client' AND client_id = ${clientId})`;
};

/** The comments that a caller may read, whether or not they are deleted; undefined for all. */
export const readableComments = (caller: Caller): Prisma.Sql | undefined =>
  isModerator(caller) ? undefined : sql`(status = 'visible' OR ${ownComments(caller)})`;

/** The deleted comments that the caller may restore: all as a moderator, otherwise what they wrote and deleted. */
export const restorableComments = (caller: Caller): Prisma.Sql => {
  if (isModerator(caller)) return sql`TRUE`;
  const { user_id: userId, client_id: clientId } = authorOf(caller);
  return sql`(${ownComments(caller)} AND (
    SELECT user_id IS NOT DISTINCT FROM ${userId}::uuid
      AND (user_id IS NOT NULL OR client_id IS NOT DISTINCT FROM ${clientId})
    FROM tenant_crm.record_changes
    WHERE record_changes.tenant_id = ${caller.tenantId}::uuid AND table_name = 'kb_article_comments'
      AND record_id = kb_article_comments.id AND action = 'delete'
    ORDER BY record_changes.version DESC LIMIT 1
  ))`;
};

/**
 * The comments that lists show: those that the caller may read, and the others that have visible replies, so that the
 * thread keeps its shape.
 */
export const listedComments = (caller: Caller): Prisma.Sql => {
  const table = 'tenant_crm.kb_article_comments';
  const hasReply = (column: string): Prisma.Sql => sql`EXISTS (
    SELECT FROM ${raw(table)} AS reply
    WHERE reply.tenant_id = ${caller.tenantId}::uuid AND reply.${raw(column)} = kb_article_comments.id
      AND reply.status = 'visible' AND reply.deleted_at IS NULL
  )`;
  const readable = readableComments(caller);
  const shown = readable ? sql`deleted_at IS NULL AND ${readable}` : sql`deleted_at IS NULL`;
  return sql`(${shown}) OR ${hasReply('parent_id')} OR ${hasReply('thread_id')}`;
};
