import { shape, uuid } from '@tessera/fields';
import { fileBody, fileResponse, type RouteTable, whileFound } from '@tessera/http-kit';
import { safeName } from '../../files/file-names.ts';
import { record, route } from '../../http.ts';
import { visibleReplay } from '../../records/replays.ts';
import { tagged } from '../../records/versions.ts';
import { message } from './messages.kind.ts';
import { Message, UploadFields } from './messages.schema.ts';
import type { MessageService } from './messages.service.ts';

/** Any type of file can be uploaded; it is never shown by the service. */
const ANY = ['*/*'] as const;

/** The files of messages; `maxBytes` is the size of the largest one. */
export const messageFileRoutes = (
  { files, messages }: Pick<MessageService, 'files' | 'messages'>,
  maxBytes: number,
): RouteTable => ({
  uploadMessageFile: route({
    method: 'post',
    path: '/channels/{id}/upload',
    permission: ['chat.access', 'chat.messages.create'],
    resource: 'channel',
    isIdempotent: true,
    summary: 'Post a message with a file in a channel',
    description:
      'Like `POST /channels/{id}/messages`, with a file. `GET /channels/{id}/messages/{mid}/file` downloads it. Characters that could make its name a path are replaced.',
    params: shape({ id: uuid() }),
    body: fileBody({ types: ANY, maxBytes, fields: UploadFields }),
    responses: { 201: record(Message) },
    responseHeaders: { 201: ['ETag', 'Location'] },
    problems: { 413: 'The file is larger than the limit, or than what the quota has left' },
    handler: async ({ caller, params: { id }, body, req, reply, commitUpload }) => {
      const { content, type, name, announcedSize, fields } = body;
      const message = { body: fields.body ?? null, thread_root_id: fields.thread_root_id ?? null };
      const sent = { content, type, name: safeName(name), announcedSize };
      const channel = req.originalUrl.split('?', 1)[0]?.replace(/\/upload$/, '');
      return files.upload(caller, id, message, sent, (post, discard) =>
        commitUpload(async () => {
          const posted = await post();
          const location = `${channel}/messages/${posted.id}`;
          return reply(201, { data: posted.answer }, { ...tagged(posted), Location: location });
        }, discard),
      );
    },
    authorizeReplay: visibleReplay(message, ({ id = '' }) => messages.within(id)),
  }),

  downloadMessageFile: route({
    method: 'get',
    path: '/channels/{id}/messages/{mid}/file',
    permission: ['chat.access', 'chat.messages.view'],
    resource: 'message',
    summary: 'Download the file of a message',
    params: shape({ id: uuid(), mid: uuid() }),
    responses: { 200: fileResponse(...ANY) },
    problems: {
      409: 'The file is being scanned (`scan_pending`), contains malware (`file_quarantined`) or exceeds a limit of the scanner (`file_unscannable`)',
    },
    handler: async ({ caller, params: { id, mid }, reply }) =>
      reply(200, await whileFound(() => files.download(caller, id, mid))),
  }),
});
