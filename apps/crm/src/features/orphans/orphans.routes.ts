import { shape, uuid } from '@tessera/fields';
import { empty, type RouteEntry, type RouteTable } from '@tessera/http-kit';
import { route } from '../../http.ts';
import { OrphanPage, OrphanQuery, type OrphanType } from './orphans.schema.ts';
import type { OrphanService } from './orphans.service.ts';

const unavailable = { 503: 'Identity does not answer, or CRM has no client at identity' };

export const orphanRoutes = (orphans: OrphanService): RouteTable => {
  const takeOver = (type: OrphanType, name: string, becomes: string): RouteEntry =>
    route({
      method: 'post',
      path: `/${type.replaceAll('_', '-')}/{id}/take-over`,
      permission: 'private.records.orphans.update',
      resource: name,
      summary: `Take over a private ${name} whose members have all left`,
      description: `The caller becomes ${becomes}, which the activity log shows.`,
      params: shape({ id: uuid() }),
      responses: { 204: empty },
      problems: {
        ...unavailable,
        404: `There is no such private ${name}, or one of its members has not left the tenant`,
      },
      handler: async ({ caller, params, reply }) => {
        await orphans.takeOver(caller, type, params.id);
        return reply(204);
      },
    });
  return {
    listOrphans: route({
      method: 'get',
      path: '/orphans',
      permission: 'private.records.orphans.list',
      summary: 'List private records whose members have all left',
      description:
        'Private projects, folders or channels that nobody can reach: each member has left the tenant or is deactivated. Direct channels are not listed. Identity is asked who is left, whatever happened before. For owners.',
      query: OrphanQuery,
      responses: { 200: OrphanPage },
      problems: unavailable,
      handler: async ({ caller, query: { type, after, per_page: perPage }, reply }) => {
        const { rows, nextAfter } = await orphans.list(caller, type, { after, perPage });
        const data = rows.map(({ id, name, created_at }) => ({ type, id, name, created_at }));
        return reply(200, { data, meta: { next_after: nextAfter } });
      },
    }),
    takeOverProject: takeOver('projects', 'project', 'its owner and a manager'),
    takeOverDocumentFolder: takeOver(
      'document_folders',
      'document folder',
      'a member with write access',
    ),
    takeOverChannel: takeOver('channels', 'channel', 'an owner of it'),
  };
};
