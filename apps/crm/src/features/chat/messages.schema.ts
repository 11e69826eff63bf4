import {
  bool,
  described,
  int,
  list,
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
import { scanStatus } from '../../files/scan-status.ts';

const count = (): ReturnType<typeof int> => int(0, Number.MAX_SAFE_INTEGER);
const position = int(1, Number.MAX_SAFE_INTEGER);

export const authorTypes = ['user', 'bot', 'client'] as const;

const body = described(
  text(10_000),
  'Mentions a user where it contains `<@user id>`; at most 50 users are mentioned.',
);

const threadRoot =
  'The message that this one replies to; it is in the same channel and no reply itself';

export const MessageInput = named(
  'MessageInput',
  shape({ body, thread_root_id: described(optional(nullable(uuid())), threadRoot) }),
);

/** What is sent with a file. */
export const UploadFields = shape({
  body: described(
    optional(text(10_000)),
    'The text of the message; mentions as in messages without a file',
  ),
  thread_root_id: described(optional(uuid()), threadRoot),
});

const MessageFile = named(
  'MessageFile',
  shape({
    name: described(text(255), 'The name under which it is downloaded', 'Offer.pdf'),
    size: described(count(), 'Bytes'),
    type: described(rawText(200), 'The media type, detected from the content', 'application/pdf'),
    scan_status: scanStatus,
  }),
);

export const MessageUpdate = named('MessageUpdate', shape({ body: optional(body) }));

const ReactionCount = named(
  'ReactionCount',
  shape({
    emoji: rawText(40),
    count: described(int(1, Number.MAX_SAFE_INTEGER), 'How many users have reacted with it'),
    is_own: described(bool(), 'Whether the caller is one of them'),
  }),
);

export const Message = named(
  'Message',
  shape({
    id: uuid(),
    channel_id: reference('channels'),
    position: described(
      position,
      'Grows with each message of the channel, in the order of their creation',
    ),
    body: described(nullable(text(10_000)), 'Null if the message was recalled or has only a file'),
    file: described(nullable(MessageFile), 'Null if the message has no file or was recalled'),
    author_type: oneOf(...authorTypes),
    user_id: described(nullable(uuid()), 'The author, if it is a user'),
    bot_id: described(nullable(uuid()), 'The author, if it is a bot'),
    client_id: described(nullable(rawText(200)), 'The author, if it is an OAuth client'),
    thread_root_id: described(nullable(uuid()), threadRoot),
    reply_count: count(),
    last_reply_at: nullable(time()),
    mentions: described(list(uuid(), { max: 50 }), 'The users that the body mentions'),
    edited_at: nullable(time()),
    recalled_at: nullable(time()),
    pinned_at: nullable(time()),
    pinned_by: nullable(uuid()),
    reactions: list(ReactionCount),
    created_at: time(),
    updated_at: time(),
  }),
);
