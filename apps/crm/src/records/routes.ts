import { type Field, partial, type Shape, shape, uuid } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { page, record, route } from '../http.ts';
import type { Declaration } from './declaration.ts';
import type { Filters } from './filters.ts';
import { type ListQuery, listQuery } from './list-query.ts';
import type { Column, RecordModel } from './model.ts';
import { paging } from './paging.ts';
import type { Records } from './records.ts';
import { acceptedVersions, preconditionFailed, tagged } from './versions.ts';

/** The answer that only a change can get that names the version it is meant for. */
export const changeProblems = {
  412: {
    description: 'It is in none of the versions that `If-Match` names',
    refusal: preconditionFailed,
  },
} as const;

/** `first_names` as `FirstNames`. */
export const pascal = (name: string): string =>
  name.replace(/(^|_)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase());

/** `a contact`, `an address`. */
export const withArticle = (name: string): string => `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;

/** `/blog-posts` for `blog_posts`. */
export const pathOf = (table: string): string => `/${table.replaceAll('_', '-')}`;

/** The routes of one kind of record: list, show, create, change, delete and restore. */
export const recordRoutes = <
  M extends RecordModel,
  Input extends object,
  Answer extends object,
  Sort extends string,
  F extends Filters<Column<M>>,
>(
  declaration: Declaration<M, Input, Answer, Sort, F>,
  records: Records<Input, ListQuery<Sort, F>, Answer>,
): RouteTable => {
  const { model, table, permissions, name, input } = declaration;
  const answer: Field<Answer> = declaration.answer;
  const words = table.replaceAll('_', ' ');
  const one = withArticle(name);
  const path = pathOf(table);
  const named = { path: `${path}/{id}`, params: shape({ id: uuid() }), resource: name } as const;
  const change = partial(input as Shape) as Shape as Shape & Field<Partial<Input>>;
  return {
    [`list${pascal(table)}`]: route({
      method: 'get',
      path,
      permission: `${permissions}.list`,
      summary: `List ${words}`,
      resource: name,
      query: listQuery(declaration),
      responses: { 200: page(answer) },
      handler: async ({ caller, query, req, reply }) => {
        const { rows, ...position } = await records.list(caller, query);
        return reply(200, { data: rows, ...paging(req.originalUrl, position) });
      },
    }),

    [`create${model}`]: route({
      method: 'post',
      path,
      permission: `${permissions}.create`,
      summary: `Create ${one}`,
      resource: name,
      body: input,
      responses: { 201: record(answer) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      handler: async ({ caller, body, req, reply }) => {
        const created = await records.create(caller, body);
        const location = `${req.originalUrl.split('?', 1)[0]}/${created.id}`;
        return reply(201, { data: created.answer }, { ...tagged(created), Location: location });
      },
    }),

    [`get${model}`]: route({
      ...named,
      method: 'get',
      permission: `${permissions}.view`,
      summary: `Show ${one}`,
      responses: { 200: record(answer), 304: empty },
      requestHeaders: ['If-None-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { 304: 'It is still in a version that `If-None-Match` names' },
      handler: async ({ caller, params, reply }) => {
        // Express makes it a 304 where the tag is one that the client has.
        const shown = await records.show(caller, params.id);
        return reply(200, { data: shown.answer }, tagged(shown));
      },
    }),

    [`update${model}`]: route({
      ...named,
      method: 'put',
      permission: `${permissions}.update`,
      summary: `Change ${one}`,
      description: 'Fields that are left out stay as they are; null empties a field.',
      body: change,
      responses: { 200: record(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const changed = await records.change(caller, params.id, body, versions);
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    }),

    [`delete${model}`]: route({
      ...named,
      method: 'delete',
      permission: `${permissions}.delete`,
      summary: `Delete ${one}`,
      description: 'It can be restored.',
      responses: { 204: empty },
      requestHeaders: ['If-Match'],
      problems: changeProblems,
      handler: async ({ caller, params, req, reply }) => {
        await records.remove(caller, params.id, acceptedVersions(req.get('If-Match')));
        return reply(204);
      },
    }),

    [`restore${model}`]: route({
      ...named,
      path: `${path}/{id}/restore`,
      method: 'post',
      permission: `${permissions}.delete`,
      summary: `Restore ${one}`,
      description: 'One that is not deleted is answered as it is.',
      responses: { 200: record(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: changeProblems,
      handler: async ({ caller, params, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const restored = await records.restore(caller, params.id, versions);
        return reply(200, { data: restored.answer }, tagged(restored));
      },
    }),
  };
};
