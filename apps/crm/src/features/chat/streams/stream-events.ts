import {
  described,
  int,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  shape,
  text,
  uuid,
} from '@tessera/fields';
import { type EventOf, eventStream } from '@tessera/http-kit';
import { Channel } from '../channels.kind.ts';
import { type ChatEventType, chatEventTypes } from '../chat-events.ts';
import { PlainMessage } from './message-search.ts';

const position = () => int(0, Number.MAX_SAFE_INTEGER);

const {
  last_message: _lastMessage,
  role: _role,
  unread_count: _unreadCount,
  mention_count: _mentionCount,
  user_ids: _userIds,
  ...channelFields
} = Channel.fields;

/** A channel without what differs by reader. */
const PlainChannel = named('PlainChannel', shape(channelFields));

/** The data of an event of a channel: the ids of what changed, and the channel or the message itself. */
export const ChatEventData = named(
  'ChatEvent',
  shape({
    channel_id: uuid(),
    channel: optional(PlainChannel),
    message: optional(PlainMessage),
    message_id: optional(uuid()),
    position: described(optional(position()), 'The position of the message'),
    thread_root_id: optional(nullable(uuid())),
    user_id: optional(uuid()),
    bot_id: optional(uuid()),
    emoji: optional(text(100)),
  }),
);

const Empty = named('StreamPosition', shape({}));

/** The events of a channel by type, all with the same shape. */
const channelEvents = Object.fromEntries(
  chatEventTypes.map((type) => [type, ChatEventData]),
) as Readonly<Record<ChatEventType, typeof ChatEventData>>;

/** What the streams of the chat send. */
export const chatStream = eventStream({
  ready: Empty,
  reset: Empty,
  ...channelEvents,
  typing: named('ChatTyping', shape({ channel_id: uuid(), user_id: uuid() })),
  presence: named('ChatPresence', shape({ user_id: uuid(), status: oneOf('online', 'offline') })),
});

export type ChatStreamEvent = EventOf<typeof chatStream.events>;
export type ChatEventData = Out<typeof ChatEventData>;

/** The positions that clients send back in `Last-Event-ID`; others match no kept event. */
const POSITION = /^\d{1,15}$/;

/** The position in a `Last-Event-ID`: undefined if there is none, -1 if it is not a position. */
export const positionOf = (lastId: string | undefined): number | undefined => {
  if (lastId === undefined) return undefined;
  return POSITION.test(lastId) ? Number(lastId) : -1;
};
