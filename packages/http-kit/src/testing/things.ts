import { bool, int, list, optional, shape, text, uuid, withDefault } from '@tessera/fields';
import express, { type Express, type RequestHandler } from 'express';
import {
  createLimits,
  empty,
  errorHandler,
  type Gate,
  HttpError,
  type Idempotency,
  mount,
  type RouteGroups,
  routesFor,
  type UploadLimit,
  unauthenticated,
  unknownRoute,
} from '../index.ts';
import type { AccessCheckTimes } from '../lasting-access.ts';

export interface Caller {
  readonly name: string;
  readonly permissions: readonly string[];
}
export const route = routesFor<Caller, 'things.list' | 'things.update'>();
export const Thing = shape({ id: uuid(), name: text(20), done: bool() });
export const id = '01890a5d-ac96-774b-bcce-b302099a8057';

export const things = {
  listThings: route({
    method: 'get',
    path: '/things',
    permission: 'things.list',
    summary: 'Things',
    query: shape({ page: withDefault(int(1, 9), 1), done: optional(bool()) }),
    responses: { 200: shape({ data: list(Thing) }) },
    handler: ({ query, caller, reply }) =>
      reply(200, {
        data: [{ id, name: `${caller.name} ${query.page}`, done: query.done ?? false }],
      }),
  }),
  showBoard: route({
    method: 'get',
    path: '/things/board',
    permission: 'public',
    summary: 'The board',
    responses: { 204: empty },
    handler: ({ reply }) => reply(204, { 'X-Board': 'yes' }),
  }),
  updateThing: route({
    method: 'put',
    path: '/things/{id}',
    permission: 'things.update',
    summary: 'Change a thing',
    params: shape({ id: uuid() }),
    body: shape({ name: text(20), done: withDefault(bool(), true) }),
    responses: { 200: Thing },
    handler: ({ params, body, reply }) => reply(200, { id: params.id, ...body }),
  }),
  breakThings: route({
    method: 'post',
    path: '/broken',
    permission: 'public',
    summary: 'Fails with something nobody declared',
    responses: { 204: empty },
    handler: () => {
      throw new Error('the password is hunter2');
    },
  }),
};

export const gate = {
  authenticate: async (req: express.Request): Promise<Caller> => {
    const [name, ...permissions] = (req.get('authorization') ?? '').split(' ');
    if (!name) throw unauthenticated();
    return { name, permissions };
  },
  authorize: (caller: Caller, { permission }: { permission: string | readonly string[] }) => {
    if (!caller.permissions.includes(String(permission))) {
      throw new HttpError(403, 'permission_denied', `${permission} is needed.`);
    }
  },
};

/** An app with these routes and the given middleware before them. */
export const appOf = (
  groups: RouteGroups,
  {
    address = 1000,
    principal = 1000,
    bodyLimit = 1000,
    streamLifetimeMs = 60_000,
    uploadLimits = [] as readonly UploadLimit[],
    idempotency = undefined as Idempotency<Caller> | undefined,
    gate: usedGate = gate as Gate<Caller>,
    accessChecks = {} as AccessCheckTimes,
  } = {},
  ...before: RequestHandler[]
): Express => {
  const limits = createLimits<Caller>({
    classes: {
      default: { window: 60, address, principal },
      service: { window: 60, address, principal },
    },
    principalKey: (caller) => caller.name,
  });
  const app = express();
  app.set('query parser', 'simple');
  app.use(
    ...before,
    mount(groups, {
      gate: usedGate,
      limits,
      accessChecks,
      bodyLimit,
      streamLifetimeMs,
      uploadLimits,
      ...(idempotency && { idempotency }),
    }),
  );
  app.use(unknownRoute);
  app.use(
    errorHandler({ render: ({ code, message, errors }) => ({ error: code, message, errors }) }),
  );
  return app;
};

/** The `Authorization` header of a caller with every permission. */
export const everything = 'ann things.list things.update';
