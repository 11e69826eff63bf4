import { type Field, partial, type Shape, shape, uuid } from '@tessera/fields';
import { empty, type RouteEntry } from '@tessera/http-kit';
import { type CrmPermission, page, record } from '../http.ts';
import type { Kind, KindTypes } from './kind.ts';
import { pageFields } from './list-query.ts';
import { pageOf, paging } from './paging.ts';
import { createParts, type Part, type PartsOptions } from './parts.ts';
import { camel, withArticle } from './paths.ts';
import type { Records } from './records.ts';
import { createFrame, declare, type Params } from './route-frame.ts';
import { acceptedVersions, changeProblems, creationHeaders, tagged } from './versions.ts';
import { viewable, viewableText } from './viewing.ts';

/** The declaration of a list of parts. */
export interface PartsDeclaration<T extends KindTypes, P extends Part> extends PartsOptions<T, P> {
  /** The input for creating a part; updating accepts any subset of it. */
  readonly input: Shape & Field<Omit<NoInfer<P>, 'id'>>;
  readonly answer: Field<P>;
  readonly permission: CrmPermission;
  /** Errors of the rules of the record's updates: status and reason. */
  readonly problems?: Readonly<Record<number, string>>;
}

/** Creates the routes of a list of parts, one per method. */
export interface PartRoutes {
  list(): RouteEntry;
  create(): RouteEntry;
  get(): RouteEntry;
  update(): RouteEntry;
  delete(): RouteEntry;
}

/** The routes for the objects in one of a record's fields. Entity tags are those of the record. */
export const partRoutes = <T extends KindTypes, P extends Part>(
  kind: Kind<T>,
  records: Records<T>,
  declaration: PartsDeclaration<T, P>,
): PartRoutes => {
  const { field, name, input, answer, permission } = declaration;
  const { onOne, scoped, keyIn } = createFrame(kind, records);
  const partId = `${camel(name)}Id`;
  const suffix = `/${field.replaceAll('_', '-')}`;
  const { path, params, resource: recordName } = onOne('update', suffix);
  const all = { path, permission, params, resource: recordName };
  const one = {
    path: `${path}/{${partId}}`,
    permission,
    resource: name,
    params: shape({ ...params.fields, [partId]: uuid() }) as Shape as typeof params,
  };
  const partKind = { key: 'id', keyField: uuid(), permissions: kind.permissions };
  const problems = { ...changeProblems, ...declaration.problems };
  const full = [`The list already has ${declaration.max} entries`, declaration.problems?.[409]]
    .filter((reason) => reason !== undefined)
    .join('; ');
  const partsOf = (within: Params) => createParts(declaration, scoped(within));
  const idsIn = (given: Params) => [keyIn(given), given[partId] ?? ''] as const;
  const [ofOne, aPart] = [`of ${withArticle(recordName)}`, withArticle(name)];
  const change = partial(input as Shape) as Shape as Shape & Field<Partial<Omit<P, 'id'>>>;
  return {
    list: () =>
      declare({
        ...all,
        method: 'get',
        summary: `List the ${field.replaceAll('_', ' ')} ${ofOne}`,
        query: shape(pageFields),
        responses: { 200: page(answer) },
        handler: async ({ caller, params, query, req, reply }) => {
          const every = await partsOf(params).list(caller, keyIn(params));
          const { rows, ...position } = pageOf(every, query.page, query.per_page);
          return reply(200, { data: rows, ...paging(req.originalUrl, position) });
        },
      }),

    create: () =>
      declare({
        ...all,
        method: 'post',
        summary: `Add ${aPart} ${ofOne}`,
        body: input,
        responses: { 201: record(answer) },
        requestHeaders: ['If-Match'],
        responseHeaders: { 201: ['ETag', 'Location'] },
        problems: { ...problems, 409: full },
        handler: async ({ caller, params, body, req, reply }) => {
          const versions = acceptedVersions(req.get('If-Match'));
          const added = await partsOf(params).create(caller, keyIn(params), body, versions);
          const { part, ...tag } = added;
          return reply(201, { data: part }, creationHeaders(req, { ...tag, id: part.id }));
        },
      }),

    get: () =>
      declare({
        ...one,
        method: 'get',
        summary: `Show ${aPart} ${ofOne}`,
        responses: { 200: record(answer), 304: empty },
        requestHeaders: ['If-None-Match'],
        responseHeaders: { 200: ['ETag'] },
        problems: { 304: `The ${recordName} is still in a version that \`If-None-Match\` names` },
        handler: async ({ caller, params, reply }) => {
          const found = await partsOf(params).get(caller, ...idsIn(params));
          return reply(200, { data: found.part }, tagged(found));
        },
      }),

    update: () =>
      declare({
        ...one,
        method: 'put',
        summary: `Update ${aPart} ${ofOne}`,
        description: `Fields that are left out do not change; null clears a field. ${viewableText(kind)}`,
        body: change,
        responses: { 200: record(viewable(partKind, answer)) },
        requestHeaders: ['If-Match'],
        responseHeaders: { 200: ['ETag'] },
        problems,
        handler: async ({ caller, params, body, req, reply }) => {
          const versions = acceptedVersions(req.get('If-Match'));
          const changed = await partsOf(params).update(caller, ...idsIn(params), body, versions);
          return reply(200, { data: changed.part }, tagged(changed));
        },
      }),

    delete: () =>
      declare({
        ...one,
        method: 'delete',
        summary: `Remove ${aPart} ${ofOne}`,
        responses: { 204: empty },
        requestHeaders: ['If-Match'],
        problems,
        handler: async ({ caller, params, req, reply }) => {
          const versions = acceptedVersions(req.get('If-Match'));
          await partsOf(params).delete(caller, ...idsIn(params), versions);
          return reply(204);
        },
      }),
  };
};
