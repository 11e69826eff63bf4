import express from 'express';
import request from 'supertest';
import { errorHandler, reference, securityHeaders, unknownRoute } from './index.ts';

const app = express();
app.use(securityHeaders());
app.use(
  reference('Things', { '/docs/api.json': () => ({ openapi: '3.1.0' }) }, (_req, _res, next) =>
    next(),
  ),
);
app.use(unknownRoute, errorHandler({ render: ({ message }) => ({ message }) }));

test('the documents are JSON that may be cached for a while', async () => {
  const { headers, body } = await request(app).get('/docs/api.json').expect(200);
  expect(body).toEqual({ openapi: '3.1.0' });
  expect(headers['content-type']).toContain('application/json');
  expect(headers['cache-control']).toBe('public, max-age=300');
});

test('the page runs only scripts of its own origin, and everything that it refers to exists', async () => {
  const { text, headers } = await request(app).get('/docs').expect(200);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline/);
  expect(text).not.toMatch(/<script>|<script [^>]*>[^<]/);
  const named = [...text.matchAll(/(?:src|href|data-reader)="(\/[^"]+)"/g)].map(([, path]) => path);
  expect(new Set(named).size).toBe(4);
  for (const path of named as string[]) {
    const asset = await request(app).get(path).expect(200);
    expect(asset.headers['content-type']).toMatch(/javascript|css|json/);
    expect(asset.headers['cache-control']).toMatch(/^public, max-age=/);
    expect(asset.headers['x-content-type-options']).toBe('nosniff');
  }
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
])(
  'a client that accepts %s gets the same content in %s, and 304 afterwards',
  async (accepted, encoding) => {
    const get = (headers: object) =>
      request(app)
        .get('/docs')
        .set({ 'accept-encoding': accepted, ...headers });
    const plain = await get({ 'accept-encoding': 'identity' }).expect(200);
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const { headers, text } = await get({}).expect(200);
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      vary: expect.stringContaining('Accept-Encoding'),
    });
    expect(text).toBe(plain.text);
    expect(Number(headers['content-length'])).toBeLessThan(text.length);
    await get({ 'if-none-match': headers.etag }).expect(304);
    await get({ 'if-none-match': plain.headers.etag }).expect(200);
  },
);

test('the whole reader is small when compressed', async () => {
  const { text } = await request(app).get('/docs');
  const reader = String(/data-reader="([^"]+)"/.exec(text)?.[1]);
  const { headers } = await request(app).head(reader).set('accept-encoding', 'br').expect(200);
  expect(Number(headers['content-length'])).toBeLessThan(200_000);
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test('no other file of the reader is served', async () => {
  const { text } = await request(app).get('/docs');
  const folder = String(/data-reader="([^"]+)standalone/.exec(text)?.[1]);
  for (const file of ['standalone.esm.js.map', 'chunks', '..%2fpackage.json', 'index.js']) {
    const { headers } = await request(app)
      .get(folder + file)
      .expect(404);
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('a wrong method is 405', async () => {
  const { headers } = await request(app).post('/docs/api.json').expect(405);
  expect(headers.allow).toBe('GET, HEAD, OPTIONS');
});
