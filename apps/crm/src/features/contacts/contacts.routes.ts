import type { Exports, RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { batchRoute } from '../../records/batch-routes.ts';
import { recordRoutes } from '../../records/routes.ts';
import { removeTagRoute } from '../tags/tag-removal.ts';
import { type Contacts, contact } from './contacts.kind.ts';

export const contactRoutes = (
  contacts: Contacts,
  exports: Exports,
  database: Database,
): RouteTable => {
  const routes = recordRoutes(contact, contacts);
  return {
    listContacts: routes.list(),
    exportContacts: routes.export({ permission: 'contacts.export', exports }),
    createContact: routes.create(),
    getContact: routes.get(),
    updateContact: routes.update(),
    deleteContact: routes.delete(),
    batchContacts: batchRoute(contact, contacts, database),
    restoreContact: routes.restore({ problems: { 409: 'The contact is merged into another one' } }),
    listContactHistory: routes.history(),
    updateContactTags: routes.replace('tags'),
    deleteContactTag: removeTagRoute(contact, contacts, 'contacts.update'),
  };
};
