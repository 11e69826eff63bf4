import { bool, described, oneOf, uuid } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import { equals, type Filter } from '../../records/filters.ts';
import { outsideHidden } from '../../records/hidden-targets.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { kbArticle } from '../kb-articles/kb-articles.kind.ts';
import { checkDeletion, checkRestoration, editComment, prepareComment } from './comments.rules.ts';
import { Comment, CommentInput, CommentUpdate, commentStates } from './comments.schema.ts';
import { listedComments, readableComments } from './comments.visibility.ts';

const { sql } = Prisma;

const isReply: Filter<boolean, 'thread_id'> = {
  column: 'thread_id',
  field: described(bool(), 'Only replies, or only comments that begin a thread'),
  condition: (column, isWanted) => (isWanted ? sql`${column} IS NOT NULL` : sql`${column} IS NULL`),
};

/** Comments that everybody sees: the author of any other must not be found out. */
const byUser: Filter<string, 'user_id'> = {
  column: 'user_id',
  field: described(uuid(), 'Only visible comments of this user'),
  condition: (column, userId) =>
    sql`${column} = ${userId}::uuid AND status = 'visible' AND deleted_at IS NULL`,
};

// Not in the history, which has the body.
const hiddenColumns = { body_html: hidden<string>() };

// The service of the comments counts them.
const computed = { reply_count: () => 0 };

/** Comments of knowledge-base articles. */
export const comment = declareKind({
  table: 'kb_article_comments',
  path: '/comments',
  name: 'comment',
  permissions: {
    list: 'kb_articles.view',
    view: 'kb_articles.view',
    create: 'kb_articles.comment',
    update: 'kb_articles.comment',
    delete: 'kb_articles.comment',
  },
  create: CommentInput,
  update: CommentUpdate,
  answer: Comment,
  computed,
  hidden: hiddenColumns,
  parent: { kind: kbArticle, column: 'article_id' },
  sort: { created_at: 'created_at' },
  defaultSort: 'created_at',
  filters: {
    status: equals('status', oneOf(...commentStates)),
    user_id: byUser,
    thread_id: equals('thread_id', uuid()),
    is_reply: isReply,
  },
  listsDeleted: true,
  scope: (caller) => {
    const condition = readableComments(caller);
    return { ...(condition && { condition }), listCondition: listedComments(caller) };
  },
  rules: {
    create: (input, context) => prepareComment(input, context),
    update: (change, context) => editComment(change, context),
    delete: (context) => checkDeletion(context),
    restore: (context) => checkRestoration(context),
  },
});

/** The ids of the deleted articles of a tenant, as a subquery. */
const deletedArticles = (tenantId: string): Prisma.Sql => sql`(
  SELECT id FROM tenant_crm.kb_articles WHERE tenant_id = ${tenantId}::uuid AND deleted_at IS NOT NULL
)`;

/** The comments of all articles that are not deleted, for moderators: only their list is used. */
export const moderatedComment = declareKind({
  table: 'kb_article_comments',
  path: '/kb-article-comments',
  name: 'comment',
  permissions: {
    list: 'kb_articles.moderate',
    view: 'kb_articles.moderate',
    create: 'kb_articles.moderate',
    update: 'kb_articles.moderate',
    delete: 'kb_articles.moderate',
  },
  create: CommentInput,
  answer: Comment,
  computed,
  hidden: hiddenColumns,
  sort: { created_at: 'created_at' },
  defaultSort: '-created_at',
  filters: {
    status: equals('status', oneOf(...commentStates)),
    user_id: equals('user_id', uuid()),
    article_id: equals('article_id', uuid()),
  },
  scope: ({ tenantId }) =>
    outsideHidden({
      tenantId,
      table: 'kb_article_comments',
      column: 'article_id',
      hidden: deletedArticles(tenantId),
    }),
});

export type ModeratedComments = RecordsOf<typeof moderatedComment>;
export type Comments = RecordsOf<typeof comment>;
