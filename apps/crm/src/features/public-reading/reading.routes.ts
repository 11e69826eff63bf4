import { shape } from '@tessera/fields';
import { empty, fileResponse, type RouteEntry, type RouteTable } from '@tessera/http-kit';
import { page, record, route } from '../../http.ts';
import { paging } from '../../records/paging.ts';
import { publicHeaders, revalidate, taggedJson } from './caching.ts';
import { articles, type PublicKind, pages, posts } from './kinds.ts';
import {
  ByLanguage,
  PageTree,
  PublicListQuery,
  PublishedItem,
  PublishedRecord,
  slugParam,
} from './public.schema.ts';
import type { Reading } from './reading.service.ts';
import { publicProblems, publicRead, SITE_PATH, siteParams } from './site.routes.ts';
import { MAX_TREE } from './tree.repository.ts';

const recordParams = shape({ ...siteParams, slug: slugParam });

/** Where an earlier slug leads to. Another record may take that slug later, so the redirect is not kept forever. */
const movedHeaders = (path: string) => ({ ...publicHeaders, Location: path });

const movedProblems = {
  ...publicProblems,
  308: 'The record has another slug now: `Location` is its path',
} as const;

const listOf = (kind: PublicKind, reading: Reading): RouteEntry =>
  route({
    ...publicRead,
    path: `${SITE_PATH}/${kind.path}`,
    summary: `List the published ${kind.plural} of a tenant`,
    description: 'In one language, the latest first.',
    params: shape(siteParams),
    query: PublicListQuery,
    responses: { 200: page(PublishedItem), 304: empty },
    problems: publicProblems,
    handler: async ({ params: { tenant }, query, req, reply }) => {
      const { per_page: perPage, ...listing } = query;
      const { items, ...found } = await reading.list(tenant, kind, { ...listing, perPage });
      const { etag, json } = taggedJson({ data: items, ...paging(req.originalUrl, found) });
      const { headers, isKnown } = revalidate(req, etag);
      return isKnown ? reply(304, headers) : reply(200, json, headers);
    },
  });

const recordOf = (kind: PublicKind, reading: Reading): RouteEntry =>
  route({
    ...publicRead,
    path: `${SITE_PATH}/${kind.path}/{slug}`,
    summary: `Show a published ${kind.name}`,
    description:
      'A slug that the record had before redirects to its current one. `ETag` changes with everything in the response, `Last-Modified` with the record.',
    params: recordParams,
    query: ByLanguage,
    responses: { 200: record(PublishedRecord), 304: empty, 308: empty },
    responseHeaders: { 200: ['ETag', 'Last-Modified'], 308: ['Location'] },
    problems: movedProblems,
    handler: async ({ params, query, req, reply }) => {
      const found = await reading.get(kind, { ...params, ...query });
      if ('movedTo' in found) return reply(308, movedHeaders(found.movedTo));
      const { etag, json } = taggedJson({ data: found.value });
      const { headers, isKnown } = revalidate(req, etag, found.value.updated_at);
      return isKnown ? reply(304, headers) : reply(200, json, headers);
    },
  });

const coverOf = (kind: PublicKind, reading: Reading): RouteEntry =>
  route({
    ...publicRead,
    path: `${SITE_PATH}/${kind.path}/{slug}/cover`,
    summary: `Download the cover image of a published ${kind.name}`,
    params: recordParams,
    query: ByLanguage,
    responses: { 200: fileResponse('image/*'), 308: empty },
    responseHeaders: { 308: ['Location'] },
    requestHeaders: [],
    problems: { 404: publicProblems[404], 308: movedProblems[308] },
    handler: async ({ params, query, reply }) => {
      const found = await reading.cover(kind, { ...params, ...query });
      if ('movedTo' in found) return reply(308, movedHeaders(found.movedTo));
      return reply(200, found.value, {
        'Cross-Origin-Resource-Policy': publicHeaders['Cross-Origin-Resource-Policy'],
      });
    },
  });

/** Reading what a tenant has published, in JSON. */
export const readingRoutes = (reading: Reading): RouteTable => ({
  ...Object.fromEntries(
    [articles, posts, pages].flatMap((kind) => [
      [`listPublished${kind.id}s`, listOf(kind, reading)],
      [`getPublished${kind.id}`, recordOf(kind, reading)],
      [`downloadPublished${kind.id}Cover`, coverOf(kind, reading)],
    ]),
  ),
  getPublishedPageTree: route({
    ...publicRead,
    path: `${SITE_PATH}/page-tree`,
    summary: 'Show the tree of the published pages',
    description: `In one language. Contains at most ${MAX_TREE} pages: \`is_complete\` says whether these are all.`,
    params: shape(siteParams),
    query: ByLanguage,
    responses: { 200: PageTree, 304: empty },
    problems: publicProblems,
    handler: async ({ params: { tenant }, query: { language }, req, reply }) => {
      const { items, isComplete } = await reading.tree(tenant, language);
      const { etag, json } = taggedJson({ data: items, is_complete: isComplete });
      const { headers, isKnown } = revalidate(req, etag);
      return isKnown ? reply(304, headers) : reply(200, json, headers);
    },
  }),
});
