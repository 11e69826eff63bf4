import { described, named, shape, text } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { hashSecret, newSecret } from '../../records/record-tokens.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import { acceptedVersions, changeProblems, tagged } from '../../records/versions.ts';
import { botTokens } from './bot-tokens.ts';
import { Bot, BotInput, type Bots, bot, type ChannelBots, channelBot } from './bots.kind.ts';

const BotWithToken = named(
  'BotWithToken',
  shape({
    ...Bot.fields,
    token: described(text(200), 'The token for `X-Bot-Token`. It is not shown again.'),
  }),
);

export const botRoutes = (bots: Bots, channelBots: ChannelBots): RouteTable => {
  const routes = recordRoutes(bot, bots);
  const { onAll, onOne } = createFrame(bot, bots);
  const inChannel = recordRoutes(channelBot, channelBots);
  const problems = { 409: 'The channel is direct' };
  return {
    listBots: routes.list(),

    createBot: route({
      ...onAll('create'),
      method: 'post',
      summary: 'Create a bot',
      description: 'The token is shown once, in this response.',
      body: BotInput,
      responses: { 201: record(BotWithToken) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      // Responses to keys are stored, and a token must not be.
      isIdempotent: false,
      handler: async ({ caller, body, req, reply }) => {
        const secret = newSecret();
        const { name, description = null } = body;
        const created = await bots.create(caller, { name, description, secret });
        const token = botTokens.write({ tenantId: caller.tenantId, id: created.id, secret });
        const location = `${req.originalUrl.split('?', 1)[0]}/${created.id}`;
        return reply(
          201,
          { data: { ...created.answer, token } },
          { ETag: tagged(created).ETag, Location: location },
        );
      },
    }),

    getBot: routes.get(),
    updateBot: routes.update(),
    deleteBot: routes.delete({
      description: 'Its token is not accepted until it is restored.',
    }),
    restoreBot: routes.restore(),
    listBotHistory: routes.history(),

    rotateBotToken: route({
      ...onOne('update', '/rotate-token'),
      method: 'post',
      summary: 'Replace the token of a bot',
      description: 'The former token is not accepted any more. The new one is shown once.',
      responses: { 200: record(BotWithToken) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, req, reply }) => {
        const secret = newSecret();
        const rotate = {
          name: 'rotate-token',
          rule: () => ({ token_hash: hashSecret(secret) }),
        };
        const versions = acceptedVersions(req.get('If-Match'));
        const changed = await bots.act(caller, params.id ?? '', rotate, undefined, versions);
        const token = botTokens.write({ tenantId: caller.tenantId, id: changed.id, secret });
        return reply(200, { data: { ...changed.answer, token } }, tagged(changed));
      },
    }),

    listChannelBots: inChannel.list({ summary: 'List the bots of a channel' }),
    createChannelBot: inChannel.create({
      summary: 'Add a bot to a channel',
      description: 'In a private channel, only owners can.',
      problems,
    }),
    getChannelBot: inChannel.get(),
    listChannelBotHistory: inChannel.history({ summary: 'List the changes of a bot of a channel' }),
    deleteChannelBot: inChannel.delete({
      summary: 'Remove a bot from a channel',
      description: 'In a private channel, only owners can.',
      problems,
    }),
  };
};
