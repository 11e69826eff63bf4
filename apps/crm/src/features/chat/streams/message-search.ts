import { named, shape, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import type { Database } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { equals, timeFilters } from '../../../records/filters.ts';
import { declareKind } from '../../../records/kind.ts';
import { createRecords } from '../../../records/records.ts';
import { recordRoutes } from '../../../records/routes.ts';
import { ownChannels } from '../channels.visibility.ts';
import { Message, MessageInput } from '../messages.schema.ts';

const { sql } = Prisma;

const { reactions: _reactions, ...fields } = Message.fields;

/** A message without its reactions, which differ by reader: the same for everybody. */
export const PlainMessage = named('PlainMessage', shape(fields));

/** The messages in all channels that the caller participates in, for their search. */
export const foundMessage = declareKind({
  table: 'messages',
  path: '/chat/messages',
  name: 'message',
  permissions: {
    list: ['chat.access', 'chat.messages.list'],
    view: ['chat.access', 'chat.messages.view'],
    create: ['chat.access', 'chat.messages.create'],
    update: ['chat.access', 'chat.messages.update'],
    delete: ['chat.access', 'chat.messages.delete'],
  },
  create: MessageInput,
  answer: PlainMessage,
  sort: { created_at: 'created_at' },
  defaultSort: '-created_at',
  filters: {
    channel_id: equals('channel_id', uuid()),
    created_from: timeFilters.created_from,
    created_to: timeFilters.created_to,
  },
  search: true,
  counted: false,
  scope: (caller) => ({
    condition: sql`channel_id IN (
      SELECT id FROM tenant_crm.channels
      WHERE tenant_id = ${caller.tenantId}::uuid AND deleted_at IS NULL
        AND id IN ${ownChannels(caller)}
    )`,
    listCondition: sql`channel_id = ANY(ARRAY(
      SELECT id FROM tenant_crm.channels
      WHERE tenant_id = ${caller.tenantId}::uuid AND deleted_at IS NULL
        AND id IN ${ownChannels(caller)}
    ))`,
  }),
});

export const messageSearchRoutes = (database: Database): RouteTable => ({
  searchMessages: recordRoutes(foundMessage, createRecords(foundMessage, database)).list({
    summary: "Search the messages of the caller's channels",
    description: 'The newest first. Only channels that the caller participates in are searched.',
  }),
});
