import {
  described,
  int,
  named,
  nullable,
  oneOf,
  optional,
  rawText,
  reference,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';

/** `pending` waits for approval; `hidden` was hidden by a moderator. */
export const commentStates = ['visible', 'pending', 'hidden'] as const;

const body = described(text(10_000), 'Markdown');

export const CommentInput = named(
  'KbArticleCommentInput',
  shape({
    body,
    parent_id: described(
      optional(nullable(uuid())),
      'The comment of the same article that this one replies to',
    ),
  }),
);

export const CommentUpdate = named('KbArticleCommentUpdate', shape({ body: optional(body) }));

/** The body of `POST .../approve` and `/unhide`. */
export const CommentApproval = shape({
  edited_at: described(
    optional(nullable(time())),
    'The `edited_at` of the comment as the moderator has read it; 409 if it has been edited since. Default: not compared.',
  ),
});

const shownUnless = 'Null if the comment is deleted, or if the caller may not see it.';

export const Comment = named(
  'KbArticleComment',
  shape({
    id: uuid(),
    article_id: reference('kb-articles'),
    parent_id: described(nullable(uuid()), 'The comment that this one replies to'),
    thread_id: described(
      nullable(uuid()),
      'The comment that the thread begins with; null if that is this one. Replies to replies are in the same thread.',
    ),
    body: described(nullable(text(10_000)), `Markdown. ${shownUnless}`),
    body_html: described(
      nullable(rawText(Number.MAX_SAFE_INTEGER, 0)),
      `The body as sanitized HTML. ${shownUnless}`,
    ),
    status: oneOf(...commentStates),
    author_type: oneOf('user', 'client'),
    user_id: described(nullable(uuid()), `The author, if it is a user. ${shownUnless}`),
    client_id: described(
      nullable(rawText(200)),
      `The author, if it is an OAuth client. ${shownUnless}`,
    ),
    reply_count: described(
      int(0, Number.MAX_SAFE_INTEGER),
      'How many visible comments the thread has after this one; 0 for replies.',
    ),
    edited_at: nullable(time()),
    moderated_at: described(
      nullable(time()),
      'When a moderator last approved, hid or unhid the comment',
    ),
    moderated_by: nullable(uuid()),
    deleted_at: described(
      nullable(time()),
      'A deleted comment keeps its place in lists while there are replies to it.',
    ),
    created_at: time(),
    updated_at: time(),
  }),
);
