import { bool, int, list, optional, shape, text, uuid, withDefault } from '@tessera/fields';
import express, { type Express } from 'express';
import request from 'supertest';
import {
  createLimits,
  empty,
  errorHandler,
  HttpError,
  mount,
  openapi,
  type RouteGroups,
  routesFor,
  unauthenticated,
  unknownRoute,
} from './index.ts';

interface Caller {
  readonly name: string;
  readonly permissions: readonly string[];
}
const route = routesFor<Caller, 'things.list' | 'things.update'>();
const Thing = shape({ id: uuid(), name: text(20), done: bool() });
const id = '01890a5d-ac96-774b-bcce-b302099a8057';

const things = {
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

const appOf = (groups: RouteGroups, limit = 100): Express => {
  const limits = createLimits<Caller>({
    classes: { default: { window: 60, address: 1000, principal: limit } },
    principalKey: (caller) => caller.name,
  });
  const gate = {
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
  const app = express();
  app.set('query parser', 'simple');
  app.use(mount(groups, { gate, limits, bodyLimit: 1000 }));
  app.use(unknownRoute);
  app.use(
    errorHandler({ render: ({ code, message, errors }) => ({ error: code, message, errors }) }),
  );
  return app;
};
const app = appOf({ Things: things });
const everything = 'ann things.list things.update';
const put = (path = `/things/${id}`) => request(app).put(path).set('authorization', everything);

describe('a request travels through the steps of its route', () => {
  test('without a caller it is 401 with a challenge', async () => {
    const answer = await request(app).get('/things').expect(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.body.error).toBe('unauthenticated');
  });

  test('without the permission it is 403, before the body is even read', async () => {
    await request(app).put(`/things/${id}`).set('authorization', 'bob').send('{').expect(403);
  });

  test('the handler gets checked and typed input, with defaults', async () => {
    const answer = await request(app).get('/things?done=true').set('authorization', everything);
    expect(answer.body).toEqual({ data: [{ id, name: 'ann 1', done: true }] });
  });

  test('a literal path is never taken for an id', async () => {
    const answer = await request(app).get('/things/board').expect(204);
    expect(answer.headers['x-board']).toBe('yes');
  });
});

describe('input that does not fit', () => {
  test.each([
    ['/things?page=two', { page: [expect.any(String)] }],
    ['/things?pgae=2', { pgae: ['pgae is no parameter of this address'] }],
    ['/things?page=1&page=2', { page: ['page must be given once'] }],
    ['/things?page=0&done=maybe', { page: [expect.any(String)], done: [expect.any(String)] }],
    [
      '/things?__proto__=1',
      JSON.parse('{"__proto__":["__proto__ is no parameter of this address"]}'),
    ],
  ])('%s is 422 with the names', async (path, errors) => {
    const answer = await request(app).get(path).set('authorization', everything).expect(422);
    expect(answer.body.errors).toEqual(errors);
  });

  test('an id that cannot exist is 404', async () => {
    await put('/things/nope').send({ name: 'x' }).expect(404);
  });

  test('an absent body is 422', async () => {
    const answer = await put().expect(422);
    expect(answer.body.errors).toEqual({ body: ['body is required'] });
  });

  test.each([
    ['malformed JSON', 'application/json', '{"name":', 400],
    ['broken UTF-8', 'application/json', Buffer.from('7b226e616d65223a22ff227d', 'hex'), 400],
    ['another media type', 'text/plain', '{"name":"x"}', 415],
    ['another charset', 'application/json; charset=latin1', '{"name":"x"}', 415],
    ['too many bytes', 'application/json', JSON.stringify({ name: 'x'.repeat(2000) }), 413],
    ['a body that is no object', 'application/json', '7', 422],
  ])('%s is told apart', async (_case, type, body, status) => {
    const answer = await put()
      .set('content-type', type)
      .serialize((b: unknown) => b as string)
      .send(body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toEqual(expect.any(String));
  });
});

describe('addresses', () => {
  test('an unknown one is 404, in letter case and slashes too', async () => {
    for (const path of ['/nothing', '/Things', '/things/']) {
      await request(app).get(path).set('authorization', everything).expect(404);
    }
  });

  test('a wrong method is 405 and says which are right', async () => {
    const answer = await request(app).delete('/things').expect(405);
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
    await request(app).options('/things').expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
  });

  test('a malformed one is 400', async () => {
    await put('/things/%E0%A4%A').send({ name: 'x' }).expect(400);
  });
});

test('what nobody declared is a 500 that says nothing of its cause', async () => {
  const answer = await request(app).post('/broken').expect(500);
  expect(answer.body.error).toBe('internal_error');
  expect(answer.text).not.toContain('hunter2');
});

test('a principal over the limit is 429 with the headers that tell when to come back', async () => {
  const limited = appOf({ Things: things }, 2);
  const call = () => request(limited).get('/things').set('authorization', everything);
  const first = await call().expect(200);
  expect(first.headers['x-ratelimit-limit']).toBe('2');
  expect(first.headers['x-ratelimit-remaining']).toBe('1');
  expect(first.headers['ratelimit-policy']).toContain('default-principal');
  await call().expect(200);
  const refused = await call().expect(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(refused.body.error).toBe('rate_limited');
  await request(limited).get('/things').set('authorization', 'bob things.list').expect(200);
});

describe('an app does not start', () => {
  test('with a route that names no permission', () => {
    const unmarked = { ...things.listThings, permission: '' };
    expect(() => appOf({ Things: { unmarked } })).toThrow('unmarked: a route names its permission');
  });

  test('with an operation or an address that stands twice', () => {
    expect(() => appOf({ A: things, B: things })).toThrow('"listThings" is declared twice');
    expect(() => appOf({ A: { a: things.listThings, b: things.listThings } })).toThrow(
      'GET /things is declared twice',
    );
  });

  test('with a class of limits that does not exist', () => {
    expect(() => appOf({ A: { a: { ...things.listThings, limit: 'lavish' } } })).toThrow(
      '"lavish"',
    );
  });
});

test('a route that does not fit together does not compile', () => {
  const get = { method: 'get', path: '/a', summary: '', responses: { 200: Thing } } as const;
  const open = { ...get, permission: 'public' } as const;
  const byId = { ...open, path: '/a/{id}' } as const;
  const thing = { id, name: 'x', done: true };
  const params = shape({ identifier: uuid() });
  // @ts-expect-error the permission is missing
  route({ ...get, handler: ({ reply }) => reply(200, thing) });
  // @ts-expect-error there is no such permission
  route({ ...get, permission: 'things.lsit', handler: ({ reply }) => reply(200, thing) });
  // @ts-expect-error the path has a parameter without a field
  route({ ...byId, params, handler: ({ reply }) => reply(200, thing) });
  // @ts-expect-error the answer lacks a field
  route({ ...open, handler: ({ reply }) => reply(200, { id, name: 'x' }) });
  // @ts-expect-error the status is not declared
  route({ ...open, handler: ({ reply }) => reply(201, thing) });
  // @ts-expect-error a public route has no caller
  route({ ...open, handler: ({ caller, reply }) => reply(200, { ...thing, name: caller.name }) });
});

test('the OpenAPI document says what the routes do', () => {
  const document = openapi(
    { Things: things },
    {
      title: 'Things',
      version: '1.0.0',
      description: '',
      error: shape({ message: text(100) }),
      problems: { 401: 'No caller', 403: 'Not allowed', 404: 'Not found', 422: 'Does not fit' },
    },
  ) as { paths: Record<string, Record<string, { responses: object }>> };
  const update = document.paths['/things/{id}']?.put;
  expect(update).toMatchObject({
    operationId: 'updateThing',
    'x-permissions': ['things.update'],
    security: [{ bearer: [] }],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { format: 'uuid' } }],
  });
  expect(Object.keys(update?.responses ?? {})).toEqual(['200', '401', '403', '404', '422']);
  expect(document.paths['/things/board']?.get).toMatchObject({
    security: [],
    'x-permissions': 'public',
  });
});
