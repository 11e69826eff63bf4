import request, { type Agent } from 'supertest';
import { origin, thingsApplication } from './testing/application.ts';
import { everything } from './testing/things.ts';

const { app, document } = thingsApplication();

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

test('the document is served unchanged', async () => {
  const { body } = await request(app).get('/docs/api.json').expect(200);
  expect(body).toEqual(JSON.parse(JSON.stringify(document)));
});

describe('requests that no route handles are counted by address', () => {
  const few = { window: 60, address: 2, principal: 0 };
  test.each([
    ['an unknown address', 'default', 404, (to: Agent) => to.get('/nothing')],
    ['a wrong method', 'default', 405, (to: Agent) => to.delete('/things')],
    ['a wrong method where ids stand', 'default', 405, (to: Agent) => to.get('/things/7')],
    ['a question for the methods', 'default', 204, (to: Agent) => to.options('/things')],
    ['a wrong method at the reference', 'service', 405, (to: Agent) => to.post('/docs')],
    ['a question for the methods there', 'service', 204, (to: Agent) => to.options('/docs')],
    ['a part of the reference', 'service', 200, (to: Agent) => to.get('/docs/api.json')],
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
