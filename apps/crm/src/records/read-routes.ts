import { type Field, type Shape, shape } from '@tessera/fields';
import { type ExportFormat, empty, exportFormat, exportHeaders } from '@tessera/http-kit';
import { type Caller, listExport, page, record } from '../http.ts';
import { RecordChange } from './history.ts';
import { pageBody } from './json-items.ts';
import type { Kind, KindTypes, TenantCaller } from './kind.ts';
import { type ExportQuery, exportFields, listQuery, pageFields } from './list-query.ts';
import { paging } from './paging.ts';
import { withArticle } from './paths.ts';
import { keepsLastValues } from './record-changes.ts';
import type { LimitedRead } from './records.ts';
import { declare, type Frame } from './route-frame.ts';
import type { RecordRoutes } from './routes.ts';
import { tagged } from './versions.ts';
import { viewable } from './viewing.ts';

type ExportParameters<T extends KindTypes> = Shape &
  Field<ExportQuery<T> & { readonly format: ExportFormat }>;

/** The user or client whose exports are counted together. */
const exporterId = (caller: TenantCaller): string =>
  (caller as Partial<Caller>).principal?.id ?? caller.tenantId;

/** What happens to the history of a record that is deleted. */
const ofDeleted = (kind: Pick<Kind, 'deletion' | 'key' | 'parent'>): string => {
  if (kind.deletion === 'soft') {
    return 'The changes of a deleted record can be read by callers who may restore it.';
  }
  return keepsLastValues(kind)
    ? 'The changes of a deleted record can be read by callers who may delete it, until there is another one with its key.'
    : '';
};

/** The routes of a kind that read records. */
export const readRoutes = <T extends KindTypes>(
  kind: Kind<T>,
  { all, answer, onAll, onOne, scoped, keyIn }: Frame<T>,
): Pick<RecordRoutes<T>, 'list' | 'get' | 'export' | 'history'> => {
  const words = kind.table.replaceAll('_', ' ');
  const own = kind.item as Field<T['item']>;
  const item = kind.listsDeleted === 'only' ? viewable(kind, own) : own;
  return {
    list: (text = {}) =>
      declare({
        ...onAll('list'),
        method: 'get',
        summary: `List ${words}`,
        ...text,
        query: listQuery(kind),
        responses: { 200: page(item) },
        handler: async ({ caller, params, query, req, reply }) => {
          const { rows, ...position } = await scoped(params).list(caller, query, 'json');
          return reply(200, pageBody(rows, paging(req.originalUrl, position)));
        },
      }),

    get: (text = {}) =>
      declare({
        ...onOne('view'),
        method: 'get',
        summary: `Show ${withArticle(kind.name)}`,
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

    export: ({ permission, exports }) => {
      const exported = listExport({ name: kind.table, item: kind.answer });
      return declare({
        ...onAll('list'),
        path: `${all}/export`,
        permission,
        method: 'get',
        summary: `Export ${words}`,
        query: shape({ ...exportFields(kind), format: exportFormat }) as ExportParameters<T>,
        responses: { 200: exported.response },
        responseHeaders: exportHeaders,
        handler: async ({ caller, params, query, reply }) => {
          const { format, ...parameters } = query;
          const limited: LimitedRead = (read) => exports.read(caller.tenantId, read);
          const batches = scoped(params).batches(caller, parameters as ExportQuery<T>, limited);
          const columns = await scoped(params).exportedColumns(caller);
          const counted = exports.counted(exporterId(caller), batches);
          return reply(200, ...exported.file(format, counted, columns));
        },
      });
    },

    history: (text = {}) =>
      declare({
        ...onOne('view', '/history'),
        method: 'get',
        summary: `List the changes of ${withArticle(kind.name)}`,
        description: `Newest first. ${ofDeleted(kind)}`.trim(),
        ...text,
        query: shape(pageFields),
        responses: { 200: page(RecordChange) },
        handler: async ({ caller, params, query, req, reply }) => {
          const { rows, ...position } = await scoped(params).history(caller, keyIn(params), query);
          return reply(200, { data: rows, ...paging(req.originalUrl, position) });
        },
      }),
  };
};
