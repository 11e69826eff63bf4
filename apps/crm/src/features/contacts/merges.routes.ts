import { described, named, reference, shape, uuid } from '@tessera/fields';
import { notFound, type RouteTable } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import { page, record, route } from '../../http.ts';
import { paging } from '../../records/paging.ts';
import { viewableReplay } from '../../records/replays.ts';
import { acceptedVersions, changeProblems, tagged } from '../../records/versions.ts';
import { viewable, viewableText } from '../../records/viewing.ts';
import { contact } from './contacts.kind.ts';
import { listMerges } from './merge-list.repository.ts';
import { ContactMerge, MergesQuery } from './merge-list.schema.ts';
import type { ContactMerges } from './merges.service.ts';

const OtherContact = named(
  'OtherContact',
  shape({ contact_id: described(reference('contacts'), 'The contact that is merged.') }),
);

// Not a reference: the contact is deleted.
const MergedContact = named(
  'MergedContact',
  shape({ contact_id: described(uuid(), 'The contact that was merged.') }),
);

const common = {
  method: 'post',
  permission: ['contacts.update', 'contacts.delete'],
  resource: 'contact',
  params: shape({ id: uuid() }),
  isIdempotent: true,
  responses: { 200: record(viewable(contact, contact.answer)) },
  requestHeaders: ['If-Match'],
  responseHeaders: { 200: ['ETag'] },
  authorizeReplay: viewableReplay(contact),
} as const;

export const mergeRoutes = (merges: ContactMerges, database: Database): RouteTable => ({
  listContactMerges: route({
    method: 'get',
    path: '/contacts/{id}/merges',
    permission: 'contacts.view',
    resource: 'contact',
    params: shape({ id: uuid() }),
    summary: 'List the merges into a contact',
    description: 'Those that have not been undone, newest first.',
    query: MergesQuery,
    responses: { 200: page(ContactMerge) },
    handler: async ({ caller, params, query, req, reply }) => {
      const db = database.forTenant(caller.tenantId);
      const found = await listMerges(db, caller, params.id, query);
      if (!found) throw notFound('The contact');
      const { rows, ...position } = found;
      return reply(200, { data: rows, ...paging(req.originalUrl, position) });
    },
  }),

  mergeContact: route({
    ...common,
    path: '/contacts/{id}/merge',
    body: OtherContact,
    summary: 'Merge another contact into a contact',
    description:
      'The contact takes over the communication logs and tasks of the other one, values for its empty fields, tags, email addresses, phone numbers and addresses, each once, and its notes, which follow those of the contact. The other contact is deleted. `unmerge` undoes this within 30 days. If the other contact is merged into this one already, nothing changes, whatever `If-Match` says. ' +
      viewableText(contact),
    problems: {
      ...changeProblems,
      409: 'The other contact has more than 20,000 communication logs and tasks (contacts with fewer can be merged into it), or the contacts together have more tags, email addresses, phone numbers or addresses than one contact can have',
    },
    handler: async ({ caller, params, body, req, reply }) => {
      const versions = acceptedVersions(req.get('If-Match'));
      const survivor = await merges.merge(caller, params.id, body.contact_id, versions);
      return reply(200, { data: survivor.answer }, tagged(survivor));
    },
  }),

  unmergeContact: route({
    ...common,
    path: '/contacts/{id}/unmerge',
    body: MergedContact,
    summary: 'Undo the merge of another contact into a contact',
    description:
      'The other contact is restored, and gets back its communication logs and tasks. What has been changed since the merge stays as it is, and so does what another merged contact has given as well. ' +
      viewableText(contact),
    problems: { ...changeProblems, 409: 'The merge is older than 30 days' },
    handler: async ({ caller, params, body, req, reply }) => {
      const versions = acceptedVersions(req.get('If-Match'));
      const survivor = await merges.unmerge(caller, params.id, body.contact_id, versions);
      return reply(200, { data: survivor.answer }, tagged(survivor));
    },
  }),
});
