import { described, named, shape, text, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import type { Database } from '../../../database.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { equals, timeFilters } from '../../../records/filters.ts';
import { declareKind } from '../../../records/kind.ts';
import { listQuery } from '../../../records/list-query.ts';
import { createRecords } from '../../../records/records.ts';
import { recordRoutes } from '../../../records/routes.ts';
import { ownChannels } from '../channels.visibility.ts';
import { fileColumns, presentFile } from '../message-file.ts';
import { withScanStatus } from '../message-files.repository.ts';
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
  computed: { file: presentFile },
  hidden: fileColumns,
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

const term = described(
  text(200),
  'Matches anywhere in the text of a message and the name of its file, regardless of case and diacritics.',
);

export const messageSearchRoutes = (database: Database): RouteTable => {
  const messages = createRecords(foundMessage, database);
  const list = recordRoutes(foundMessage, {
    ...messages,
    async list(caller, query) {
      const found = await messages.list(caller, query);
      const rows = await withScanStatus(database.forTenant(caller.tenantId), found.rows);
      return { ...found, rows };
    },
  }).list({
    summary: "Search the messages of the caller's channels",
    description: 'The newest first. Only channels that the caller participates in are searched.',
  });
  // Without a term, or with an exact total, all messages of all channels could be counted.
  const { exact_total: _exactTotal, ...parameters } = listQuery(foundMessage).fields;
  const query = shape({ ...parameters, search: term });
  return { searchMessages: { ...list, query } };
};
