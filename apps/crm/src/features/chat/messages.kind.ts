import type { Field, Shape } from '@tessera/fields';
import { kindsFor } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { channel } from './channels.kind.ts';
import type { ChatCaller } from './chat-caller.ts';
import { fileColumns, presentFile } from './message-file.ts';
import {
  checkDeletion,
  checkRestoration,
  editMessage,
  followMessage,
  type NewMessage,
  prepareMessage,
} from './messages.rules.ts';
import { Message, MessageInput, MessageUpdate } from './messages.schema.ts';

const declareChatKind = kindsFor<ChatCaller>();

export const message = declareChatKind({
  table: 'messages',
  path: '/messages',
  name: 'message',
  permissions: {
    list: ['chat.access', 'chat.messages.list'],
    view: ['chat.access', 'chat.messages.view'],
    create: ['chat.access', 'chat.messages.create'],
    update: ['chat.access', 'chat.messages.update'],
    delete: ['chat.access', 'chat.messages.delete'],
  },
  create: MessageInput as Shape as Shape & Field<NewMessage>,
  update: MessageUpdate,
  answer: Message,
  // The service of the messages reads them.
  computed: { reactions: () => [], file: presentFile },
  hidden: { ...fileColumns, revision: hidden<number>() },
  inputOnly: ['file'],
  parent: { kind: channel, column: 'channel_id' },
  sort: { position: 'position' },
  defaultSort: '-position',
  filters: {},
  revision: ({ revision }) => revision,
  rules: {
    create: (input, context) => prepareMessage(input, context),
    update: (change, context) => editMessage(change, context),
    delete: (context) => checkDeletion(context),
    restore: (context) => checkRestoration(context),
  },
  follow: (change) => followMessage(change),
});

export type Messages = RecordsOf<typeof message>;
