import { setTimeout as later } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { createLogger, HttpError, healthRoutes, requestLog } from './index.ts';
import type { RequestLogOptions } from './logs.ts';
import { appOf, everything, id, things } from './testing/things.ts';

type Line = Record<string, unknown>;

let isReady = true;
beforeEach(() => {
  isReady = true;
});
const health = healthRoutes({
  path: '/api/health',
  service: 'things',
  version: '1.0.0',
  ready: async () => isReady,
});

/** An app whose log the tests read; `before` runs between the log and the routes. */
const logged = (...before: RequestHandler[]) => loggedWith({ logsHealthChecks: true }, ...before);
const loggedWith = (options: RequestLogOptions, ...before: RequestHandler[]) => {
  const lines: Line[] = [];
  const logger = createLogger('things', 'info', { write: (line) => lines.push(JSON.parse(line)) });
  const app = appOf({ Things: things, Health: health }, {}, requestLog(logger, options), ...before);
  const written = async (count: number): Promise<Line[]> => {
    while (lines.length < count) await later(1);
    return lines;
  };
  return { app, written };
};

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('a request is logged in one line without its headers, query and body', async () => {
  const { app, written } = logged();
  await request(app)
    .put(`/things/${id}?token=s3cret`)
    .set({ authorization: `${everything} s3cret`, cookie: 's3cret=1', 'user-agent': 's3cret' })
    .send({ name: 's3cret' })
    .expect(422);
  const lines = await written(1);
  expect(lines).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      service: 'things',
      request_id: expect.stringMatching(uuidPattern),
      method: 'PUT',
      path: `/things/${id}`,
      status: 422,
      operation: 'updateThing',
      error: 'validation_failed',
      duration_ms: expect.any(Number),
      msg: 'PUT 422',
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain('s3cret');
});

test('a segment of a path that can be a token is not logged, ids are', async () => {
  const { app, written } = logged();
  const secret = `s3cret_${'x'.repeat(33)}`;
  for (const path of [`/links/${secret}`, `/links/${secret}/${id}?a`, `//links/%${secret}`]) {
    await request(app).get(path).expect(404);
  }
  const lines = await written(3);
  expect(lines.map(({ path }) => path)).toEqual([
    '/links/[redacted]',
    `/links/[redacted]/${id}`,
    '//links/[redacted]',
  ]);
});

describe('the id of a request', () => {
  test("is the caller's, in the response and in the log", async () => {
    const { app, written } = logged();
    const answer = await request(app).get('/things').set('x-request-id', 'trace-1.a_B');
    expect(answer.headers['x-request-id']).toBe('trace-1.a_B');
    expect((await written(1))[0]).toMatchObject({ request_id: 'trace-1.a_B' });
  });

  test.each(['', 'a b', 'a"b', 'é', 'x'.repeat(65), '<script>', 'a,b'])(
    "is a new one if the caller's is invalid: %j",
    async (given) => {
      const { app } = logged();
      const answer = await request(app)
        .get('/things')
        .set('x-request-id', Buffer.from(given).toString('latin1'));
      expect(answer.headers['x-request-id']).toMatch(uuidPattern);
    },
  );
});

test("the cause of a 500 is logged with the request id, without the error's other members", async () => {
  const cause = Object.assign(new Error('insert failed', { cause: new Error('constraint') }), {
    code: '23514',
    detail: 'Failing row contains (s3cret)',
    config: { password: 's3cret' },
  });
  const { app, written } = logged(() => {
    throw cause;
  });
  const answer = await request(app).get('/things').expect(500);
  expect(answer.text).not.toContain('insert failed');
  const [fault, outcome] = await written(2);
  expect(fault).toMatchObject({
    level: 'error',
    request_id: answer.headers['x-request-id'],
    err: {
      type: 'Error',
      code: '23514',
      message: expect.stringContaining('constraint'),
      stack: expect.stringContaining('logs.test.ts'),
    },
  });
  expect(outcome).toMatchObject({ level: 'error', status: 500, error: 'internal_error' });
  expect(JSON.stringify([fault, outcome])).not.toContain('s3cret');
});

test.each([
  ['is meant', undefined],
  ['comes from an unavailable dependency', new Error('connect ECONNREFUSED 10.0.0.7')],
])('a 503 that %s is a warning without a stack', async (_case, cause) => {
  const headers = { 'Retry-After': '1' };
  const { app, written } = logged(() => {
    throw new HttpError(503, 'overloaded', 'Too many sign-ins are running.', { headers, cause });
  });
  const answer = await request(app).get('/things').expect(503);
  const [refusal, outcome] = await written(2);
  expect(refusal).toMatchObject({
    level: 'warn',
    request_id: answer.headers['x-request-id'],
    error: 'overloaded',
    msg: 'Too many sign-ins are running.',
  });
  expect(refusal?.cause).toBe(cause?.message);
  expect(outcome).toMatchObject({ level: 'warn', status: 503 });
  expect(JSON.stringify([refusal, outcome])).not.toContain('stack');
});

test('a thrown value that is not an Error is logged too', async () => {
  const { app, written } = logged(() => {
    throw 'a text';
  });
  await request(app).get('/things').expect(500);
  expect((await written(2))[0]).toMatchObject({ err: { type: 'string', message: 'a text' } });
});

test('a response that fails half-way is cut off and is not logged as a success', async () => {
  const { app, written } = logged((_req, res) => {
    res.write('half');
    throw new Error('broke');
  });
  await expect(request(app).get('/things')).rejects.toThrow('socket hang up');
  const [fault, outcome] = await written(2);
  expect(fault).toMatchObject({ err: { message: 'broke' } });
  expect(outcome).toMatchObject({ msg: 'GET cut off', error: 'internal_error' });
  expect(outcome).not.toHaveProperty('status');
});

test('a request whose client disconnects early is not logged as a success', async () => {
  const { app, written } = logged((req) => void req.socket.destroy());
  await expect(request(app).get('/things')).rejects.toThrow('socket hang up');
  expect((await written(1))[0]).toMatchObject({ level: 'info', msg: 'GET cut off' });
});

describe('health probes', () => {
  const probes = ['/livez', '/readyz', '/api/health'];

  test('are logged like other requests', async () => {
    const { app, written } = logged();
    for (const path of probes) await request(app).get(path).expect(200);
    expect((await written(3)).map(({ path }) => path)).toEqual(probes);
  });

  test('that succeed can be left out; other requests and failed probes are logged', async () => {
    const { app, written } = loggedWith({ logsHealthChecks: false });
    for (const path of probes) {
      await request(app).get(path).expect(200);
      await request(app).head(path).expect(200);
    }
    await request(app).get('/livez/').expect(404);
    isReady = false;
    await request(app).get('/readyz').expect(503);
    await request(app).post('/livez').expect(405);
    const answer = await request(app).get('/livez').expect(200);
    expect(answer.headers['x-request-id']).toMatch(uuidPattern);
    await request(app).get('/things').set('authorization', everything).expect(200);
    // The failed probe has a line of its own about the cause.
    const lines = (await written(5)).filter(({ method }) => method !== undefined);
    expect(lines.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', '/livez/', 404],
      ['GET', '/readyz', 503],
      ['POST', '/livez', 405],
      ['GET', '/things', 200],
    ]);
  });
});
