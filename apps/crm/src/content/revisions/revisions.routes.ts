import { type Field, matching, type Out, omissible, type Shape, shape } from '@tessera/fields';
import type { RouteEntry } from '@tessera/http-kit';
import { page, record } from '../../http.ts';
import { pageFields } from '../../records/list-query.ts';
import { paging } from '../../records/paging.ts';
import { withArticle } from '../../records/paths.ts';
import type { Records } from '../../records/records.ts';
import { createFrame, declare, type Params } from '../../records/route-frame.ts';
import { revisedFields } from './revisions.repository.ts';
import {
  DiffQuery,
  RestoreInput,
  Revision,
  RevisionDiff,
  RevisionSummary,
} from './revisions.schema.ts';
import type { RevisedKind, RevisedTypes, Revisions } from './revisions.service.ts';

/** The routes of a kind's revisions, one per method. */
export interface RevisionRoutes {
  list(): RouteEntry;
  /** Comes before `get`, whose path would match as well. */
  diff(): RouteEntry;
  get(): RouteEntry;
  restore(): RouteEntry;
}

const numberField = matching(/^[1-9][0-9]{0,8}$/, 'the number of a revision', 9);

const restoreBody = omissible(RestoreInput as Shape & Field<Out<typeof RestoreInput>>);

export const revisionRoutes = <T extends RevisedTypes>(
  kind: RevisedKind<T>,
  records: Records<T>,
  revisions: Revisions<T>,
): RevisionRoutes => {
  const { onOne, keyIn, changing } = createFrame(kind, records);
  const aRecord = withArticle(kind.name);
  const ofRevision = (verb: 'view' | 'update', suffix = '') => {
    const of = onOne(verb, `/revisions/{number}${suffix}`);
    const params = shape({ ...of.params.fields, number: numberField });
    return { ...of, resource: 'revision', params: params as Shape as typeof of.params };
  };
  const numberIn = ({ number = '' }: Params): number => Number(number);
  return {
    list: () =>
      declare({
        ...onOne('view', '/revisions'),
        method: 'get',
        summary: `List the revisions of ${aRecord}`,
        description:
          'Newest first. Each change of the title, slug, summary, body or tags makes a revision.',
        query: shape(pageFields),
        responses: { 200: page(RevisionSummary) },
        handler: async ({ caller, params, query, req, reply }) => {
          const { rows, ...position } = await revisions.list(caller, keyIn(params), query);
          return reply(200, { data: rows, ...paging(req.originalUrl, position) });
        },
      }),

    get: () =>
      declare({
        ...ofRevision('view'),
        method: 'get',
        summary: `Show a revision of ${aRecord}`,
        responses: { 200: record(Revision) },
        handler: async ({ caller, params, reply }) =>
          reply(200, { data: await revisions.get(caller, keyIn(params), numberIn(params)) }),
      }),

    diff: () =>
      declare({
        ...onOne('view', '/revisions/diff'),
        method: 'get',
        summary: `Compare two revisions of ${aRecord}`,
        description: 'The body is compared by lines, and changed lines by words.',
        query: DiffQuery,
        responses: { 200: record(RevisionDiff) },
        handler: async ({ caller, params, query, reply }) =>
          reply(200, { data: await revisions.diff(caller, keyIn(params), query) }),
      }),

    restore: () =>
      changing(
        {
          ...ofRevision('update', '/restore'),
          method: 'post',
          summary: `Restore a revision of ${aRecord}`,
          description:
            'An update that sets the given fields to what they were, which makes a new revision. ' +
            'A slug that another record has meanwhile taken is a 422; leave it out of `fields` then.',
          body: restoreBody,
        },
        (caller, params, { fields = revisedFields }, versions) =>
          revisions.restore(caller, keyIn(params), { number: numberIn(params), fields }, versions),
      ),
  };
};
