import { described, int, list, named, omissible, optional, shape, uuid } from '@tessera/fields';
import { empty, HttpError, lastEventId, type RouteTable } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { Request } from 'express';
import type { Database } from '../../../database.ts';
import { type Caller, record, route } from '../../../http.ts';
import { createAccess } from '../../../records/scope.ts';
import { message } from '../messages.kind.ts';
import type { ChatStreams } from './chat-streams.ts';
import { usersOfChannel } from './membership.repository.ts';
import { MAX_DELETED, MAX_MENTIONS, markRead, readUnread } from './read-markers.repository.ts';
import { chatStream, positionOf } from './stream-events.ts';

const position = () => int(0, Number.MAX_SAFE_INTEGER);

const Unread = named(
  'ChannelUnread',
  shape({
    channel_id: uuid(),
    read_position: described(position(), 'The position of the last message that is read'),
    unread_count: described(
      position(),
      `The messages after it that are not deleted. Of deleted ones, ${MAX_DELETED} at most are left out`,
    ),
    mention_count: described(
      int(0, MAX_MENTIONS),
      `The number of unread messages that mention the caller, up to ${MAX_MENTIONS}`,
    ),
  }),
);

const Presence = named('ChannelPresence', shape({ online: list(uuid()) }));

const reading = ['chat.access', 'chat.messages.view'] as const;
const inChannel = shape({ id: uuid() });
const noParticipant = (): HttpError =>
  new HttpError(409, 'conflict', 'You do not participate in the channel. Join it first.');

const streaming = {
  method: 'get',
  permission: reading,
  responses: { 200: chatStream },
  problems: { 429: 'The caller has too many open event streams, or sent too many requests' },
} as const;

const resuming =
  'The stream continues after the event in `Last-Event-ID`, and otherwise begins now with `ready`. Events are kept ' +
  'for 24 hours: an older or unknown id gets `reset`, after which the client reads everything again. Events about other ' +
  'participants, and who is online, are sent only to callers with `chat.participants.list`.';

export interface StreamRoutesOptions {
  readonly database: Database;
  readonly streams: ChatStreams;
}

/** Streams of the chat, presence, and read markers. */
export const streamRoutes = ({ database, streams }: StreamRoutesOptions): RouteTable => {
  const accessTo = createAccess(message, database);
  /** Throws 404 unless the caller sees the channel. */
  const open = (caller: Caller, channelId: string) => accessTo(channelId).open(caller);
  const follow = (caller: Caller, req: Request, channelId?: string) => {
    let current = caller;
    const source = streams.open(caller, {
      channelId,
      after: positionOf(lastEventId(req)),
      showsParticipants: () => current.can('chat.participants.list'),
    });
    const rechecked = (again: Caller): void => {
      current = again;
    };
    return Object.assign(source, { rechecked });
  };

  return {
    streamChannel: route({
      ...streaming,
      path: '/channels/{id}/stream',
      resource: 'channel',
      summary: 'Stream the events of a channel',
      description: `Ends when the caller is removed from the channel. ${resuming}`,
      params: inChannel,
      handler: async ({ caller, params: { id }, req, reply }) => {
        await open(caller, id);
        return reply(200, follow(caller, req, id));
      },
    }),

    streamChat: route({
      ...streaming,
      path: '/chat/stream',
      summary: "Stream the events of all of the caller's channels",
      description: `Includes the channels that the caller joins later. ${resuming}`,
      handler: ({ caller, req, reply }) => {
        requireUser(caller);
        return reply(200, follow(caller, req));
      },
    }),

    readChannel: route({
      method: 'post',
      path: '/channels/{id}/read',
      permission: reading,
      resource: 'channel',
      summary: 'Mark the messages of a channel as read',
      description: 'A marker never moves back. Writing a message marks the channel as read, too.',
      params: inChannel,
      body: omissible(
        shape({
          position: described(
            optional(position()),
            'The position of the last message that is read. Default: the newest message.',
          ),
        }),
      ),
      responses: { 200: record(Unread) },
      problems: { 409: 'The caller does not participate in the channel' },
      handler: async ({ caller, params: { id }, body, reply }) => {
        const userId = requireUser(caller);
        const { db } = await open(caller, id);
        const marker = { channelId: id, userId, position: body.position };
        if (!(await markRead(db, marker))) throw noParticipant();
        const [unread] = await readUnread(db, userId, id);
        if (!unread) throw noParticipant();
        return reply(200, { data: unread });
      },
    }),

    listUnread: route({
      method: 'get',
      path: '/chat/unread',
      permission: reading,
      summary: "What is unread in each of the caller's channels",
      responses: { 200: record(list(Unread)) },
      handler: async ({ caller, reply }) => {
        const userId = requireUser(caller);
        return reply(200, { data: await readUnread(database.forTenant(caller.tenantId), userId) });
      },
    }),

    announceTyping: route({
      method: 'post',
      path: '/channels/{id}/typing',
      permission: ['chat.access', 'chat.messages.create'],
      resource: 'channel',
      summary: 'Tell the streams of a channel that the caller is typing',
      description: 'Send it every few seconds while the user types. Nothing is stored.',
      params: inChannel,
      responses: { 204: empty },
      handler: async ({ caller, params: { id }, reply }) => {
        const userId = requireUser(caller);
        await open(caller, id);
        streams.announceTyping(caller.tenantId, id, userId);
        return reply(204);
      },
    }),

    getChannelPresence: route({
      method: 'get',
      path: '/channels/{id}/presence',
      permission: ['chat.access', 'chat.participants.list'],
      resource: 'channel',
      summary: 'Which participants of a channel are online',
      description:
        'Users are online while they have an open stream, at any instance of the service.',
      params: inChannel,
      responses: { 200: record(Presence) },
      handler: async ({ caller, params: { id }, reply }) => {
        const { db } = await open(caller, id);
        const users = await usersOfChannel(db, id);
        const online = users.filter((user) => streams.presence.isOnline(caller.tenantId, user));
        return reply(200, { data: { online } });
      },
    }),
  };
};
