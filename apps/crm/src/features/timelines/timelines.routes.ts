import { shape, uuid } from '@tessera/fields';
import type { RouteEntry, RouteTable } from '@tessera/http-kit';
import { page, route } from '../../http.ts';
import { pageBody } from '../../records/json-items.ts';
import { paging } from '../../records/paging.ts';
import { TimelineEntry, TimelineQuery } from './timelines.schema.ts';
import type { Timelines } from './timelines.service.ts';

const names = {
  contacts: { name: 'contact', permission: 'contacts.view' },
  companies: { name: 'company', permission: 'companies.view' },
} as const;

/** The timelines as routes, by the table of their records. */
export const timelineRoutes = (
  timelines: Timelines,
): { readonly contacts: RouteTable; readonly companies: RouteTable } => {
  const timelineOf = (table: keyof typeof names): RouteEntry => {
    const { name, permission } = names[table];
    return route({
      method: 'get',
      path: `/${table}/{id}/timeline`,
      permission,
      resource: name,
      params: shape({ id: uuid() }),
      summary: `List what happened to a ${name}`,
      description:
        'Communication logs, tasks and changes of the record, newest first. Logs and tasks are shown to callers with the permissions `communication_logs.list` and `tasks.list`.',
      query: TimelineQuery,
      responses: { 200: page(TimelineEntry) },
      handler: async ({ caller, params, query, req, reply }) => {
        const { rows, ...position } = await timelines.read(caller, { table, id: params.id }, query);
        return reply(200, pageBody(rows, paging(req.originalUrl, position)));
      },
    });
  };
  return {
    contacts: { listContactTimeline: timelineOf('contacts') },
    companies: { listCompanyTimeline: timelineOf('companies') },
  };
};
