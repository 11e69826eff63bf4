import {
  clearable,
  described,
  int,
  named,
  nullable,
  oneOf,
  optional,
  reference,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { equals, equalTo, from, timeFilters, timeSort, to } from '../../records/filters.ts';
import { answerOf, declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { followMerges } from '../contacts/merged-contacts.ts';
import { companyOfContact } from './communication-logs.repository.ts';
import { requireConsistent } from './communication-logs.rules.ts';

const MINUTES_PER_WEEK = 7 * 24 * 60;

const CommunicationLogInput = named(
  'CommunicationLogInput',
  shape({
    kind: oneOf('call', 'email', 'meeting', 'note', 'sms'),
    direction: described(
      clearable(oneOf('inbound', 'outbound')),
      'Required for calls, emails and text messages; null for notes.',
    ),
    happened_at: described(optional(time()), 'Default: now.', '2026-03-01T09:30:00.000Z'),
    subject: described(clearable(text(200)), 'One line about the content.', 'Offer for 20 seats'),
    body: clearable(text(20_000)),
    duration_minutes: clearable(int(0, MINUTES_PER_WEEK)),
    contact_id: described(
      clearable(reference('contacts')),
      'A log is about a contact, a company, or both.',
    ),
    company_id: described(
      clearable(reference('companies')),
      'If it is left out of a new log, the company that the contact belongs to at that time; null: none.',
    ),
  }),
);

/** Calls, messages, meetings and notes about contacts and companies. */
export const communicationLog = declareKind({
  table: 'communication_logs',
  name: 'communication log',
  permissions: 'communication_logs',
  create: CommunicationLogInput,
  answer: answerOf('CommunicationLog', CommunicationLogInput, {
    author_id: described(nullable(uuid()), 'The user who created the log; null if a client did.'),
    author_client_id: described(
      nullable(text(200)),
      'The client that created the log; null if a user did.',
    ),
  }),
  sort: { happened_at: 'happened_at', ...timeSort },
  defaultSort: '-happened_at',
  filters: {
    ...equalTo(CommunicationLogInput, 'kind', 'direction', 'contact_id', 'company_id'),
    author_id: equals('author_id', uuid()),
    happened_from: from('happened_at', time()),
    happened_to: to('happened_at', time()),
    ...timeFilters,
  },
  search: true,
  rules: {
    async create(input, { caller, db }) {
      requireConsistent(input);
      const { userUuid, principal } = caller;
      const { contact_id: contactId, company_id: companyId } = input;
      // The timeline of a company shows what is logged about it, and so what is logged about its people.
      const isOfContact = companyId === undefined && typeof contactId === 'string';
      return {
        ...(isOfContact && { company_id: await companyOfContact(db, contactId) }),
        happened_at: input.happened_at ?? new Date(),
        author_id: userUuid,
        author_client_id: userUuid === null ? principal.id : null,
      };
    },
    update(change, { row }) {
      requireConsistent({ ...row, ...change });
      return {};
    },
    restore: async ({ db, row }) => ({
      contact_id: await followMerges(db, 'communication_logs', row),
    }),
  },
});

export type CommunicationLogs = RecordsOf<typeof communicationLog>;
