import { int, shape, text, uuid } from '@tessera/fields';
import request from 'supertest';
import { empty } from './index.ts';
import { appOf, everything, id, route, Thing, things } from './testing/things.ts';

const app = appOf({ Things: things });
const put = (path = `/things/${id}`) => request(app).put(path).set('authorization', everything);

describe('a request passes the steps of its route', () => {
  test('without a caller it is 401 with a challenge', async () => {
    const answer = await request(app).get('/things').expect(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.body.error).toBe('unauthenticated');
  });

  test('without the permission it is 403, before the body is even read', async () => {
    await request(app).put(`/things/${id}`).set('authorization', 'bob').send('{').expect(403);
  });

  test('the handler gets validated and typed input, with defaults', async () => {
    const answer = await request(app).get('/things?done=true').set('authorization', everything);
    expect(answer.body).toEqual({ data: [{ id, name: 'ann 1', done: true }] });
  });

  test('a literal path is never treated as an id', async () => {
    const answer = await request(app).get('/things/board').expect(204);
    expect(answer.headers['x-board']).toBe('yes');
  });
});

describe('invalid input', () => {
  test.each([
    ['/things?page=two', { page: [expect.any(String)] }],
    ['/things?pgae=2', { pgae: ['pgae is not a parameter of this operation'] }],
    ['/things?page=1&page=2', { page: ['page must be given once'] }],
    ['/things?page=0&done=maybe', { page: [expect.any(String)], done: [expect.any(String)] }],
    [
      '/things?constructor=1',
      { constructor: ['constructor is not a parameter of this operation'] },
    ],
    [
      '/things?__proto__=1',
      JSON.parse('{"__proto__":["__proto__ is not a parameter of this operation"]}'),
    ],
  ])('%s is 422 and names the parameters', async (path, errors) => {
    const answer = await request(app).get(path).set('authorization', everything).expect(422);
    expect(answer.body.errors).toEqual(errors);
  });

  test('a required parameter that is given twice is reported as repeated, not as missing', async () => {
    const find = route({
      method: 'get',
      path: '/find',
      permission: 'public',
      summary: 'Find',
      query: shape({ name: text(20) }),
      responses: { 204: empty },
      handler: ({ reply }) => reply(204),
    });
    const answer = await request(appOf({ Find: { find } }))
      .get('/find?name=a&name=b')
      .expect(422);
    expect(answer.body.errors).toEqual({ name: ['name must be given once'] });
  });

  test('an invalid id is 404', async () => {
    await put('/things/nope').send({ name: 'x' }).expect(404);
  });

  test('an absent body is 422', async () => {
    const answer = await put().expect(422);
    expect(answer.body.errors).toEqual({ body: ['body is required'] });
  });
});

