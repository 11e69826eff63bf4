import { email, reference, uuid } from '@tessera/fields';
import { equals, has, timeFilters } from '../../records/filters.ts';
import { declareKind, type TypesOf } from '../../records/kind.ts';
import type { Records } from '../../records/records.ts';
import { Contact, ContactInput, tag } from './contacts.schema.ts';

export const contact = declareKind({
  table: 'contacts',
  name: 'contact',
  permissions: 'contacts',
  create: ContactInput,
  answer: Contact,
  sort: {
    name: 'sort_name',
    email: 'email',
    created_at: 'created_at',
    updated_at: 'updated_at',
  },
  defaultSort: '-created_at',
  filters: {
    email: equals('email', email()),
    company_id: equals('company_id', reference('companies')),
    owner_id: equals('owner_id', uuid()),
    tag: has('tags', tag),
    ...timeFilters,
  },
  search: true,
});

export type Contacts = Records<TypesOf<typeof contact>>;
