import { email, type Out, time, uuid } from '@tessera/fields';
import { declareRecord } from '../../records/declaration.ts';
import { equals, from, has, to } from '../../records/filters.ts';
import { type Db, stored } from '../../records/model.ts';
import { createRecords } from '../../records/records.ts';
import { Contact, ContactInput, tag } from './contacts.schema.ts';

export const contact = declareRecord({
  model: 'Contact',
  table: 'contacts',
  permissions: 'contacts',
  name: 'contact',
  input: ContactInput,
  answer: Contact,
  present: (row): Out<typeof Contact> => ({
    id: row.id,
    first_name: row.firstName,
    last_name: row.lastName,
    email: row.email,
    phone: row.phone,
    title: row.title,
    company_id: row.companyId,
    owner_id: row.ownerId,
    notes: row.notes,
    tags: row.tags,
    emails: stored(row.emails),
    phones: stored(row.phones),
    addresses: stored(row.addresses),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }),
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
    created_from: from('createdAt', time()),
    created_to: to('createdAt', time()),
    updated_from: from('updatedAt', time()),
    updated_to: to('updatedAt', time()),
  },
  search: true,
});

/** The contacts of the callers' tenants. */
export const createContacts = (db: Db) => createRecords(contact, db);

export type Contacts = ReturnType<typeof createContacts>;
