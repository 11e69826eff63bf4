import { shape } from '@tessera/fields';
import { type Exports, exportHeaders, type RouteTable } from '@tessera/http-kit';
import { listExport, page, record, route } from '../../http.ts';
import { paging } from '../../records/paging.ts';
import { tag } from '../tags.schema.ts';
import { Tag, TagChange, TagExportQuery, TagName, TagQuery } from './tags.schema.ts';
import type { Tags } from './tags.service.ts';

const one = { path: '/tags/{tag}', params: shape({ tag }), resource: 'tag' } as const;
const batches =
  'Records are changed in batches, each with a new version. If `is_complete` is false, or the request fails, send it again: it continues.';

const exported = listExport({ name: 'tags', item: Tag });

/** The caller needs the permissions of both contacts and companies, since tags belong to both. */
export const tagRoutes = (tags: Tags, exports: Exports): RouteTable => ({
  listTags: route({
    method: 'get',
    path: '/tags',
    permission: ['contacts.list', 'companies.list'],
    resource: 'tag',
    summary: 'List tags',
    description: 'The tags of contacts and companies that are not deleted, with their numbers.',
    query: TagQuery,
    responses: { 200: page(Tag) },
    handler: async ({ caller, query, req, reply }) => {
      const { rows, ...position } = await tags.list(caller, query);
      return reply(200, { data: rows, ...paging(req.originalUrl, position) });
    },
  }),

  exportTags: route({
    method: 'get',
    // Not `/tags/export`, which is the path of a tag with that name.
    path: '/tag-export',
    permission: ['contacts.export', 'companies.export'],
    resource: 'tag',
    summary: 'Export tags',
    query: TagExportQuery,
    responses: { 200: exported.response },
    responseHeaders: exportHeaders,
    handler: async ({ caller, query: { search, format }, reply }) => {
      const batches = tags.batches(caller, search, (read) => exports.read(read));
      return reply(200, ...exported.file(format, exports.counted(caller.principal.id, batches)));
    },
  }),

  updateTag: route({
    ...one,
    method: 'put',
    permission: ['contacts.update', 'companies.update'],
    summary: 'Rename a tag',
    description: `Renames it in all contacts and companies. A record with both tags keeps one. ${batches}`,
    body: TagName,
    responses: { 200: record(TagChange) },
    handler: async ({ caller, params, body, reply }) =>
      reply(200, { data: await tags.replace(caller, params.tag, body.name) }),
  }),

  deleteTag: route({
    ...one,
    method: 'delete',
    permission: ['contacts.update', 'companies.update'],
    summary: 'Delete a tag',
    description: `Removes it from all contacts and companies. ${batches}`,
    responses: { 200: record(TagChange) },
    handler: async ({ caller, params, reply }) =>
      reply(200, { data: await tags.replace(caller, params.tag) }),
  }),
});
