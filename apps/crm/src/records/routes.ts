import { complete, type Field, type Shape, shape, uuid } from '@tessera/fields';
import {
  type ExportFormat,
  type Exports,
  empty,
  exportFormat,
  exportHeaders,
  type RouteEntry,
  routesFor,
} from '@tessera/http-kit';
import { type Caller, type CrmPermission, listExport, page, record } from '../http.ts';
import { SYSTEM } from '../system/system-access.ts';
import { RecordChange } from './history.ts';
import type { Kind, KindTypes, Permissions, TenantCaller, Verb } from './kind.ts';
import { listQuery, type Narrowing, narrowingFields, pageFields } from './list-query.ts';
import { paging } from './paging.ts';
import { pathsOf, withArticle } from './paths.ts';
import type { ActionRule, LimitedRead, Records, Versioned } from './records.ts';
import { acceptedVersions, changeProblems, tagged } from './versions.ts';

/** An operation besides create, update and delete, such as approve or publish. */
export interface Action<T extends KindTypes, Body> {
  /** The last segment of the path, and the `action` that `follow` receives. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** Default: the permission to update. */
  readonly permission?: CrmPermission;
  /** May be left out if all of its fields may be. */
  readonly body?: Shape & Field<Body>;
  /** Errors of the rule: status and reason. */
  readonly problems?: Readonly<Record<number, string>>;
  readonly rule: ActionRule<T, Body>;
}

/** The parts of a route's description that differ for this kind. */
export interface RouteText {
  readonly summary?: string;
  readonly description?: string;
  /** Errors of the kind's rules: status and reason. */
  readonly problems?: Readonly<Record<number, string>>;
}

/** The options of an export. */
export interface ExportOptions {
  /** `<resource>.export` (decision C22). */
  readonly permission: CrmPermission;
  /** The limits that all exports of the process share. */
  readonly exports: Exports;
}

/** Creates the routes of a kind, one per method; their keys in the route table are the operation ids. */
export interface RecordRoutes<T extends KindTypes> {
  list(text?: RouteText): RouteEntry;
  create(text?: RouteText): RouteEntry;
  get(text?: RouteText): RouteEntry;
  update(text?: RouteText): RouteEntry;
  delete(text?: RouteText): RouteEntry;
  restore(text?: RouteText): RouteEntry;
  /** `GET .../export?format=csv|json`, with the search and the filters of the list. */
  export(options: ExportOptions): RouteEntry;
  /** `PUT .../{id}/<field>`: replaces the value of one field. */
  replace(field: keyof T['create'] & string, text?: RouteText): RouteEntry;
  /** `GET .../{id}/history`: who changed which fields, and when. */
  history(text?: RouteText): RouteEntry;
  /** `POST .../{id}/<name>`. */
  action<Body>(action: Action<T, Body>): RouteEntry;
}

type Params = Readonly<Record<string, string>>;

/** Who may use a route: callers with permissions, or services. */
interface Admission {
  readonly permission: Permissions[Verb] | 'authenticated';
  readonly credential?: string;
  readonly limit?: string;
}

type ExportQuery<T extends KindTypes> = Shape &
  Field<Narrowing<T> & { readonly format: ExportFormat }>;

/** The user or client whose exports are counted together. */
const exporterId = (caller: TenantCaller): string =>
  (caller as Partial<Caller>).principal?.id ?? caller.tenantId;

/** A body may be left out if all of its fields may be. */
const omissible = <Body>(body: Shape & Field<Body>): Shape & Field<Body> =>
  Object.values(body.fields).every(({ absent }) => absent)
    ? ({ ...body, joi: body.joi.optional().default({}), absent: true } as object as typeof body)
    : body;

const declare = routesFor<TenantCaller, CrmPermission>();

