import { shape } from '@tessera/fields';
import { type Exports, exportHeaders, type RouteEntry, type RouteTable } from '@tessera/http-kit';
import { listExport, page, record, route } from '../../http.ts';
import { paging } from '../../records/paging.ts';
import { tag } from '../tags.schema.ts';
import { contactTags, contentTags, type TagFamily, type TaggedTable } from './tag-families.ts';
import { TagExportQuery, TagName, TagQuery, tagShapes } from './tags.schema.ts';
import type { ContactTags, ContentTags, Tags } from './tags.service.ts';

const batches =
  'Records are changed in batches, each with a new version. If `is_complete` is false, or the request fails, send it again: it continues.';

/** The routes of a family of tags. */
interface TagRoutes {
  readonly list: RouteEntry;
  readonly export: RouteEntry;
  readonly get: RouteEntry;
  readonly update: RouteEntry;
  readonly delete: RouteEntry;
}

/** The caller needs the permissions of all kinds of the family, since tags belong to all of them. */
const tagRoutes = <T extends TaggedTable>(
  family: TagFamily<T>,
  tags: Tags<T>,
  exports: Exports,
): TagRoutes => {
  const { path, permissions, records } = family;
  const [word, words] = family.words;
  const { Tag, TagChange } = tagShapes(family);
  const exported = listExport({ name: words.replace(' ', '_'), item: Tag });
  const one = { path: `${path}/{tag}`, params: shape({ tag }), resource: word } as const;
  return {
    list: route({
      method: 'get',
      path,
      permission: permissions.list,
      resource: word,
      summary: `List ${words}`,
      description: `The tags of ${records} that are not deleted, with their numbers.`,
      query: TagQuery,
      responses: { 200: page(Tag) },
      handler: async ({ caller, query, req, reply }) => {
        const { rows, ...position } = await tags.list(caller, query);
        return reply(200, { data: rows, ...paging(req.originalUrl, position) });
      },
    }),

    export: route({
      method: 'get',
      path: family.exportPath,
      permission: permissions.export,
      resource: word,
      summary: `Export ${words}`,
      query: TagExportQuery,
      responses: { 200: exported.response },
      responseHeaders: exportHeaders,
      handler: async ({ caller, query: { format, ...query }, reply }) => {
        const found = tags.batches(caller, query, (read) => exports.read(caller.tenantId, read));
        return reply(200, ...exported.file(format, exports.counted(caller.principal.id, found)));
      },
    }),

    get: route({
      ...one,
      method: 'get',
      permission: permissions.list,
      summary: `Get a ${word}`,
      description: `A tag exists while ${records} that are not deleted have it.`,
      responses: { 200: record(Tag) },
      handler: async ({ caller, params, reply }) =>
        reply(200, { data: await tags.get(caller, params.tag) }),
    }),

    update: route({
      ...one,
      method: 'put',
      permission: permissions.change,
      summary: `Rename a ${word}`,
      description: `Renames it in all ${records}. A record with both tags keeps one. ${batches}`,
      body: TagName,
      responses: { 200: record(TagChange) },
      handler: async ({ caller, params, body, reply }) =>
        reply(200, { data: await tags.replace(caller, params.tag, body.name) }),
    }),

    delete: route({
      ...one,
      method: 'delete',
      permission: permissions.change,
      summary: `Delete a ${word}`,
      description: `Removes it from all ${records}. ${batches}`,
      responses: { 200: record(TagChange) },
      handler: async ({ caller, params, reply }) =>
        reply(200, { data: await tags.replace(caller, params.tag) }),
    }),
  };
};

/** The routes of the tags of contacts and companies. */
export const contactTagRoutes = (tags: ContactTags, exports: Exports): RouteTable => {
  const routes = tagRoutes(contactTags, tags, exports);
  return {
    listTags: routes.list,
    exportTags: routes.export,
    getTag: routes.get,
    updateTag: routes.update,
    deleteTag: routes.delete,
  };
};

/** The routes of the tags of articles, posts and pages. */
export const contentTagRoutes = (tags: ContentTags, exports: Exports): RouteTable => {
  const routes = tagRoutes(contentTags, tags, exports);
  return {
    listContentTags: routes.list,
    exportContentTags: routes.export,
    getContentTag: routes.get,
    updateContentTag: routes.update,
    deleteContentTag: routes.delete,
  };
};
