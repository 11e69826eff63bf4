import { type Out, shape, uuid } from '@tessera/fields';
import { empty, fileBody, type RouteTable } from '@tessera/http-kit';
import type { BotCaller } from '../../../bots/bot-access.ts';
import { botRoute } from '../../../bots/bot-route.ts';
import type { Database } from '../../../database.ts';
import { safeName } from '../../../files/file-names.ts';
import { record } from '../../../http.ts';
import { hiddenSince } from '../../../records/replays.ts';
import { acceptedVersions, changeProblems, tagged } from '../../../records/versions.ts';
import { shown } from '../../../records/viewing.ts';
import { recallMessage } from '../messages.rules.ts';
import { Message, MessageUpdate } from '../messages.schema.ts';
import type { MessageService } from '../messages.service.ts';
import { BotMessageInput, BotUploadFields, OwnBot } from './bot-webhooks.schema.ts';
import { createBotWebhooks } from './bot-webhooks.service.ts';

const ROOT = '/webhooks/bot';
const OWN = `${ROOT}/messages/{id}` as const;

const ofMessage = shape({ id: uuid() });
const recalled = 'The message is recalled';

/** The path of a message, from the URL of a request that posted it. */
const locationOf = (url: string, id: string): string => {
  const root = url.split('?', 1)[0]?.replace(/\/upload$/, '');
  return `${root}/messages/${id}`;
};

interface PostedAgain {
  readonly caller: BotCaller;
  readonly response: unknown;
}

/** The routes that bots call with their tokens; `maxBytes` is the size of the largest file. */
export const botWebhookRoutes = (
  database: Pick<Database, 'forTenant'>,
  service: MessageService,
  maxBytes: number,
): RouteTable => {
  const { messages, files } = service;
  const { identify, channelFor, aroundOwn } = createBotWebhooks(database, service);
  /** 404 unless the bot still sees the message that an earlier request posted. */
  const authorizeReplay = ({ caller, response }: PostedAgain): Promise<void> => {
    const { id, channel_id } = (response as { readonly data: Out<typeof Message> }).data;
    return messages.within(channel_id).requireVisible(caller, [id]);
  };
  return {
    getOwnBot: botRoute({
      method: 'get',
      path: ROOT,
      summary: 'Who the bot is, and where it can post',
      responses: { 200: record(OwnBot) },
      handler: async ({ caller, reply }) => reply(200, { data: await identify(caller) }),
    }),

    createBotMessage: botRoute({
      method: 'post',
      path: ROOT,
      summary: 'Post a message as a bot',
      description:
        'The message appears in the channel and in its event streams at once. A reply names the message that begins the thread.',
      body: BotMessageInput,
      responses: { 201: record(Message) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      handler: async ({ caller, body: { channel_id, ...input }, req, reply }) => {
        const channelId = await channelFor(caller, channel_id);
        const posted = await messages.within(channelId).create(caller, input);
        const location = locationOf(req.originalUrl, posted.id);
        return reply(201, { data: posted.answer }, { ...tagged(posted), Location: location });
      },
      problems: hiddenSince,
      authorizeReplay,
    }),

    uploadBotMessageFile: botRoute({
      method: 'post',
      path: `${ROOT}/upload`,
      isIdempotent: true,
      summary: 'Post a message with a file as a bot',
      description:
        'Like `POST /webhooks/bot`, with a file. Characters that could make its name a path are replaced.',
      body: fileBody({ types: ['*/*'], maxBytes, fields: BotUploadFields }),
      responses: { 201: record(Message) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: {
        ...hiddenSince,
        413: 'The file is larger than the limit, or than what the quota has left',
      },
      handler: async ({ caller, body, req, reply, commitUpload }) => {
        const { content, type, name, announcedSize, fields } = body;
        const channelId = await channelFor(caller, fields.channel_id);
        const message = {
          body: fields.body ?? null,
          thread_root_id: fields.thread_root_id ?? null,
        };
        const sent = { content, type, name: safeName(name), announcedSize };
        return files.upload(caller, channelId, message, sent, (post, discard) =>
          commitUpload(async () => {
            const posted = await post();
            const location = locationOf(req.originalUrl, posted.id);
            return reply(201, { data: posted.answer }, { ...tagged(posted), Location: location });
          }, discard),
        );
      },
      authorizeReplay,
    }),

    getBotMessage: botRoute({
      method: 'get',
      path: OWN,
      resource: 'message',
      summary: 'Show a message that the bot wrote',
      params: ofMessage,
      responses: { 200: record(Message) },
      responseHeaders: { 200: ['ETag'] },
      handler: async ({ caller, params: { id }, reply }) => {
        const found = await (await aroundOwn(caller, id)).get(caller, id);
        return reply(200, { data: found.answer }, tagged(found));
      },
    }),

    updateBotMessage: botRoute({
      method: 'put',
      path: OWN,
      resource: 'message',
      summary: 'Edit a message that the bot wrote',
      params: ofMessage,
      body: MessageUpdate,
      responses: { 200: record(Message) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { ...changeProblems, 409: recalled },
      handler: async ({ caller, params: { id }, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const own = await aroundOwn(caller, id);
        const changed = shown(await own.update(caller, id, body, versions));
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    }),

    deleteBotMessage: botRoute({
      method: 'delete',
      path: OWN,
      resource: 'message',
      summary: 'Delete a message that the bot wrote',
      description: 'Owners of the channel can restore it.',
      params: ofMessage,
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: changeProblems,
      handler: async ({ caller, params: { id }, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        await (await aroundOwn(caller, id)).delete(caller, id, versions);
        return reply(204);
      },
    }),

    recallBotMessage: botRoute({
      method: 'post',
      path: `${OWN}/recall`,
      resource: 'message',
      summary: 'Recall a message that the bot wrote',
      description:
        "Removes its text and its file, also from the history, within the time that the tenant's settings allow.",
      params: ofMessage,
      responses: { 200: record(Message) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: {
        ...changeProblems,
        409: 'The time is over (`recall_expired`), or the message is recalled already',
      },
      handler: async ({ caller, params: { id }, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const action = { name: 'recall', rule: recallMessage };
        const own = await aroundOwn(caller, id);
        const changed = shown(await own.act(caller, id, action, undefined, versions));
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    }),
  };
};
