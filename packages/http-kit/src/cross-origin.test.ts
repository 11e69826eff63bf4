import type { Express } from 'express';
import request from 'supertest';
import { empty, forwarded, type RouteTable, rootRoute, ServiceInformation } from './index.ts';
import { origin as ours, thingsApplication } from './testing/application.ts';
import { everything, route } from './testing/things.ts';

const described = { permission: 'public', responses: { 204: empty } } as const;

/** Routes of each kind besides those of the API. */
const others: RouteTable = {
  getService: rootRoute({
    service: 'crm',
    version: '1.0.0',
    health: '/health',
    envelope: ServiceInformation,
    wrap: (information) => information,
    sendPage: (_req, res) => void res.type('html').send('<h1>Things</h1>'),
  }),
  showAccount: forwarded({
    method: 'get',
    path: '/account/{section}',
    summary: 'A page with a secret',
    isPage: true,
    responses: {},
    forward: (_req, res) => void res.type('html').send('a secret'),
  }),
  changeAccount: forwarded({
    method: 'post',
    path: '/account/{section}',
    summary: 'The form of the page',
    isPage: true,
    responses: {},
    forward: (_req, res) => void res.redirect(303, '/account/done'),
  }),
  authorize: route({
    ...described,
    method: 'get',
    path: '/authorize',
    crossOrigin: 'navigation',
    summary: 'A redirect',
    handler: ({ reply }) => reply(204),
  }),
  showPicture: route({
    ...described,
    method: 'get',
    path: '/pictures/{key}',
    crossOrigin: 'embedding',
    summary: 'A picture',
    handler: ({ reply }) => reply(204),
  }),
  showPublished: route({
    ...described,
    method: 'get',
    path: '/published',
    crossOrigin: 'every',
    summary: 'Published content',
    handler: ({ reply }) => reply(204),
  }),
};

const plenty = { window: 60, address: 10_000, principal: 10_000 };
const { app } = thingsApplication({ default: plenty, service: plenty }, others);

const corsOf = (headers: Record<string, string>): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'));

const asked = { 'access-control-request-method': 'GET' };

describe('scripts of a configured origin', () => {
  const from = (origin: string) => request(app).get('/things').set({ origin });

  test('may read responses of the API, including errors, and the headers that clients need', async () => {
    for (const call of [from(ours).set('authorization', everything), from(ours)]) {
      const { headers } = await call;
      expect(headers).toMatchObject({
        'access-control-allow-origin': ours,
        'access-control-allow-credentials': 'true',
        vary: expect.stringContaining('Origin'),
      });
      expect(headers['access-control-expose-headers']?.split(',')).toEqual(
        expect.arrayContaining(['ETag', 'Retry-After', 'RateLimit', 'RateLimit-Policy']),
      );
      for (const name of ['X-RateLimit-Remaining', 'X-Request-Id', 'Location', 'Upload-Offset']) {
        expect(headers['access-control-expose-headers']).toContain(name);
      }
    }
  });

  test.each([
    ['another method', 405, () => request(app).delete('/things')],
    ['an unknown path below one of the API', 404, () => request(app).get('/things/7/parts')],
    ['a malformed path', 400, () => request(app).put('/things/%ff')],
    ['the OpenAPI document', 200, () => request(app).get('/docs/api.json')],
  ])('may read the response to %s', async (_what, status, call) => {
    const { headers } = await call().set('origin', ours).expect(status);
    expect(headers['access-control-allow-origin']).toBe(ours);
  });

  test.each(['https://panel.example.com.evil.example', 'http://panel.example.com', 'null'])(
    '%s gets no CORS headers, and caches keep responses apart by origin',
    async (origin) => {
      const { headers } = await from(origin).set('authorization', everything).expect(200);
      expect(corsOf(headers)).toEqual([]);
      expect(headers.vary).toContain('Origin');
    },
  );

  const preflight = (origin: string, path = '/things') =>
    request(app).options(path).set({
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,if-match',
    });

  test.each(['/things', '/things/7', '/things/7/parts'])(
    'get the allowed methods and headers by a preflight request for %s',
    async (path) => {
      const { headers } = await preflight(ours, path).expect(204);
      expect(headers).toMatchObject({
        'access-control-allow-origin': ours,
        'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
        'access-control-allow-headers': 'authorization,if-match',
        'access-control-max-age': '600',
      });
    },
  );

  test('a preflight request from any other origin gets no CORS headers', async () => {
    const { headers } = await preflight('https://evil.example').expect(204);
    expect(corsOf(headers)).toEqual([]);
  });

  test('an OPTIONS request that is not a preflight reaches the route', async () => {
    const plain = await request(app).options('/things').set('origin', ours).expect(204);
    expect(plain.headers.allow).toBe('GET, HEAD, OPTIONS');
    await request(app).options('/nothing').set('origin', ours).expect(404);
  });

  test('without configured origins, none is allowed', async () => {
    const closed: Express = thingsApplication({}, {}, []).app;
    const { headers } = await request(closed).get('/things').set('origin', ours);
    expect(corsOf(headers)).toEqual([]);
  });
});

