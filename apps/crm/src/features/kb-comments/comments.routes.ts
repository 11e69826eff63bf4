import type { RouteTable } from '@tessera/http-kit';
import { renderedAhead } from '../../content/rendering.ts';
import { recordRoutes } from '../../records/routes.ts';
import { comment, moderatedComment } from './comments.kind.ts';
import { approve, hide, unhide } from './comments.rules.ts';
import { CommentApproval } from './comments.schema.ts';
import type { CommentService } from './comments.service.ts';

export const commentRoutes = ({ comments, moderated }: CommentService): RouteTable => {
  const routes = recordRoutes(comment, comments);
  return {
    listKbArticleComments: routes.list({
      summary: 'List the comments of an article',
      description:
        'Replies included. Others see neither pending nor hidden comments, except for their authors and callers with ' +
        '`kb_articles.moderate`. A comment that the caller may not read keeps its place, without its text and author, ' +
        'while there are visible replies to it.',
    }),
    listModeratedComments: recordRoutes(moderatedComment, moderated).list({
      summary: 'List the comments of all articles',
      description:
        'For moderators, who find what waits for approval by `status=pending`. Those of deleted articles are not listed.',
    }),
    createKbArticleComment: renderedAhead(
      routes.create({
        summary: 'Comment on an article',
        description:
          'With the setting `comment_moderation`, the comment is pending until a moderator approves it, unless the ' +
          'author has `kb_articles.moderate`.',
      }),
    ),
    getKbArticleComment: routes.get(),
    updateKbArticleComment: renderedAhead(
      routes.update({
        summary: 'Edit a comment',
        description:
          'Only its author can. With the setting `comment_moderation`, it is pending again afterwards.',
      }),
    ),
    deleteKbArticleComment: routes.delete({
      description:
        'It can be restored, and keeps its place while there are replies to it. Comments of others require ' +
        '`kb_articles.moderate`.',
    }),
    restoreKbArticleComment: routes.restore({
      description:
        'Authors restore comments that they have deleted themselves. All others require `kb_articles.moderate`.',
    }),
    approveKbArticleComment: routes.action({
      name: 'approve',
      summary: 'Approve a pending comment',
      permission: 'kb_articles.moderate',
      body: CommentApproval,
      problems: { 409: 'The comment is hidden, or has been edited since `edited_at`' },
      rule: approve,
    }),
    hideKbArticleComment: routes.action({
      name: 'hide',
      summary: 'Hide a comment from everyone but its author and moderators',
      permission: 'kb_articles.moderate',
      rule: hide,
    }),
    unhideKbArticleComment: routes.action({
      name: 'unhide',
      summary: 'Show a hidden comment again',
      permission: 'kb_articles.moderate',
      body: CommentApproval,
      problems: { 409: 'The comment has been edited since `edited_at`' },
      rule: unhide,
    }),
    listKbArticleCommentHistory: routes.history({
      description:
        'Newest first. Only the author and callers with `kb_articles.moderate` can read it.',
    }),
  };
};
