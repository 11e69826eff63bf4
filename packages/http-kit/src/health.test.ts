import express from 'express';
import request from 'supertest';
import { createLimits, errorHandler, healthRoutes, mount } from './index.ts';

const serviceThatIs = (
  ready: () => Promise<boolean>,
  unreachable = 0,
  stopAnnounced?: AbortSignal,
) => {
  const routes = healthRoutes({
    path: '/api/health',
    service: 'things',
    version: '1.2.3',
    ready,
    unreachableServers: () => unreachable,
  });
  const unlimited = { window: 60, address: 0, principal: 0 };
  const limits = createLimits<never>({
    classes: { default: unlimited, service: unlimited },
    principalKey: () => '',
  });
  const gate = { authenticate: () => Promise.reject(new Error('asked')), authorize: () => {} };
  const app = express();
  app.use((req, _res, next) => next(void Object.assign(req, { stopAnnounced })));
  app.use(mount({ Health: routes }, { gate, limits, bodyLimit: 1000 }));
  app.use(errorHandler({ render: ({ code, message }) => ({ error: code, message }) }));
  return request(app);
};

test.each(['/api/health', '/livez', '/readyz'])(
  '%s returns the service and its version',
  async (path) => {
    const { body } = await serviceThatIs(async () => true)
      .get(path)
      .expect(200);
    expect(body).toEqual({
      status: 'ok',
      service: 'things',
      version: '1.2.3',
      timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    });
  },
);

test.each([
  ['does not exist yet', async () => false],
  ['cannot be asked', () => Promise.reject(new Error('refused'))],
])('a service whose database %s is live but not ready', async (_case, ready) => {
  const service = serviceThatIs(ready);
  await service.get('/livez').expect(200);
  const { headers, body } = await service.get('/readyz').expect(503);
  expect(headers['retry-after']).toBe('1');
  expect(body.error).toBe('not_ready');
});

test('a service that is about to stop is live but not ready', async () => {
  const stop = new AbortController();
  const service = serviceThatIs(async () => true, 0, stop.signal);
  await service.get('/readyz').expect(200);
  stop.abort();
  const { body } = await service.get('/readyz').expect(503);
  expect(body).toEqual({ error: 'not_ready', message: 'The service is about to stop.' });
  await service.get('/livez').expect(200);
});

test('a service that lacks some servers of its database is ready and says so', async () => {
  const service = serviceThatIs(async () => true, 2);
  const { body } = await service.get('/readyz').expect(200);
  expect(body.unreachable_database_servers).toBe(2);
  expect((await service.get('/livez').expect(200)).body).not.toHaveProperty(
    'unreachable_database_servers',
  );
});
