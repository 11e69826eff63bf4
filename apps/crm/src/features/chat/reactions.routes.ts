import { described, named, shape, time, uuid } from '@tessera/fields';
import { empty, pageWithin, type RouteTable } from '@tessera/http-kit';
import { page, record, route } from '../../http.ts';
import { pageFields } from '../../records/list-query.ts';
import { exactly } from '../../records/listing.ts';
import { paging } from '../../records/paging.ts';
import { emoji } from './emoji.ts';
import type { Reactions } from './reactions.service.ts';

const oneEmoji = described(emoji(), 'One emoji', '👍');

const Reaction = named('Reaction', shape({ message_id: uuid(), emoji: oneEmoji, user_id: uuid() }));

const UserReaction = named(
  'UserReaction',
  shape({ emoji: oneEmoji, user_id: uuid(), created_at: time() }),
);

const path = '/channels/{id}/messages/{messageId}/reactions';
const params = { id: uuid(), messageId: uuid() };
const permission = ['chat.access', 'chat.messages.view'] as const;

export const reactionRoutes = (reactions: Reactions): RouteTable => ({
  listReactions: route({
    method: 'get',
    path,
    permission,
    resource: 'message',
    params: shape(params),
    summary: 'List who reacted to a message',
    query: shape(pageFields),
    responses: { 200: page(UserReaction) },
    handler: async ({ caller, params: { id: channelId, messageId }, query, req, reply }) => {
      const { page: asked, per_page: perPage } = query;
      const of = { channelId, messageId };
      const read = (at: number) =>
        reactions.list(caller, of, { limit: perPage, offset: (at - 1) * perPage });
      const first = await read(asked);
      const within = pageWithin({ page: asked, perPage }, first.total);
      const { total, rows } = within === asked ? first : await read(within);
      const listed = exactly({ perPage }, { rows, page: within, total });
      return reply(200, { data: rows, ...paging(req.originalUrl, listed) });
    },
  }),

  createReaction: route({
    method: 'post',
    path,
    permission,
    resource: 'message',
    params: shape(params),
    summary: 'React to a message',
    description: 'A user reacts once with each emoji: repeating a reaction changes nothing.',
    body: shape({ emoji: oneEmoji }),
    responses: { 201: record(Reaction) },
    problems: { 409: 'The message is recalled, or has 50 different emoji' },
    handler: async ({ caller, params: { id: channelId, messageId }, body, reply }) =>
      reply(201, { data: await reactions.add(caller, { channelId, messageId }, body.emoji) }),
    authorizeReplay: ({ caller, params: { id: channelId, messageId } }) =>
      reactions.requireVisible(caller, { channelId, messageId }),
  }),

  deleteReaction: route({
    method: 'delete',
    path: `${path}/{emoji}`,
    permission,
    resource: 'reaction',
    params: shape({ ...params, emoji: oneEmoji }),
    summary: 'Remove a reaction of the caller',
    description: 'The emoji is percent-encoded in the path.',
    responses: { 204: empty },
    problems: { 409: 'The message is recalled' },
    handler: async ({ caller, params: { id: channelId, messageId, emoji: given }, reply }) => {
      await reactions.remove(caller, { channelId, messageId }, given);
      return reply(204);
    },
  }),
});
