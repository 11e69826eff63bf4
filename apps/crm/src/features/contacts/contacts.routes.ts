import { shape, uuid } from '@tessera/fields';
import type { Exports, RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { changeProblems, recordRoutes } from '../../records/routes.ts';
import { acceptedVersions, tagged } from '../../records/versions.ts';
import { type Contacts, contact } from './contacts.kind.ts';
import { Contact, Tags } from './contacts.schema.ts';

export const contactRoutes = (contacts: Contacts, exports: Exports): RouteTable => {
  const routes = recordRoutes(contact, contacts);
  return {
    listContacts: routes.list(),
    exportContacts: routes.export({ permission: 'contacts.export', exports }),
    createContact: routes.create(),
    getContact: routes.get(),
    updateContact: routes.update(),
    deleteContact: routes.delete(),
    restoreContact: routes.restore(),

    updateContactTags: route({
      method: 'put',
      path: '/contacts/{id}/tags',
      params: shape({ id: uuid() }),
      permission: 'contacts.update',
      resource: 'contact',
      summary: 'Replace the tags of a contact',
      body: shape({ tags: Tags }),
      responses: { 200: record(Contact) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const changed = await contacts.update(caller, params.id, { tags: body.tags }, versions);
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    }),
  };
};
