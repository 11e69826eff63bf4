import type { RequestHandler } from 'express';
import request from 'supertest';
import { crossOrigin, securityHeaders } from './index.ts';
import { appOf, everything, things } from './testing/things.ts';

const app = appOf({ Things: things }, {}, securityHeaders());

test('a response cannot be run, framed, sniffed or stored', async () => {
  const { headers } = await request(app).get('/things').set('authorization', everything);
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': expect.stringContaining('max-age='),
  });
});

const unlimited: RequestHandler = (_req, _res, next) => next();

describe('browsers of other origins', () => {
  const ours = 'https://panel.example.com';
  const open = appOf(
    { Things: things },
    {},
    crossOrigin({ origins: [ours], credentials: true }, unlimited),
  );
  const from = (origin: string) => request(open).get('/things').set({ origin });

  test('an allowed origin may read responses, including errors, and the headers that clients need', async () => {
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
    const wrong = await request(open).delete('/things').set('origin', ours).expect(405);
    expect(wrong.headers['access-control-allow-origin']).toBe(ours);
  });

  test.each(['https://panel.example.com.evil.example', 'http://panel.example.com', 'null'])(
    '%s gets no CORS headers, and caches keep responses apart by origin',
    async (origin) => {
      const { headers } = await from(origin).set('authorization', everything).expect(200);
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers.vary).toContain('Origin');
    },
  );

  const preflight = (origin: string) =>
    request(open).options('/things').set({
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,if-match',
    });

  test('a preflight request from an allowed origin gets the allowed methods and headers', async () => {
    const { headers } = await preflight(ours).expect(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': ours,
      'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
      'access-control-allow-headers': 'authorization,if-match',
      'access-control-max-age': '600',
    });
  });

  test('open paths are the same for every origin, without credentials, and other paths are not open', async () => {
    const partly = appOf(
      { Things: things },
      {},
      crossOrigin(
        { origins: [ours], credentials: true, isOpen: (path) => path === '/things' },
        unlimited,
      ),
    );
    for (const origin of ['https://evil.example', ours]) {
      const { headers } = await request(partly)
        .get('/things')
        .set({ origin, authorization: everything })
        .expect(200);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']).toContain('ETag');
      expect([headers['access-control-allow-credentials'], headers.vary]).toEqual([
        undefined,
        undefined,
      ]);
    }
    const asked = { origin: 'https://evil.example', 'access-control-request-method': 'GET' };
    const open = await request(partly).options('/things').set(asked).expect(204);
    expect(open.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET,HEAD',
    });
    const closed = await request(partly).get('/others').set(asked);
    expect(closed.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('a preflight request from any other origin gets no CORS headers', async () => {
    const { headers } = await preflight('https://evil.example').expect(204);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('an OPTIONS request that is not a preflight reaches the route', async () => {
    const plain = await request(open).options('/things').set('origin', ours).expect(204);
    expect(plain.headers.allow).toBe('GET, HEAD, OPTIONS');
    await request(open).options('/nothing').set('origin', ours).expect(404);
  });

  test('without configured origins, no origin is allowed', async () => {
    const closed = appOf(
      { Things: things },
      {},
      crossOrigin({ origins: [], credentials: true }, unlimited),
    );
    const { headers } = await request(closed).get('/things').set('origin', ours);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});