describe('addresses', () => {
  test('an unknown one is 404, also if only case or slashes differ', async () => {
    for (const path of ['/nothing', '/Things', '/things/']) {
      await request(app).get(path).set('authorization', everything).expect(404);
    }
  });

  test('a wrong method is 405 and names the allowed ones', async () => {
    const answer = await request(app).delete('/things').expect(405);
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
    await request(app).options('/things').expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
  });

  test('HEAD gets the response of GET without the body', async () => {
    const get = await request(app).get('/things').set('authorization', everything);
    const head = await request(app).head('/things').set('authorization', everything).expect(200);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    await request(app).head('/things').expect(401);
  });

  test('PATCH and HEAD can have routes of their own', async () => {
    const path = '/uploads/{id}' as const;
    const params = shape({ id: uuid() });
    const common = {
      path,
      params,
      permission: 'things.update',
      responses: { 204: empty },
    } as const;
    const uploads = request(
      appOf({
        Uploads: {
          showUpload: route({
            ...common,
            method: 'get',
            summary: 'An upload',
            responses: { 200: Thing },
            handler: ({ reply }) => reply(200, { id, name: 'upload', done: false }),
          }),
          continueUpload: route({
            ...common,
            method: 'patch',
            summary: 'Continue an upload',
            body: shape({ name: text(20) }),
            handler: ({ body, reply }) => reply(204, { 'X-Name': body.name }),
          }),
          getUploadOffset: route({
            ...common,
            method: 'head',
            summary: 'How much has arrived',
            handler: ({ reply }) => reply(204, { 'Upload-Offset': '7' }),
          }),
        },
      }),
    );
    const own = { authorization: everything };
    const upload = `/uploads/${id}`;
    await uploads.head(upload).set(own).expect(204).expect('Upload-Offset', '7');
    await uploads.get(upload).set(own).expect(200);
    await uploads.patch(upload).set(own).send({ name: 'a' }).expect(204).expect('X-Name', 'a');
    await uploads.patch(upload).set(own).send({}).expect(422);
    await uploads.head(upload).expect(401);
    const refused = await uploads.post(upload).expect(405);
    expect(refused.headers.allow).toBe('GET, PATCH, HEAD, OPTIONS');
  });

  test('a number in the path is parsed', async () => {
    const showYear = route({
      method: 'get',
      path: '/years/{year}',
      permission: 'public',
      summary: 'A year',
      params: shape({ year: int(2000, 2100) }),
      responses: { 200: shape({ next: int(2000, 2101) }) },
      handler: ({ params, reply }) => reply(200, { next: params.year + 1 }),
    });
    const years = request(appOf({ Years: { showYear } }));
    expect((await years.get('/years/2026').expect(200)).body).toEqual({ next: 2027 });
    await years.get('/years/1999').expect(404);
    await years.get('/years/soon').expect(404);
  });

  test('a malformed one is 400', async () => {
    await put('/things/%E0%A4%A').send({ name: 'x' }).expect(400);
  });
});

test('an unexpected error is a 500 that does not reveal its cause', async () => {
  const answer = await request(app).post('/broken').expect(500);
  expect(answer.body.error).toBe('internal_error');
  expect(answer.text).not.toContain('hunter2');
});

describe('an app does not start', () => {
  test('if a route names no permission', () => {
    const unmarked = { ...things.listThings, permission: '' };
    expect(() => appOf({ Things: { unmarked } })).toThrow(
      'unmarked: a route must name its permission',
    );
  });

  test('if an operation or a path is declared twice', () => {
    expect(() => appOf({ A: things, B: things })).toThrow('"listThings" is declared twice');
    expect(() => appOf({ A: { a: things.listThings, b: things.listThings } })).toThrow(
      'GET /things is declared twice',
    );
  });

  test('if a path parameter has two names', () => {
    const removeThing = { ...things.showBoard, method: 'delete', path: '/things/{thing}' } as const;
    expect(() => appOf({ A: things, B: { removeThing } })).toThrow(
      '/things/{id} and /things/{thing} are the same path: their parameters must have the same names.',
    );
  });

  test('if a route names an unknown limit class', () => {
    expect(() => appOf({ A: { a: { ...things.listThings, limit: 'lavish' } } })).toThrow(
      '"lavish"',
    );
  });
});

test('an inconsistent route does not compile', () => {
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
  // @ts-expect-error the response lacks a field
  route({ ...open, handler: ({ reply }) => reply(200, { id, name: 'x' }) });
  // @ts-expect-error the status is not declared
  route({ ...open, handler: ({ reply }) => reply(201, thing) });
  // @ts-expect-error a public route has no caller
  route({ ...open, handler: ({ caller, reply }) => reply(200, { ...thing, name: caller.name }) });
});

describe('input that a route does not accept', () => {
  test('an unexpected body is 422 and named, and the handler does not run', async () => {
    const answer = await request(app).post('/broken').send({ surprise: 1 }).expect(422);
    expect(answer.body.errors).toEqual({ surprise: ['surprise is not allowed'] });
    await request(app)
      .post('/broken')
      .set('content-type', 'application/json')
      .send('{')
      .expect(400);
  });

  test('an empty body counts as none', async () => {
    await request(app).post('/broken').send({}).expect(500);
  });

  test('a query in malformed UTF-8 is 400 and not decoded to something else', async () => {
    const answer = await request(app).get('/things?page=%ff').set('authorization', everything);
    expect(answer).toMatchObject({ status: 400, body: { error: 'malformed_address' } });
  });
});
