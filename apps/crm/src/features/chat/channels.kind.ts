import {
  clearable,
  described,
  int,
  list,
  named,
  nullable,
  oneOf,
  optional,
  rawText,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import { equals, type Filter, timeFilters, timeSort } from '../../records/filters.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { channelKinds, participantRoles } from './channels.repository.ts';
import { announceChannel, checkChannelChange, checkNewChannel } from './channels.rules.ts';
import { visibleChannels } from './channels.visibility.ts';
import { MAX_MENTIONS } from './streams/read-markers.repository.ts';

const { sql } = Prisma;

const kindOfChannel = described(
  oneOf(...channelKinds),
  'Everybody in the tenant sees `public` channels; only participants see `private` and `direct` ones, which are a 404 to ' +
    'others. A direct channel has neither a name nor a topic, and the same people have only one.',
);
const name = text(80);
const topic = clearable(text(500));

export const ChannelInput = named(
  'ChannelInput',
  shape({
    kind: withDefault(kindOfChannel, 'public'),
    name: described(optional(name), 'Required, except in a direct channel'),
    topic,
    user_ids: described(
      optional(list(uuid(), { max: 100 })),
      'Users who participate besides the caller. Except in a direct channel, others than the caller require `chat.participants.create`.',
    ),
  }),
);

const count = (): ReturnType<typeof int> => int(0, Number.MAX_SAFE_INTEGER);

const LastMessage = named(
  'LastMessage',
  shape({
    id: uuid(),
    position: count(),
    body: described(nullable(text(10_000)), 'Null if the message was recalled or has only a file'),
    file_name: described(nullable(text(255)), 'The name of its file'),
    author_type: oneOf('user', 'bot', 'client'),
    user_id: nullable(uuid()),
    bot_id: nullable(uuid()),
    client_id: nullable(rawText(200)),
    created_at: time(),
  }),
);

export const Channel = named(
  'Channel',
  shape({
    id: uuid(),
    kind: kindOfChannel,
    name: described(nullable(name), 'Null in a direct channel'),
    topic: nullable(text(500)),
    last_position: described(count(), 'The position of the newest message; 0 without messages'),
    last_message_at: nullable(time()),
    last_message: described(
      nullable(LastMessage),
      'The newest message that is not deleted, for callers with `chat.messages.view`',
    ),
    role: described(
      nullable(oneOf(...participantRoles)),
      'The role of the caller; null if they do not participate',
    ),
    unread_count: described(
      nullable(count()),
      'The number of messages that the caller has not read, without deleted ones. Null if the caller does not participate or may not view messages.',
    ),
    mention_count: described(
      nullable(int(0, MAX_MENTIONS)),
      `The number of unread messages that mention the caller, up to ${MAX_MENTIONS}`,
    ),
    user_ids: described(list(uuid()), 'The people of a direct channel; empty in others'),
    created_at: time(),
    updated_at: time(),
  }),
);

/** The channels that a user participates in. */
const participatedBy: Filter<string, 'id'> = {
  column: 'id',
  field: described(
    uuid(),
    'A user who participates in the channel. A user other than the caller requires `chat.participants.list`.',
  ),
  condition: (id, userId, tenantId) => sql`${id} IN (
    SELECT channel_id FROM tenant_crm.channel_participants
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid)`,
};

/** Every permission of the chat is needed besides `chat.access`, which is checked first (decision C13). */
export const channelPermissions = {
  list: ['chat.access', 'chat.channels.list'],
  view: ['chat.access', 'chat.channels.view'],
  create: ['chat.access', 'chat.channels.create'],
  update: ['chat.access', 'chat.channels.update'],
  delete: ['chat.access', 'chat.channels.delete'],
} as const;

export const channel = declareKind({
  table: 'channels',
  name: 'channel',
  permissions: channelPermissions,
  create: ChannelInput,
  update: named('ChannelUpdate', shape({ name: optional(name), topic })),
  answer: Channel,
  // The service of the channels reads them.
  computed: {
    last_message: () => null,
    role: () => null,
    unread_count: () => null,
    mention_count: () => null,
    user_ids: () => [],
  },
  hidden: { last_event: hidden<number>(), direct_key: hidden<string | null>() },
  inputOnly: ['user_ids'],
  sort: { name: 'sort_name', last_message_at: 'last_message_at', ...timeSort },
  defaultSort: 'name',
  filters: {
    kind: equals('kind', oneOf(...channelKinds)),
    participant_id: participatedBy,
    ...timeFilters,
  },
  search: true,
  // Lists and searches of messages find the channels of the caller first.
  maximum: 50_000,
  // What a caller may see is counted.
  counted: false,
  scope: (caller) => visibleChannels(caller),
  revision: ({ last_event: lastEvent }) => lastEvent,
  rules: {
    create: (input, context) => checkNewChannel(input, context),
    async update(_change, context) {
      await checkChannelChange(context);
      return {};
    },
    delete: (context) => checkChannelChange(context),
    restore: (context) => checkChannelChange(context),
  },
  follow: (change) => announceChannel(change),
});

export type Channels = RecordsOf<typeof channel>;
