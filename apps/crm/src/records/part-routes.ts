import { type Field, partial, type Shape, shape, uuid } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { page, record, route } from '../http.ts';
import type { RecordPermissions } from './declaration.ts';
import { pageFields } from './list-query.ts';
import { pageOf, paging } from './paging.ts';
import { createParts, type Keepers, type Part } from './parts.ts';
import { changeProblems, pascal, pathOf, withArticle } from './routes.ts';
import { acceptedVersions, tagged } from './versions.ts';

/** The part of a record's declaration that names it. */
interface Named {
  readonly model: string;
  readonly table: string;
  readonly permissions: RecordPermissions;
  readonly name: string;
}

/** What is particular to one list of parts. */
export interface PartsDeclaration<K extends string, P extends Part> {
  /** The field of the record; also, with dashes, the path. */
  readonly field: K;
  /** One of them, as sentences say it. */
  readonly name: string;
  /** What adding takes; changing takes any part of it. */
  readonly input: Shape & Field<Omit<NoInfer<P>, 'id'>>;
  readonly answer: Field<P>;
  /** So many can be kept. */
  readonly max: number;
}

/**
 * The routes of what records keep in one of their fields: list, add, show, change and remove. All of them
 * take the permission to change the record, and entity tags are the record's.
 */
export const partRoutes = <K extends string, P extends Part>(
  { model, table, permissions, name: owner }: Named,
  records: Keepers<K, NoInfer<P>>,
  declaration: PartsDeclaration<K, P>,
): RouteTable => {
  const { field, name, input, answer } = declaration;
  const parts = createParts(declaration, records);
  const partId = `${name}Id`;
  const path = `${pathOf(table)}/{id}${pathOf(field)}`;
  const permission = `${permissions}.update` as const;
  const all = { path, permission, params: shape({ id: uuid() }), resource: owner } as const;
  const one = {
    path: `${path}/{${partId}}`,
    permission,
    resource: name,
    params: shape({ id: uuid(), [partId]: uuid() }),
  } as const;
  const idsIn = (params: Partial<Record<string, string>>) =>
    [params.id ?? '', params[partId] ?? ''] as const;
  const [ofOne, aPart] = [`of ${withArticle(owner)}`, withArticle(name)];
  const change = partial(input as Shape) as Shape as Shape & Field<Partial<Omit<P, 'id'>>>;
  return {
    [`list${model}${pascal(field)}`]: route({
      ...all,
      method: 'get',
      summary: `List the ${field.replaceAll('_', ' ')} ${ofOne}`,
      query: shape(pageFields),
      responses: { 200: page(answer) },
      handler: async ({ caller, params, query, req, reply }) => {
        const { rows, ...position } = pageOf(
          await parts.list(caller, params.id),
          query.page,
          query.per_page,
        );
        return reply(200, { data: rows, ...paging(req.originalUrl, position) });
      },
    }),

    [`create${model}${pascal(name)}`]: route({
      ...all,
      method: 'post',
      summary: `Add ${aPart} ${ofOne}`,
      body: input,
      responses: { 201: record(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: { ...changeProblems, 409: `There are ${declaration.max} already` },
      handler: async ({ caller, params, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const added = await parts.add(caller, params.id, body, versions);
        const location = `${req.originalUrl.split('?', 1)[0]}/${added.part.id}`;
        return reply(201, { data: added.part }, { ...tagged(added), Location: location });
      },
    }),

    [`get${model}${pascal(name)}`]: route({
      ...one,
      method: 'get',
      summary: `Show ${aPart} ${ofOne}`,
      responses: { 200: record(answer), 304: empty },
      requestHeaders: ['If-None-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { 304: `The ${owner} is still in a version that \`If-None-Match\` names` },
      handler: async ({ caller, params, reply }) => {
        const shown = await parts.show(caller, ...idsIn(params));
        return reply(200, { data: shown.part }, tagged(shown));
      },
    }),

    [`update${model}${pascal(name)}`]: route({
      ...one,
      method: 'put',
      summary: `Change ${aPart} ${ofOne}`,
      description: 'Fields that are left out stay as they are; null empties a field.',
      body: change,
      responses: { 200: record(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const changed = await parts.change(caller, ...idsIn(params), body, versions);
        return reply(200, { data: changed.part }, tagged(changed));
      },
    }),

    [`delete${model}${pascal(name)}`]: route({
      ...one,
      method: 'delete',
      summary: `Remove ${aPart} ${ofOne}`,
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: changeProblems,
      handler: async ({ caller, params, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        await parts.remove(caller, ...idsIn(params), versions);
        return reply(204);
      },
    }),
  };
};
