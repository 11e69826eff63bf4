import { email, uuid } from '@tessera/fields';
import type { Db } from '../../database.ts';
import { declareRecord } from '../../records/declaration.ts';
import { equals, has, timeFilters } from '../../records/filters.ts';
import { createRecords } from '../../records/records.ts';
import { Contact, ContactInput, tag } from './contacts.schema.ts';

export const contact = declareRecord({
  model: 'Contact',
  table: 'contacts',
  permissions: 'contacts',
  name: 'contact',
  input: ContactInput,
  answer: Contact,
  sort: {
    name: 'sortName',
    email: 'email',
    created_at: 'createdAt',
    updated_at: 'updatedAt',
  },
  defaultSort: '-created_at',
  filters: {
    email: equals('email', email()),
    company_id: equals('companyId', uuid()),
    owner_id: equals('ownerId', uuid()),
    tag: has('tags', tag),
    ...timeFilters,
  },
  search: true,
});

/** The contacts of the callers' tenants. */
export const createContacts = (db: Db) => createRecords(contact, db);

export type Contacts = ReturnType<typeof createContacts>;
