import { shape, text } from '@tessera/fields';
import request from 'supertest';
import { createApplication, createLimits, createLogger, createMetrics } from './index.ts';
import { type Caller, everything, gate, things } from './testing/things.ts';

const origin = 'https://panel.example.com';
const everyone = { window: 60, address: 100, principal: 100 };

const { app, document } = createApplication<Caller>({
  groups: { Things: things },
  about: {
    title: 'Things',
    version: '1.0.0',
    description: '',
    error: shape({ message: text(500) }),
    problems: {},
  },
  limits: createLimits({
    classes: { default: everyone, service: everyone },
    principalKey: ({ name }) => name,
  }),
  gate,
  bodyLimit: 1000,
  logger: createLogger('things', 'silent'),
  metrics: createMetrics(),
  trustedProxies: 0,
  cors: { origins: [origin], credentials: true },
  observers: [],
  render: ({ code, message }) => ({ error: code, message }),
});

test.each([
  ['an answer', 200, () => request(app).get('/things').set('authorization', everything)],
  ['a caller who is not known', 401, () => request(app).get('/things')],
  ['an unknown address', 404, () => request(app).get('/nothing')],
  ['a malformed address', 400, () => request(app).put('/things/%ff')],
  ['a wrong method', 405, () => request(app).delete('/things')],
  ['a page of the reference', 200, () => request(app).get('/docs')],
])('%s carries its id, is safe in a browser and readable by ours', async (_case, status, call) => {
  const { headers } = await call().set('origin', origin).expect(status);
  expect(headers).toMatchObject({
    'x-request-id': expect.any(String),
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
  });
  expect(headers).not.toHaveProperty('x-powered-by');
});

test('the document is served as it is given', async () => {
  const { body } = await request(app).get('/docs/api.json').expect(200);
  expect(body).toEqual(JSON.parse(JSON.stringify(document)));
});
