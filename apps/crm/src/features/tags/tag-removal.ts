import { caseFolded, shape, uuid } from '@tessera/fields';
import { empty, notFound, type RouteEntry } from '@tessera/http-kit';
import { type CrmPermission, route } from '../../http.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { withArticle } from '../../records/paths.ts';
import type { Records } from '../../records/records.ts';
import type { ColumnValues } from '../../records/row.ts';
import { acceptedVersions, changeProblems } from '../../records/versions.ts';
import { tag } from '../tags.schema.ts';

/** `DELETE .../{id}/tags/{tag}`: removes one tag of a record; 404 if the record does not have it. */
export const removeTagRoute = <T extends KindTypes>(
  { path, name }: Kind<T>,
  records: Records<T>,
  permission: CrmPermission,
): RouteEntry =>
  route({
    method: 'delete',
    path: `${path}/{id}/tags/{tag}`,
    permission,
    resource: 'tag',
    params: shape({ id: uuid(), tag }),
    summary: `Remove a tag of ${withArticle(name)}`,
    responses: { 204: empty },
    requestHeaders: ['If-Match'],
    problems: changeProblems,
    handler: async ({ caller, params, req, reply }) => {
      const rule = ({ row }: { readonly row: T['row'] }): ColumnValues<T['row']> => {
        const { tags } = row as unknown as { readonly tags: readonly string[] };
        const removed = caseFolded(params.tag);
        const left = { tags: tags.filter((other) => caseFolded(other) !== removed) };
        if (left.tags.length === tags.length) throw notFound('The tag');
        return left as unknown as ColumnValues<T['row']>;
      };
      const versions = acceptedVersions(req.get('If-Match'));
      await records.act(caller, params.id, { name: 'update', rule }, undefined, versions);
      return reply(204);
    },
  });
