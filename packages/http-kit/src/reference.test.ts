import express from 'express';
import request from 'supertest';
import { errorHandler, reference, securityHeaders, unknownRoute } from './index.ts';

const app = express();
app.use(securityHeaders());
app.use(
  reference('Things', { '/docs/api.json': { openapi: '3.1.0' } }, (_req, _res, next) => next()),
);
app.use(unknownRoute, errorHandler({ render: ({ message }) => ({ message }) }));

test('the documents are JSON that may be kept for a while', async () => {
  const { headers, body } = await request(app).get('/docs/api.json').expect(200);
  expect(body).toEqual({ openapi: '3.1.0' });
  expect(headers['content-type']).toContain('application/json');
  expect(headers['cache-control']).toBe('public, max-age=300');
});

test('the page runs scripts of its own address alone, and all that it names is there', async () => {
  const { text, headers } = await request(app).get('/docs').expect(200);
  expect(headers['content-security-policy']).toContain("script-src 'self';");
  expect(text).not.toMatch(/<script>|<script [^>]*>[^<]/);
  const named = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path as string);
  expect(named.length).toBeGreaterThanOrEqual(3);
  for (const path of named) {
    const asset = await request(app).get(path).expect(200);
    expect(asset.headers['content-type']).toMatch(/javascript|css/);
    expect(asset.headers['cache-control']).toMatch(/^public, max-age=/);
  }
});

test('nothing else of the reader is served', async () => {
  for (const file of ['index.html', 'package.json', 'swagger-ui.js', '..%2fpackage.json']) {
    const { headers } = await request(app).get(`/docs/assets/${file}`).expect(404);
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('a wrong method is 405', async () => {
  const { headers } = await request(app).post('/docs/api.json').expect(405);
  expect(headers.allow).toBe('GET, HEAD, OPTIONS');
});
