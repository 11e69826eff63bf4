import type { RouteTable } from '@tessera/http-kit';
import { route } from '../../http.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import { checkPage, MessageList, MessageQuery, messagePaging } from './message-list.ts';
import { message } from './messages.kind.ts';
import { pinMessage, recallMessage, unpinMessage } from './messages.rules.ts';
import type { MessageService } from './messages.service.ts';

export const messageRoutes = (service: MessageService): RouteTable => {
  const { messages } = service;
  const routes = recordRoutes(message, messages);
  const { onAll } = createFrame(message, messages);
  return {
    listMessages: route({
      ...onAll('list'),
      method: 'get',
      summary: 'List the messages of a channel',
      description:
        'Newest first, replies included. Follow the links: they find pages by position, so that new messages do not move them, unless `page` is given. `current_page` is then the page that the first message of the response is on; of more than 10,000 newer ones, no more are counted. With `before` and `after`, they stay between both: `prev` is then null and `first` the page itself, so keep the address of the first page.',
      query: MessageQuery,
      responses: { 200: MessageList },
      handler: async ({ caller, params, query, req, reply }) => {
        checkPage(query);
        const found = await service.list(caller, params?.id ?? '', query);
        return reply(200, { data: found.rows, ...messagePaging(req.originalUrl, query, found) });
      },
    }),

    createMessage: routes.create({
      summary: 'Post a message in a channel',
      description: 'Users who post in a public channel participate in it from then on.',
    }),
    getMessage: routes.get(),
    updateMessage: routes.update({
      summary: 'Edit a message',
      description:
        'Only its author can. Earlier texts are in the history. With the text that it has, the message does not change.',
      problems: { 409: 'The message is recalled' },
    }),
    deleteMessage: routes.delete({
      description: 'It can be restored. Only its author and owners of the channel can delete it.',
    }),
    restoreMessage: routes.restore({
      description:
        'Only its author and owners of the channel can restore it. Its file is restored, too, unless the message was deleted more than 30 days ago.',
      problems: { 409: 'The message had only a file, which has been deleted for good' },
    }),
    recallMessage: routes.action({
      name: 'recall',
      summary: 'Recall a message',
      description:
        "Removes its text and its file, also from the history. Only its author can, within the time that the tenant's settings allow.",
      problems: { 409: 'The time is over (`recall_expired`), or the message is recalled already' },
      rule: recallMessage,
    }),
    pinMessage: routes.action({
      name: 'pin',
      summary: 'Pin a message to its channel',
      problems: { 409: 'The message is recalled' },
      rule: pinMessage,
    }),
    unpinMessage: routes.action({
      name: 'unpin',
      summary: 'Unpin a message',
      rule: unpinMessage,
    }),
    listMessageHistory: routes.history(),
  };
};
