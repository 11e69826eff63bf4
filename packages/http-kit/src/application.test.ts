import request, { type Agent } from 'supertest';
import { origin, thingsApplication } from './testing/application.ts';
import { everything } from './testing/things.ts';

const { app, document } = thingsApplication();

test.each([
  ['an answer', 200, () => request(app).get('/things').set('authorization', everything)],
  ['an unauthenticated caller', 401, () => request(app).get('/things')],
  ['an unknown address', 404, () => request(app).get('/things/7/nothing')],
  ['a malformed address', 400, () => request(app).put('/things/%ff')],
  ['a wrong method', 405, () => request(app).delete('/things')],
  ['the OpenAPI document', 200, () => request(app).get('/docs/api.json')],
])(
  '%s gets a response with a request id, security headers and CORS headers',
  async (_case, status, call) => {
    const { headers } = await call().set('origin', origin).expect(status);
    expect(headers).toMatchObject({
      'x-request-id': expect.any(String),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  },
);

test('the OpenAPI document is served unchanged', async () => {
  const { body } = await request(app).get('/docs/api.json').expect(200);
  expect(body).toEqual(JSON.parse(JSON.stringify(document)));
});

describe('requests that no route handles are counted by address', () => {
  const few = { window: 60, address: 2, principal: 0 };
  test.each([
    ['an unknown address', 'default', 404, (to: Agent) => to.get('/nothing')],
    ['a malformed address', 'default', 400, (to: Agent) => to.put('/things/%ff')],
    ['a wrong method', 'default', 405, (to: Agent) => to.delete('/things')],
    ['a wrong method on a path with an id', 'default', 405, (to: Agent) => to.get('/things/7')],
    ['an OPTIONS request', 'default', 204, (to: Agent) => to.options('/things')],
    ['a wrong method on the API reference', 'service', 405, (to: Agent) => to.post('/docs')],
    [
      'an OPTIONS request for the API reference',
      'service',
      204,
      (to: Agent) => to.options('/docs'),
    ],
    ['a module of the API reference', 'service', 200, (to: Agent) => to.get('/docs/api.json')],
    [
      'a preflight request',
      'service',
      204,
      (to: Agent) => to.options('/things').set({ origin, 'access-control-request-method': 'PUT' }),
    ],
  ])('%s', async (_case, limitClass, status, call) => {
    const client = request(thingsApplication({ [limitClass]: few }).app) as unknown as Agent;
    for (let sent = 0; sent < 2; sent += 1) await call(client).expect(status);
    const { headers } = await call(client).expect(429);
    expect(headers).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/) });
  });
});
