import type { Faker } from '@faker-js/faker';
import type { Row } from './copy.ts';
import { customValues } from './custom-fields.ts';
import { leaveRequests } from './leave-requests.ts';
import { projects } from './projects.ts';
import type { Language, Origin, Random } from './random.ts';
import { tasks } from './tasks.ts';
import { timeEntries } from './time-entries.ts';

/** The tenant's language, and the rows that its records may refer to. */
export interface RecordContext {
  readonly language: Language;
  /** The ids of the tenant's users. */
  readonly users: readonly string[];
  /** The ids of its companies. */
  readonly companies: readonly string[];
  /** The ids of its contacts. */
  readonly contacts: readonly string[];
  /** The ids of its projects. */
  readonly projects: readonly string[];
}

/** A kind of record: its table in the schema `tenant_crm`, and its columns besides the common ones. */
export interface RecordKind {
  readonly table: string;
  /** The records of which a tenant must have one; a tenant without any gets no records of this kind. */
  readonly needs?: readonly ('companies' | 'contacts')[];
  /** The column values of a record created at that time; each call names the same columns in the same order. */
  row(random: Random, context: RecordContext, created: Date): Row;
}

const json = (value: unknown): string => JSON.stringify(value);

const labels = ['work', 'private', 'invoices'];
const tags = ['vip', 'newsletter', 'partner', 'lead', 'customer', 'supplier', 'press', 'alumni'];

/** A tag that one contact in a thousand has. */
const RARE_TAG = 'founder';

const some = <T>(random: Random, list: readonly T[]): T[] => list.filter(() => random.chance(0.15));

const contactTags = (random: Random): string[] => [
  ...some(random, tags),
  ...(random.chance(0.001) ? [RARE_TAG] : []),
];

const oneOf = (random: Random, ids: readonly string[], probability: number): string | null =>
  ids.length > 0 && random.chance(probability) ? random.pick(ids) : null;

const phone = (faker: Faker): string => faker.phone.number({ style: 'international' });

const address = (random: Random, { faker, country }: Origin) => ({
  label: random.pick(labels),
  line1: faker.location.streetAddress(),
  line2: null,
  postal_code: faker.location.zipCode(),
  city: faker.location.city(),
  region: null,
  country,
});

/** Turns a name into the local part of an email address: no accents, spaces and the like. */
export const mailbox = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ł', 'l')
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9.-]/g, '');

const contacts: RecordKind = {
  table: 'contacts',
  row(random, { language, users, companies }) {
    const origin = random.somebody(language);
    const { faker } = origin;
    const sex = random.pick(['female', 'male'] as const);
    const first = faker.person.firstName(sex);
    const last = random.chance(0.98) ? faker.person.lastName(sex) : null;
    const name = mailbox(`${first}.${last ?? 'office'}`);
    const number = Math.floor(random.next() * 1000);
    return {
      first_name: first,
      last_name: last,
      email: random.chance(0.9) ? `${name}${number}@example.com` : null,
      phone: random.chance(0.7) ? phone(faker) : null,
      title: random.chance(0.6) ? faker.person.jobTitle() : null,
      company_id: oneOf(random, companies, 0.7),
      owner_id: oneOf(random, users, 0.8),
      notes: random.chance(0.1) ? faker.lorem.sentence() : null,
      tags: contactTags(random),
      emails: json(random.chance(0.2) ? [{ label: 'private', email: `${name}@example.org` }] : []),
      phones: json(random.chance(0.2) ? [{ label: random.pick(labels), phone: phone(faker) }] : []),
      addresses: json(random.chance(0.5) ? [address(random, origin)] : []),
      custom: json(customValues(random)),
    };
  },
};

const industries = [
  'agriculture',
  'construction',
  'education',
  'energy',
  'finance',
  'food',
  'health care',
  'hospitality',
  'logistics',
  'manufacturing',
  'media',
  'retail',
  'software',
  'textiles',
];

const companies: RecordKind = {
  table: 'companies',
  row(random, { language, users }, created) {
    const origin = random.somebody(language);
    const { faker } = origin;
    const name = faker.company.name();
    const number = Math.floor(random.next() * 10_000);
    const domain = `${mailbox(name).replaceAll('.', '')}${number}.example`;
    return {
      name,
      domain: random.chance(0.8) ? domain : null,
      tax_number: random.chance(0.7) ? faker.string.numeric(11) : null,
      email: random.chance(0.8) ? `office@${domain}` : null,
      phone: random.chance(0.8) ? phone(faker) : null,
      industry: random.chance(0.8) ? random.pick(industries) : null,
      owner_id: oneOf(random, users, 0.8),
      notes: random.chance(0.1) ? faker.lorem.sentence() : null,
      addresses: json(
        random.chance(0.9) ? [{ id: random.uuid(created), ...address(random, origin) }] : [],
      ),
      tags: some(random, tags),
    };
  },
};

const logKinds = ['call', 'email', 'email', 'email', 'meeting', 'note', 'sms'] as const;

const communicationLogs: RecordKind = {
  table: 'communication_logs',
  needs: ['companies', 'contacts'],
  row(random, { language, users, companies, contacts: people }, created) {
    const { faker } = random.somebody(language);
    const kind = random.pick(logKinds);
    const contact = oneOf(random, people, companies.length > 0 ? 0.9 : 1);
    const author = oneOf(random, users, 0.98);
    return {
      kind,
      direction: kind === 'note' ? null : random.pick(['inbound', 'outbound']),
      happened_at: created,
      subject: faker.lorem.sentence({ min: 2, max: 6 }),
      body: random.chance(0.7) ? faker.lorem.sentences({ min: 1, max: 3 }) : null,
      duration_minutes:
        kind === 'call' || kind === 'meeting' ? 5 * (1 + Math.floor(random.next() * 18)) : null,
      contact_id: contact,
      company_id: contact === null ? random.pick(companies) : oneOf(random, companies, 0.3),
      author_id: author,
      author_client_id: author === null ? 'import' : null,
    };
  },
};

/** All kinds that can be seeded; a kind follows those that it refers to. */
export const recordKinds = {
  companies,
  contacts,
  communication_logs: communicationLogs,
  leave_requests: leaveRequests,
  projects,
  tasks,
  time_entries: timeEntries,
} satisfies Record<string, RecordKind>;
export type KindName = keyof typeof recordKinds;
