import { bool, described, shape, withDefault } from '@tessera/fields';
import { type Exports, empty, type RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { withMaximum } from '../../records/maximum.ts';
import { hiddenSince, visibleReplay } from '../../records/replays.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import {
  acceptedVersions,
  changeProblems,
  creationHeaders,
  tagged,
} from '../../records/versions.ts';
import { RecordReference, shown, viewable } from '../../records/viewing.ts';
import { Channel, ChannelInput, channel } from './channels.kind.ts';
import { requireAddition } from './channels.rules.ts';
import type { ChannelService } from './channels.service.ts';

const directProblem = { 409: 'The channel is direct' };

const Force = shape({
  force: described(withDefault(bool(), false), 'Whether to delete a channel that has messages'),
});

export const channelRoutes = (service: ChannelService, exports: Exports): RouteTable => {
  const { channels } = service;
  const routes = recordRoutes(channel, channels);
  const { onAll, onOne } = createFrame(channel, channels);
  const requireReplayVisible = visibleReplay(channel, () => channels);
  return {
    listChannels: routes.list({
      description: 'The public channels of the tenant, and those that the caller participates in.',
    }),

    exportChannels: routes.export({
      permission: ['chat.access', 'chat.channels.export'],
      exports,
    }),

    createChannel: route({
      ...onAll('create'),
      method: 'post',
      summary: 'Create a channel',
      description:
        'The caller becomes its owner. Users other than the caller in a public or private channel require `chat.participants.create`. Where a direct channel of the same people exists, it is returned with status 200, without its last message; without `chat.channels.view`, only its `id` and `version` are.',
      body: ChannelInput,
      responses: { 200: record(viewable(channel, Channel)), 201: record(Channel) },
      responseHeaders: { 200: ['ETag'], 201: ['ETag', 'Location'] },
      problems: withMaximum(channel, hiddenSince),
      handler: async ({ caller, body, req, reply }) => {
        const { isNew, opened } = await service.open(caller, body);
        if (!isNew) {
          // The response is stored for repeated requests, which must not show what is recalled or changed meanwhile.
          const { answer } = opened;
          const data = RecordReference.is(answer)
            ? answer
            : Object.assign({}, answer, { last_message: null });
          return reply(200, { data }, tagged(opened));
        }
        return reply(201, { data: shown(opened).answer }, creationHeaders(req, opened));
      },
      authorizeReplay: async ({ body, ...replay }) => {
        requireAddition(replay.caller, body);
        return requireReplayVisible(replay);
      },
    }),

    getChannel: routes.get(),
    updateChannel: routes.update({
      description: 'In a private channel, only owners can.',
      problems: directProblem,
    }),

    deleteChannel: route({
      ...onOne('delete'),
      method: 'delete',
      summary: 'Delete a channel',
      description: 'It can be restored, with its messages. In a private channel, only owners can.',
      query: Force,
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: {
        412: changeProblems[412],
        409: 'The channel has messages and `force` is not true, or it is direct',
      },
      handler: async ({ caller, params, query, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        await service.delete(caller, params.id ?? '', { force: query.force, versions });
        return reply(204);
      },
    }),

    restoreChannel: routes.restore({
      description:
        'A channel that is not deleted does not change. The files of its messages are restored, too, unless it was deleted more than 30 days ago.',
      problems: directProblem,
    }),
    listChannelHistory: routes.history(),
  };
};
