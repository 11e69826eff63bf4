import request from 'supertest';
import { appOf, everything, things } from './testing/things.ts';

const listThings = (app: ReturnType<typeof appOf>, as = everything) =>
  request(app).get('/things').set('authorization', as);

test('a principal over the limit is 429 with Retry-After', async () => {
  const app = appOf({ Things: things }, { address: 10, principal: 2 });
  const first = await listThings(app).expect(200);
  expect(first.headers).toMatchObject({
    'ratelimit-policy': '"default-address"; q=10; w=60, "default-principal"; q=2; w=60',
    ratelimit: expect.stringMatching(
      /^"default-address"; r=9; t=\d+, "default-principal"; r=1; t=\d+$/,
    ),
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
  });
  await listThings(app).expect(200);
  const refused = await listThings(app).expect(429);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(refused.headers['x-ratelimit-remaining']).toBe('0');
  expect(refused.headers.ratelimit).toContain('"default-principal"; r=0;');
  expect(refused.body.error).toBe('rate_limited');
  await listThings(app, 'bob things.list').expect(200);
});

test('an address over the limit is 429 before authentication', async () => {
  const app = appOf({ Things: things }, { address: 2, principal: 2 });
  await request(app).get('/things').expect(401);
  await request(app).get('/things').expect(401);
  const refused = await request(app).get('/things').expect(429);
  expect(refused.headers).toMatchObject({
    'ratelimit-policy': '"default-address"; q=2; w=60',
    'x-ratelimit-limit': '2',
    'retry-after': expect.stringMatching(/^\d+$/),
  });
});

test('the client address is read from X-Forwarded-For through the trusted proxies, from the right', async () => {
  const app = appOf({ Things: things }, { address: 1 }).set('trust proxy', 1);
  const from = (forwarded: string) => request(app).get('/things').set('x-forwarded-for', forwarded);
  await from('203.0.113.1, 203.0.113.7').expect(401);
  await from('203.0.113.2, 203.0.113.7').expect(429);
  await from('203.0.113.7, 203.0.113.8').expect(401);
});

test('a header of a proxy that is not trusted has no effect', async () => {
  const app = appOf({ Things: things }, { address: 1 });
  await request(app).get('/things').set('x-forwarded-for', '203.0.113.1').expect(401);
  await request(app).get('/things').set('x-forwarded-for', '203.0.113.2').expect(429);
});

test('a stage with limit 0 is off and sends no headers', async () => {
  const app = appOf({ Things: things }, { address: 0, principal: 0 });
  const answer = await listThings(app).expect(200);
  expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
});
