import {
  clearable,
  type Field,
  named,
  partial,
  reference,
  type Shape,
  shape,
  text,
  time,
} from '@tessera/fields';
import { timeFilters, timeSort } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import { hashSecret } from '../../records/record-tokens.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { announceChannelBot, checkBotRemoval, checkNewChannelBot } from './channel-bots.rules.ts';
import { channel } from './channels.kind.ts';

const permissions = {
  list: ['chat.access', 'chat.bots.list'],
  view: ['chat.access', 'chat.bots.view'],
  create: ['chat.access', 'chat.bots.create'],
  update: ['chat.access', 'chat.bots.update'],
  delete: ['chat.access', 'chat.bots.delete'],
} as const;

export const BotInput = named(
  'BotInput',
  shape({ name: text(80), description: clearable(text(500)) }),
);

/** A new bot with the secret of its token, of which only the hash is stored. */
export interface NewBot {
  readonly name: string;
  readonly description?: string | null;
  readonly secret: string;
}

export const Bot = answerOf('Bot', BotInput);

export const bot = declareKind({
  table: 'bots',
  name: 'bot',
  permissions,
  create: BotInput as Shape as Shape & Field<NewBot>,
  update: named('BotUpdate', partial(BotInput)),
  answer: Bot,
  hidden: { token_hash: hidden<string>() },
  inputOnly: ['secret'],
  sort: { name: 'sort_name', ...timeSort },
  defaultSort: 'name',
  maximum: 1000,
  counted: true,
  filters: timeFilters,
  rules: {
    create: ({ secret }) => ({ token_hash: hashSecret(secret) }),
  },
});

export type Bots = RecordsOf<typeof bot>;

const ChannelBotInput = named('ChannelBotInput', shape({ bot_id: reference('bots') }));

export const channelBot = declareKind({
  table: 'channel_bots',
  path: '/bots',
  name: 'bot of the channel',
  permissions,
  create: ChannelBotInput,
  answer: named('ChannelBot', shape({ bot_id: reference('bots'), created_at: time() })),
  hidden: { channel_id: hidden<string>() },
  parent: { kind: channel, column: 'channel_id' },
  maximum: 1000,
  locksParent: true,
  key: 'bot_id',
  sort: { created_at: 'created_at' },
  defaultSort: 'created_at',
  filters: {},
  counted: false,
  deletion: 'permanent',
  rules: {
    create: (input, context) => checkNewChannelBot(input, context),
    delete: (context) => checkBotRemoval(context),
  },
  follow: (change) => announceChannelBot(change),
});

export type ChannelBots = RecordsOf<typeof channelBot>;