test('what every origin may read is the same for all, without credentials', async () => {
  for (const origin of ['https://evil.example', ours]) {
    const { headers } = await request(app).get('/published').set({ origin }).expect(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toContain('ETag');
    expect([headers['access-control-allow-credentials'], headers.vary]).toEqual([
      undefined,
      undefined,
    ]);
  }
  const { headers } = await request(app)
    .options('/published')
    .set({ origin: 'https://evil.example', ...asked })
    .expect(204);
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET,HEAD',
  });
});

describe('pages and redirects', () => {
  const pages = ['/', '/docs', '/account/keys', '/authorize'];

  test.each([...pages, '/pictures/a', '/docs/reference.js', '/account', '/nothing'])(
    '%s has no CORS headers, whatever the method and the response',
    async (path) => {
      for (const method of ['get', 'head', 'post', 'put', 'delete', 'options'] as const) {
        for (const accept of ['text/html', '*/*', 'application/json']) {
          const call = request(app)[method](path).set({ origin: ours, accept });
          expect([method, corsOf((await call).headers)]).toEqual([method, []]);
        }
      }
      const preflight = await request(app)
        .options(path)
        .set({ origin: ours, ...asked });
      expect(corsOf(preflight.headers)).toEqual([]);
    },
  );

  test('have none if the request exceeds a limit', async () => {
    const limited = { window: 60, address: 1, principal: 1 };
    const { app: busy } = thingsApplication({ default: limited }, others);
    const open = () => request(busy).get('/account/keys').set({ origin: ours });
    await open().expect(200);
    expect(corsOf((await open().expect(429)).headers)).toEqual([]);
  });

  test.each(pages)('%s is not loaded by scripts or documents of other origins', async (path) => {
    const elsewhere = [
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: ours },
      { origin: 'null' },
    ];
    for (const where of elsewhere) {
      for (const mode of ['cors', 'no-cors', 'same-origin', 'websocket']) {
        const headers = { 'sec-fetch-mode': mode, ...where };
        const answer = await request(app).get(path).set(headers).expect(403);
        expect(answer.body.error).toBe('cross_origin_forbidden');
      }
    }
  });

  test.each(pages)('%s is opened from everywhere, and loaded by its own origin', async (path) => {
    for (const [site, mode] of [
      ['cross-site', 'navigate'],
      ['same-site', 'navigate'],
      ['none', 'navigate'],
      ['none', 'no-cors'],
      ['same-origin', 'cors'],
      ['same-origin', 'no-cors'],
    ] as const) {
      const headers = { 'sec-fetch-mode': mode, 'sec-fetch-site': site };
      const { status } = await request(app).get(path).set(headers);
      expect([site, mode, status < 300]).toEqual([site, mode, true]);
    }
  });

  test.each(pages)('%s is loaded by programs that are no browsers', async (path) => {
    const { status } = await request(app).get(path).set('sec-fetch-mode', 'cors');
    expect(status).toBeLessThan(300);
  });

  test('a picture is embedded by documents of every origin', async () => {
    const embedded = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' };
    await request(app).get('/pictures/a').set(embedded).expect(204);
  });

  test('a path whose methods declare different uses is an error', () => {
    const mixed = route({
      ...described,
      method: 'post',
      path: '/published',
      summary: 'Publish',
      handler: ({ reply }) => reply(204),
    });
    expect(() => thingsApplication({}, { ...others, mixed })).toThrow('/published');
  });
});