/** The routes of a kind. A kind without permissions is for services with a system token. */
export const recordRoutes = <T extends KindTypes>(
  kind: Kind<T>,
  records: Records<T>,
): RecordRoutes<T> => {
  const { name, permissions } = kind;
  const create: Shape & Field<T['create']> = kind.create;
  const update: Shape & Field<T['update']> = kind.update;
  const answer: Field<T['answer']> = kind.answer;
  const { all, one, parentParameter, keyParameter } = pathsOf(kind);
  const words = kind.table.replaceAll('_', ' ');
  const aRecord = withArticle(name);
  const parentParams = parentParameter === undefined ? {} : { [parentParameter]: uuid() };

  const admission = (verb: Verb): Admission =>
    permissions
      ? { permission: permissions[verb] }
      : { permission: 'authenticated', credential: SYSTEM, limit: 'service' };

  const onAll = (verb: Verb) => ({
    ...admission(verb),
    path: all,
    resource: name,
    ...(parentParameter !== undefined && { params: shape(parentParams) as Shape & Field<Params> }),
  });
  const onOne = (verb: Verb, suffix = '') => ({
    ...admission(verb),
    path: `${one}${suffix}`,
    resource: name,
    params: shape({ ...parentParams, [keyParameter]: kind.keyField }) as Shape & Field<Params>,
  });

  const scoped = (params: Params | undefined): Records<T> =>
    parentParameter === undefined ? records : records.within(params?.[parentParameter] ?? '');
  const keyIn = (params: Params): string => params[keyParameter] ?? '';

  /** A route that changes one record and returns it. */
  const changing = <Body>(
    declared: {
      readonly method: 'put' | 'post';
      readonly summary: string;
      readonly description?: string;
      readonly body?: Shape & Field<Body>;
      readonly problems?: Readonly<Record<number, string>>;
    } & ReturnType<typeof onOne>,
    change: (
      caller: T['caller'],
      params: Params,
      body: Body,
      versions: readonly number[] | undefined,
    ) => Promise<Versioned<T['answer']>>,
  ): RouteEntry =>
    declare({
      ...declared,
      responses: { 200: record(answer) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { ...changeProblems, ...declared.problems },
      handler: async ({ caller, params, body, req, reply }) => {
        const versions = acceptedVersions(req.get('If-Match'));
        const changed = await change(caller, params, body as Body, versions);
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    });

  return {
    list: (text = {}) =>
      declare({
        ...onAll('list'),
        method: 'get',
        summary: `List ${words}`,
        ...text,
        query: listQuery(kind),
        responses: { 200: page(answer) },
        handler: async ({ caller, params, query, req, reply }) => {
          const { rows, ...position } = await scoped(params).list(caller, query);
          return reply(200, { data: rows, ...paging(req.originalUrl, position) });
        },
      }),

    export: ({ permission, exports }) => {
      const exported = listExport({ name: kind.table, item: kind.answer });
      return declare({
        ...onAll('list'),
        path: `${all}/export`,
        permission,
        method: 'get',
        summary: `Export ${words}`,
        query: shape({ ...narrowingFields(kind), format: exportFormat }) as ExportQuery<T>,
        responses: { 200: exported.response },
        responseHeaders: exportHeaders,
        handler: ({ caller, params, query, reply }) => {
          const { format, ...narrowing } = query;
          const limited: LimitedRead = (read) => exports.read(read);
          const batches = scoped(params).batches(caller, narrowing as Narrowing<T>, limited);
          return reply(200, ...exported.file(format, exports.counted(exporterId(caller), batches)));
        },
      });
    },

    create: (text = {}) =>
      declare({
        ...onAll('create'),
        method: 'post',
        summary: `Create ${aRecord}`,
        ...(kind.maximum !== undefined && {
          problems: { 409: `There are ${kind.maximum} already` },
        }),
        ...text,
        body: create,
        responses: { 201: record(answer) },
        responseHeaders: { 201: ['ETag', 'Location'] },
        handler: async ({ caller, params, body, req, reply }) => {
          const created = await scoped(params).create(caller, body);
          const location = `${req.originalUrl.split('?', 1)[0]}/${encodeURIComponent(created.id)}`;
          return reply(201, { data: created.answer }, { ...tagged(created), Location: location });
        },
      }),

    get: (text = {}) =>
      declare({
        ...onOne('view'),
        method: 'get',
        summary: `Show ${aRecord}`,
        ...text,
        responses: { 200: record(answer), 304: empty },
        requestHeaders: ['If-None-Match'],
        responseHeaders: { 200: ['ETag'] },
        problems: {
          304: 'The record is still in a version that `If-None-Match` names',
          ...text.problems,
        },
        handler: async ({ caller, params, reply }) => {
          // Express turns this into a 304 if the client sent the same entity tag.
          const found = await scoped(params).get(caller, keyIn(params));
          return reply(200, { data: found.answer }, tagged(found));
        },
      }),

    update: (text = {}) =>
      changing(
        {
          ...onOne('update'),
          method: 'put',
          summary: `Update ${aRecord}`,
          description: kind.updateDescription,
          body: update,
          ...text,
        },
        (caller, params, body, versions) =>
          scoped(params).update(caller, keyIn(params), body, versions),
      ),

    delete: ({ problems, ...text } = {}) =>
      declare({
        ...onOne('delete'),
        method: 'delete',
        summary: `Delete ${aRecord}`,
        description: kind.deletion === 'soft' ? 'It can be restored.' : 'It cannot be restored.',
        ...text,
        responses: { 204: empty },
        requestHeaders: ['If-Match'],
        problems: { ...changeProblems, ...problems },
        handler: async ({ caller, params, req, reply }) => {
          const versions = acceptedVersions(req.get('If-Match'));
          await scoped(params).delete(caller, keyIn(params), versions);
          return reply(204);
        },
      }),

    restore: (text = {}) =>
      changing(
        {
          ...onOne('delete', '/restore'),
          method: 'post',
          summary: `Restore ${aRecord}`,
          description: 'A record that is not deleted stays as it is.',
          ...text,
        },
        (caller, params, _body, versions) =>
          scoped(params).restore(caller, keyIn(params), versions),
      ),

    replace: (field, text = {}) => {
      const { [field]: declared } = update.fields;
      if (!declared) throw new TypeError(`Updating ${aRecord} takes no ${field}.`);
      return changing(
        {
          ...onOne('update', `/${field.replaceAll('_', '-')}`),
          method: 'put',
          summary: `Replace the ${field.replaceAll('_', ' ')} of ${aRecord}`,
          body: complete(shape({ [field]: declared })) as Shape as Shape & Field<T['update']>,
          ...text,
        },
        (caller, params, body, versions) =>
          scoped(params).update(caller, keyIn(params), body, versions),
      );
    },

    history: (text = {}) =>
      declare({
        ...onOne('view', '/history'),
        method: 'get',
        summary: `List the changes of ${aRecord}`,
        description:
          'Newest first. The changes of a deleted record can be read by callers who may restore it.',
        ...text,
        query: shape(pageFields),
        responses: { 200: page(RecordChange) },
        handler: async ({ caller, params, query, req, reply }) => {
          const { rows, ...position } = await scoped(params).history(caller, keyIn(params), query);
          return reply(200, { data: rows, ...paging(req.originalUrl, position) });
        },
      }),

    action: ({ name: action, rule, permission, body, ...declared }) =>
      changing(
        {
          ...onOne('update', `/${action}`),
          ...(permission && { permission }),
          ...(body && { body: omissible(body) }),
          ...declared,
          method: 'post',
        },
        (caller, params, given, versions) =>
          scoped(params).act(caller, keyIn(params), { name: action, rule }, given, versions),
      ),
  };
};
