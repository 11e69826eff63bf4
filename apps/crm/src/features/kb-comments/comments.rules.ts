import type { Out } from '@tessera/fields';
import { HttpError, invalidField } from '@tessera/http-kit';
import { renderBody } from '../../content/rendering.ts';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { readSettings } from '../settings/settings.service.ts';
import { deletedBy, findThread } from './comments.repository.ts';
import type { CommentApproval } from './comments.schema.ts';
import {
  authorOf,
  type CommentState,
  isAuthor,
  isModerator,
  readableComments,
} from './comments.visibility.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface Row extends CommentState {
  readonly id: string;
  readonly body: string | null;
  readonly edited_at: Date | null;
}

interface RowContext extends Context {
  readonly row: Row;
}

/** The status of a text that the caller has written. */
const statusOfText = async ({ caller, db }: Context): Promise<'visible' | 'pending'> => {
  if (isModerator(caller)) return 'visible';
  const { comment_moderation: isModerated } = await readSettings(db);
  return isModerated ? 'pending' : 'visible';
};

/** The thread of a comment that the caller may read; 422 if the article has no such comment. */
const threadOf = async (
  { caller, db }: Context,
  of: { readonly articleId: string; readonly commentId: string },
): Promise<string> => {
  const thread = await findThread(db, of, readableComments(caller));
  if (thread !== undefined) return thread;
  throw invalidField('parent_id', 'parent_id must be the id of a comment of the article');
};

/** The columns of a new comment. A reply is in the thread of the comment that it replies to. */
export const prepareComment = async (
  { body, parent_id: parentId }: { readonly body: string; readonly parent_id?: string | null },
  context: Context & { readonly columns: { readonly article_id?: string } },
) => {
  const { caller, columns, db } = context;
  const author = authorOf(caller);
  const status = await statusOfText(context);
  const { body_html } = await renderBody(db.tenantId, body);
  const thread_id = parentId
    ? await threadOf(context, { articleId: columns.article_id ?? '', commentId: parentId })
    : null;
  return Object.assign({ body_html, status, thread_id }, author);
};

/** Authors edit their comments. Where comments are moderated, a visible one with another text waits for approval again. */
export const editComment = async ({ body }: { readonly body?: string }, context: RowContext) => {
  const { caller, db, row } = context;
  if (!isAuthor(caller, row)) {
    throw new HttpError(403, 'not_the_author', 'Only the author of the comment can do this.');
  }
  if (body === undefined || body === row.body) return {};
  const status = row.status === 'visible' ? await statusOfText(context) : row.status;
  const { body_html } = await renderBody(db.tenantId, body);
  return { body_html, status, edited_at: new Date() };
};

const requireModerator = ({ caller, row }: RowContext): void =>
  requirePermission(caller, 'kb_articles.moderate', { type: 'comment', id: row.id });

/** Authors delete their comments; moderators those of others. */
export const checkDeletion = (context: RowContext): void => {
  if (!isAuthor(context.caller, context.row)) requireModerator(context);
};

/** Authors restore what they have deleted themselves; moderators restore every comment. */
export const checkRestoration = async (context: RowContext): Promise<void> => {
  const { caller, db, row } = context;
  const deleter = isAuthor(caller, row) ? await deletedBy(db, row.id) : undefined;
  if (!deleter || !isAuthor(caller, deleter)) requireModerator(context);
};

const moderated = (caller: Caller, status: CommentState['status']) => {
  return { status, moderated_at: new Date(), moderated_by: caller.userUuid };
};

type ApprovalContext = RowContext & { readonly body: Out<typeof CommentApproval> };

/** 409 if the moderator has read another text than the present one. */
const requireRead = ({ row, body: { edited_at: read } }: ApprovalContext): void => {
  if (read === undefined || read?.getTime() === row.edited_at?.getTime()) return;
  throw new HttpError(409, 'conflict', 'The comment has been edited since edited_at.');
};

/** Makes a pending comment visible; one that is visible stays as it is. */
export const approve = (context: ApprovalContext) => {
  const { caller, row } = context;
  if (row.status === 'hidden') {
    throw new HttpError(409, 'conflict', 'The comment is hidden. Unhide it instead.');
  }
  requireRead(context);
  return row.status === 'visible' ? {} : moderated(caller, 'visible');
};

/** Hides a comment; one that is hidden stays as it is. */
export const hide = ({ caller, row }: RowContext) =>
  row.status === 'hidden' ? {} : moderated(caller, 'hidden');

/** Makes a hidden comment visible; one that is not hidden stays as it is. */
export const unhide = (context: ApprovalContext) => {
  const { caller, row } = context;
  requireRead(context);
  return row.status === 'hidden' ? moderated(caller, 'visible') : {};
};
