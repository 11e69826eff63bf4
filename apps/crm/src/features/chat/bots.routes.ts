import { described, named, shape, text } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { withMaximum } from '../../records/maximum.ts';
import { hashSecret, withNewToken } from '../../records/record-tokens.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import {
  acceptedVersions,
  changeProblems,
  creationHeaders,
  tagged,
} from '../../records/versions.ts';
import { viewable, viewableText } from '../../records/viewing.ts';
import { botTokens } from './bot-tokens.ts';
import { Bot, BotInput, type Bots, bot, type ChannelBots, channelBot } from './bots.kind.ts';

const botToken = described(text(200), 'The token for `X-Bot-Token`. It is not shown again.');

const BotWithToken = named('BotWithToken', shape({ ...Bot.fields, token: botToken }));

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
      problems: withMaximum(bot),
      // Responses to keys are stored, and a token must not be.
      isIdempotent: false,
      handler: async ({ caller, body, req, reply }) => {
        const { name, description = null } = body;
        const { token, ...created } = await withNewToken(botTokens, caller.tenantId, (secret) =>
          bots.create(caller, { name, description, secret }),
        );
        const data = Object.assign({ token }, created.answer);
        return reply(201, { data }, creationHeaders(req, created));
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
      description: `The former token is not accepted any more. The new one is shown once. ${viewableText(bot, ['token'])}`,
      responses: { 200: record(viewable(bot, BotWithToken, { token: botToken })) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const { token, ...changed } = await withNewToken(botTokens, caller.tenantId, (secret) => {
          const rotate = {
            name: 'rotate-token',
            rule: () => ({ token_hash: hashSecret(secret) }),
          };
          return bots.act(caller, params.id ?? '', rotate, undefined, versions);
        });
        return reply(200, { data: Object.assign({ token }, changed.answer) }, tagged(changed));
      },
    }),

    listChannelBots: inChannel.list({
      summary: 'List the bots of a channel',
      description: 'Without deleted bots, which are there again when they are restored.',
    }),
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
