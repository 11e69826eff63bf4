import { shape, uuid } from '@tessera/fields';
import type { Exports, RouteEntry, RouteTable } from '@tessera/http-kit';
import { page, record, route } from '../http.ts';
import { pageFields } from '../records/list-query.ts';
import { paging } from '../records/paging.ts';
import type { Records } from '../records/records.ts';
import { recordRoutes } from '../records/routes.ts';
import type { TenantSource } from '../records/scope.ts';
import { tagged } from '../records/versions.ts';
import type { ContentKind } from './content-kind.ts';
import type { ContentInput, ContentTypes } from './content-types.ts';
import { publishingRoutes } from './publishing/publishing.routes.ts';
import type { PublishingDependencies } from './publishing/publishing.rules.ts';
import { renderedAhead } from './rendering.ts';
import { revisionRoutes } from './revisions/revisions.routes.ts';
import { createRevisions } from './revisions/revisions.service.ts';

/** What the routes of content need besides the kind. */
export interface ContentDependencies {
  readonly database: TenantSource;
  readonly exports: Exports;
  readonly publishing: PublishingDependencies;
}

/** The same, and what differs by kind. */
export interface ContentRouteOptions extends ContentDependencies {
  /** In operation ids: `KbArticles` for several records. */
  readonly plural: string;
}

/** Creates translations of a record, and lists them. */
const translationRoutes = (
  { path, name, resource, translation, answer, item }: ContentKind,
  records: Records<ContentTypes>,
): { readonly list: RouteEntry; readonly create: RouteEntry } => {
  const at = { path: `${path}/{id}/translations`, params: shape({ id: uuid() }), resource: name };
  return {
    list: route({
      ...at,
      method: 'get',
      permission: `${resource}.view`,
      summary: `List the translations of the ${name}`,
      description: 'Ordered by language. The record itself is one of them.',
      query: shape(pageFields),
      responses: { 200: page(item) },
      handler: async ({ caller, params: { id }, query, req, reply }) => {
        const { answer: original } = await records.get(caller, id);
        const { translation_group } = original;
        const { rows, ...position } = await records.list(caller, {
          ...query,
          translation_group,
          sort: 'language',
        });
        return reply(200, { data: rows, ...paging(req.originalUrl, position) });
      },
    }),
    create: route({
      ...at,
      method: 'post',
      permission: `${resource}.create`,
      summary: `Create a translation of the ${name}`,
      description: 'The same as creating a record with `translation_of`.',
      body: translation,
      responses: { 201: record(answer) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      handler: async ({ caller, params: { id }, body, req, reply }) => {
        await records.get(caller, id);
        const input: ContentInput = Object.assign({}, body, { translation_of: id });
        const created = await records.create(caller, input);
        const [url = ''] = req.originalUrl.split('?', 1);
        // The id in the URL may have capital letters.
        const collection = url.split('/').slice(0, -2).join('/');
        const Location = `${collection}/${created.id}`;
        return reply(201, { data: created.answer }, { ...tagged(created), Location });
      },
    }),
  };
};

/**
 * The routes of a kind of content; the operation ids are made of the names of the kind. Routes that all kinds have are
 * added here; those of one kind beside it.
 */
export const contentRoutes = (
  kind: ContentKind,
  records: Records<ContentTypes>,
  { plural, database, exports, publishing }: ContentRouteOptions,
): RouteTable => {
  const routes = recordRoutes(kind, records);
  const translations = translationRoutes(kind, records);
  const revisions = revisionRoutes(kind, records, createRevisions(kind, records, database));
  const { publish, unpublish, archive } = publishingRoutes(kind, routes, publishing);
  const one = kind.schema;
  return {
    [`list${plural}`]: routes.list(),
    [`export${plural}`]: routes.export({ permission: `${kind.resource}.export`, exports }),
    [`create${one}`]: renderedAhead(routes.create()),
    [`get${one}`]: routes.get(),
    [`update${one}`]: renderedAhead(routes.update()),
    [`delete${one}`]: routes.delete({
      description: `It can be restored, as a draft. A published or scheduled one also requires \`${kind.resource}.publish\`.`,
    }),
    [`publish${one}`]: publish,
    [`unpublish${one}`]: unpublish,
    [`archive${one}`]: archive,
    [`restore${one}`]: routes.restore({
      description: 'It gets another slug if its own is taken.',
      problems: { 409: 'Another record has its language, or the record above is deleted' },
    }),
    [`list${one}History`]: routes.history(),
    [`list${one}Translations`]: translations.list,
    [`create${one}Translation`]: renderedAhead(translations.create),
    [`list${one}Revisions`]: revisions.list(),
    [`compare${one}Revisions`]: revisions.diff(),
    [`get${one}Revision`]: revisions.get(),
    [`restore${one}Revision`]: revisions.restore(),
  };
};
