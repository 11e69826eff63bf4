import { type Field, type Shape, shape } from '@tessera/fields';
import { type RouteEntry, routesFor } from '@tessera/http-kit';
import type { Request } from 'express';
import { type CrmPermission, record } from '../http.ts';
import { SYSTEM } from '../system/system-access.ts';
import type { Kind, KindTypes, Permissions, TenantCaller, Verb } from './kind.ts';
import { pathsOf } from './paths.ts';
import type { Records } from './records.ts';
import {
  type AcceptedVersion,
  acceptedTags,
  acceptedVersions,
  changeProblems,
  tagged,
} from './versions.ts';
import { type Changed, viewable, viewableText } from './viewing.ts';

/** The path parameters of a request. */
export type Params = Readonly<Record<string, string>>;

/** Who may use a route: callers with permissions, or services. */
interface Admission {
  readonly permission: Permissions[Verb] | 'authenticated';
  readonly credential?: string;
  readonly limit?: string;
}

/** Declares a route of a kind of record. */
export const declare = routesFor<TenantCaller, CrmPermission>();

/** What the routes of a kind have in common. A kind without permissions is for services with a system token. */
export const createFrame = <T extends KindTypes>(kind: Kind<T>, records: Records<T>) => {
  const { name, permissions, parent } = kind;
  const { all, one, parents, key } = pathsOf(kind);
  const answer: Field<T['answer']> = kind.answer;
  const parentFields = Object.fromEntries(parents.map((above) => [above.name, above.field]));

  const admission = (verb: Verb): Admission =>
    permissions
      ? { permission: permissions[verb] }
      : { permission: 'authenticated', credential: SYSTEM, limit: 'service' };

  /** A route for the list. */
  const onAll = (verb: Verb) => ({
    ...admission(verb),
    path: all,
    // The last parameter of the path is the key of the parent.
    resource: parent?.kind.name ?? name,
    ...(parents.length > 0 && { params: shape(parentFields) as Shape as Shape & Field<Params> }),
  });

  /** A route for one record, or for something below it. */
  const onOne = (verb: Verb, suffix = '') => ({
    ...admission(verb),
    path: `${one}${suffix}`,
    resource: name,
    params: shape({ ...parentFields, [key.name]: key.field }) as Shape as Shape & Field<Params>,
  });

  /** The records that a path names: all of them, or those below the parents. */
  const scoped = (params: Params | undefined): Records<T> =>
    parents.length === 0
      ? records
      : records.within(...parents.map((above) => params?.[above.name] ?? ''));

  const keyIn = (params: Params): string => params[key.name] ?? '';

  /** The versions that a request accepts. With another key than the id, the revision tells of which record. */
  const accepted = (req: Pick<Request, 'get'>): readonly AcceptedVersion[] | undefined =>
    (kind.key === 'id' ? acceptedVersions : acceptedTags)(req.get('If-Match'));

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
      versions: readonly AcceptedVersion[] | undefined,
    ) => Promise<Changed<T['answer']>>,
  ): RouteEntry =>
    declare({
      ...declared,
      description: [declared.description, viewableText(kind)].join(' ').trim(),
      responses: { 200: record(viewable(kind, answer)) },
      requestHeaders: ['If-Match'],
      responseHeaders: { 200: ['ETag'] },
      problems: { ...changeProblems, ...declared.problems },
      handler: async ({ caller, params, body, req, reply }) => {
        const changed = await change(caller, params, body as Body, accepted(req));
        return reply(200, { data: changed.answer }, tagged(changed));
      },
    });

  return { all, answer, onAll, onOne, scoped, keyIn, accepted, changing };
};

export type Frame<T extends KindTypes> = ReturnType<typeof createFrame<T>>;
