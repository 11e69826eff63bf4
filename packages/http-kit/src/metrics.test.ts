import { setTimeout as later } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { Gauge } from 'prom-client';
import request from 'supertest';
import { createMetrics, empty } from './index.ts';
import { appOf, everything, id, route, things } from './testing/things.ts';

test('requests are measured by operation and status, whatever ids their paths contain', async () => {
  const metrics = createMetrics();
  const app = appOf({ Things: things }, {}, metrics.observe);
  await request(app).get('/things').set('authorization', everything).expect(200);
  await request(app).get('/things').expect(401);
  await request(app).put(`/things/${id}`).expect(401);
  await request(app).get(`/nothing/${id}`).expect(404);
  const { text, headers } = await request(metrics.server).get('/metrics').expect(200);
  expect(headers['content-type']).toContain('text/plain');
  const counted = (labels: string) => text.includes(`_count{${labels}} 1\n`);
  expect(counted('operation="listThings",method="GET",status="200"')).toBe(true);
  expect(counted('operation="listThings",method="GET",status="401"')).toBe(true);
  expect(counted('operation="updateThing",method="PUT",status="401"')).toBe(true);
  expect(counted('operation="unknown",method="GET",status="404"')).toBe(true);
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).not.toContain(id);
});

test('a request whose client disconnects early is not counted as a success', async () => {
  const metrics = createMetrics();
  const leaves: RequestHandler = (req) => void req.socket.destroy();
  const app = appOf({ Things: things }, {}, metrics.observe, leaves);
  await expect(request(app).get('/things')).rejects.toThrow('socket hang up');
  const { text } = await request(metrics.server).get('/metrics');
  expect(text).toContain('method="GET",status="cut off"} 1');
});

test('a metric that cannot be collected fails the response, not the process', async () => {
  const { registry, server } = createMetrics();
  let isAway = true;
  new Gauge({
    name: 'rows',
    help: 'Rows',
    registers: [registry],
    collect() {
      if (isAway) throw new Error('the database is unavailable');
      this.set(7);
    },
  });
  await request(server).get('/metrics').expect(500);
  isAway = false;
  expect((await request(server).get('/metrics?x=1').expect(200)).text).toContain('rows 7');
});

test('the port of the metrics serves nothing else', async () => {
  const { server } = createMetrics();
  await request(server).get('/').expect(404);
  await request(server).post('/metrics').expect(404);
});

test('the event loop is attributed to the operation that kept it, in each of its steps', async () => {
  const metrics = createMetrics();
  const busy = (ms: number): void => {
    for (const end = performance.now() + ms; performance.now() < end; );
  };
  const blocks = (path: `/${string}`, work: () => Promise<void>) =>
    route({
      method: 'post',
      path,
      permission: 'public',
      summary: 'Keeps the event loop',
      responses: { 204: empty },
      async handler({ reply }) {
        await work();
        return reply(204);
      },
    });
  const app = appOf(
    {
      Things: things,
      Others: {
        blocksAtOnce: blocks('/at-once', async () => busy(60)),
        blocksLater: blocks('/later', async () => {
          await later(30);
          busy(60);
        }),
        waits: blocks('/waits', () => later(100)),
      },
    },
    {},
    metrics.observe,
  );
  await request(app).post('/at-once').expect(204);
  await request(app).post('/later').expect(204);
  await request(app).post('/waits').expect(204);
  const counted = async () => {
    const { text } = await request(metrics.server).get('/metrics');
    const value = (operation: string): number =>
      Number(
        new RegExp(`^eventloop_blocked_seconds_sum{operation="${operation}"} (.+)$`, 'm').exec(
          text,
        )?.[1] ?? 0,
      );
    return { atOnce: value('blocksAtOnce'), later: value('blocksLater'), waits: value('waits') };
  };
  // The last stretch is recorded by the next cut, which is a timer at the latest.
  const limit = performance.now() + 10_000;
  while ((await counted()).later < 0.06 && performance.now() < limit) await later(5);
  const found = await counted();
  expect(found.atOnce).toBeGreaterThanOrEqual(0.06);
  expect(found.later).toBeGreaterThanOrEqual(0.06);
  expect(found.waits).toBeLessThan(found.later);
});
