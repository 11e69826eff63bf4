import { complete, described, named, oneOf, shape, time, uuid, withDefault } from '@tessera/fields';
import { equals } from '../../records/filters.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { channel } from './channels.kind.ts';
import { participantRoles } from './channels.repository.ts';
import {
  announceParticipant,
  checkNewParticipant,
  checkRemoval,
  checkRoleChange,
} from './participants.rules.ts';

const role = described(
  oneOf(...participantRoles),
  'Only owners appoint and remove owners, and delete messages of others. In a private channel, only owners change and ' +
    'delete the channel, and add and remove participants; in a public one, permissions decide. Every channel keeps an owner.',
);

const ParticipantInput = named(
  'ChannelParticipantInput',
  shape({ user_id: uuid(), role: withDefault(role, 'member') }),
);

export const participant = declareKind({
  table: 'channel_participants',
  path: '/participants',
  name: 'participant',
  permissions: {
    list: ['chat.access', 'chat.participants.list'],
    view: ['chat.access', 'chat.participants.view'],
    create: ['chat.access', 'chat.participants.create'],
    update: ['chat.access', 'chat.participants.update'],
    delete: ['chat.access', 'chat.participants.delete'],
  },
  create: ParticipantInput,
  update: named('ChannelParticipantUpdate', shape({ role })),
  answer: named(
    'ChannelParticipant',
    shape({ ...complete(ParticipantInput).fields, created_at: time(), updated_at: time() }),
  ),
  hidden: { channel_id: hidden<string>(), read_position: hidden<number>() },
  parent: { kind: channel, column: 'channel_id' },
  maximum: 5000,
  locksParent: true,
  key: 'user_id',
  sort: { created_at: 'created_at', role: 'role' },
  defaultSort: 'created_at',
  filters: { role: equals('role', oneOf(...participantRoles)) },
  // They are counted in their index: a channel has few.
  counted: false,
  deletion: 'permanent',
  rules: {
    create: (input, context) => checkNewParticipant(input, context),
    update: (change, context) => checkRoleChange(change, context),
    delete: (context) => checkRemoval(context),
  },
  follow: (change) => announceParticipant(change),
});

export type Participants = RecordsOf<typeof participant>;
