import { once } from 'node:events';
import { type IncomingMessage, request as rawRequest } from 'node:http';
import { int, shape } from '@tessera/fields';
import { EventQueue, eventStream, type Listening, lastEventId, listen } from '../index.ts';
import { appOf, everything, route } from '../testing/things.ts';

const Count = shape({ n: int(0, 1e9) });
type Counted = {
  readonly event: 'count' | 'dropped';
  readonly id?: string;
  readonly data: { readonly n: number };
};

let server: Listening;
afterEach(() => server.stop(0));

/**
 * Starts a service with an event stream; records its queues, the last event ids it was sent, and which streams
 * ended.
 */
const start = async (limit = 1000, streamLifetimeMs = 60_000) => {
  const queues: EventQueue<Counted>[] = [];
  const state = { lastIds: [] as (string | undefined)[], aborted: 0, returned: 0 };
  const routes = {
    Events: {
      streamCounts: route({
        method: 'get',
        path: '/stream',
        permission: 'things.list',
        summary: 'Counts',
        responses: { 200: eventStream({ count: Count, dropped: Count }) },
        handler: ({ req, reply }) => {
          const queue = new EventQueue<Counted>({
            limit,
            overflow: { event: 'dropped', data: { n: 0 } },
          });
          state.lastIds.push(lastEventId(req));
          return reply(200, async function* (signal) {
            signal.addEventListener('abort', () => {
              state.aborted += 1;
              queue.end();
            });
            queues.push(queue);
            try {
              yield* queue;
            } finally {
              state.returned += 1;
            }
          });
        },
      }),
    },
  };
  const app = appOf(routes, { streamLifetimeMs });
  server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };
  const open = async (headers: Record<string, string> = {}) => {
    const before = queues.length;
    const sent = rawRequest(`${server.url}/stream`, {
      headers: { authorization: everything, ...headers },
    }).end();
    sent.on('error', () => undefined);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    let text = '';
    if (answer.statusCode === 200) await until(() => queues.length > before);
    const queue = queues.at(-1) as EventQueue<Counted>;
    const read = () => answer.setEncoding('utf8').on('data', (part) => (text += part));
    return { sent, answer, queue, read, text: () => text };
  };
  return { queues, state, open, until };
};

const count = (n: number): Counted => ({ event: 'count', id: `${n}`, data: { n } });

test('events are sent immediately, with their names and ids', async () => {
  const { open, until } = await start();
  const { answer, queue, read, text } = await open();
  read();
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  queue.push(count(1));
  queue.push({ event: 'count', data: { n: 2 } });
  await until(() => text().includes('"n":2'));
  expect(text()).toBe(
    'retry: 2000\n\nid: 1\nevent: count\ndata: {"n":1}\n\nevent: count\ndata: {"n":2}\n\n',
  );
  queue.end();
  await once(answer, 'end');
});

test('a client that reconnects sends the id of its last event', async () => {
  const { open, state } = await start();
  await open({ 'last-event-id': '41' });
  await open({ 'last-event-id': 'x'.repeat(201) });
  await open();
  expect(state.lastIds).toEqual(['41', 'x'.repeat(201), undefined]);
});

test('the source ends when the client disconnects', async () => {
  const { open, until, state } = await start();
  const { sent } = await open();
  sent.destroy();
  await until(() => state.aborted === 1 && state.returned === 1);
});

test('a stream ends after its lifetime, so that its client is authenticated again', async () => {
  const { open, state } = await start(1000, 100);
  const { answer, read } = await open();
  read();
  await once(answer, 'end');
  expect(state.aborted).toBe(1);
});

test('streams end at once when the server stops', async () => {
  const { open, state } = await start();
  const streams = [await open(), await open()];
  const ends = streams.map(({ answer, read }) => {
    read();
    return once(answer, 'end');
  });
  await server.stop(60_000);
  await Promise.all(ends);
  expect(state).toMatchObject({ aborted: 2 });
});

test('a client that reads too slowly is disconnected with a reason, using bounded memory', async () => {
  const { open, until, state } = await start(50);
  const { answer, queue, read, text } = await open();
  answer.pause();
  const wide = { n: 1, note: 'x'.repeat(1_000_000) };
  // The connection buffers some events before the queue fills.
  for (let n = 0; n < 50; n += 1) {
    queue.push({ event: 'count', data: wide });
    await new Promise(setImmediate);
  }
  for (let n = 0; n < 51; n += 1) queue.push(count(n));
  read();
  answer.resume();
  await until(() => answer.readableEnded);
  expect(text().endsWith('event: dropped\ndata: {"n":0}\n\n')).toBe(true);
  expect(text().length).toBeLessThan(50_000_000);
  expect(state).toMatchObject({ aborted: 1, returned: 1 });
});

test('a client with more unread bytes than its queue may hold is disconnected, however few events they are', async () => {
  const queue = new EventQueue<Counted>({
    limit: 1000,
    maxBytes: 1000,
    overflow: { event: 'dropped', data: { n: 0 } },
  });
  const wide = { event: 'count', data: { n: 1, note: 'ű'.repeat(300) } } as const;
  queue.push(wide);
  queue.push(wide);
  const sent: string[] = [];
  for await (const { event } of queue) sent.push(event);
  expect(sent).toEqual(['dropped']);
});

test('an event that alone is larger than the queue is delivered', async () => {
  const queue = new EventQueue<Counted>({
    limit: 10,
    maxBytes: 10,
    overflow: { event: 'dropped', data: { n: 0 } },
  });
  queue.push(count(1));
  queue.end();
  const sent: string[] = [];
  for await (const { event } of queue) sent.push(event);
  expect(sent).toEqual(['count']);
});

test('a stream over the limit of the principal is 429, until another one ends', async () => {
  const { open, until, state } = await start();
  const streams = [];
  for (let n = 0; n < 20; n += 1) streams.push(await open());
  const refused = await open();
  expect([refused.answer.statusCode, refused.answer.headers['retry-after']]).toEqual([429, '10']);
  refused.read();
  await until(() => refused.text().includes('"too_many_streams"'));
  const other = await open({ authorization: 'bob things.list' });
  expect(other.answer.statusCode).toBe(200);
  streams[0]?.sent.destroy();
  await until(() => state.returned === 1);
  expect((await open()).answer.statusCode).toBe(200);
});

test('a stream requires its permission like every route', async () => {
  const { open } = await start();
  const { answer } = await open({ authorization: 'ann things.update' });
  expect(answer.statusCode).toBe(403);
});
