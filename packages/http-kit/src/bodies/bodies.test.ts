import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { anything, int, shape } from '@tessera/fields';
import request from 'supertest';
import { binary, listen } from '../index.ts';
import { appOf, route } from '../testing/things.ts';
import { BodyBudget, BYTES_OF_REQUEST, bodyBudget } from './body-budget.ts';

const MIB = 1024 * 1024;
let finish = (): void => undefined;
/** Says when the connection of a kept request has ended. */
const closings = new EventEmitter();

const routes = {
  putBytes: route({
    method: 'put',
    path: '/bytes',
    permission: 'public',
    summary: 'Counts the bytes',
    body: binary(['application/octet-stream'], 10 * MIB),
    responses: { 200: shape({ bytes: int(0, 10 * MIB) }) },
    handler: ({ body, reply }) => reply(200, { bytes: body.length }),
  }),
  keepBytes: route({
    method: 'put',
    path: '/kept',
    permission: 'public',
    summary: 'Keeps the bytes until the test says otherwise',
    body: binary(['application/octet-stream'], 10 * MIB),
    responses: { 200: shape({ bytes: int(0, 10 * MIB) }) },
    async handler({ body, reply, res }) {
      res.once('close', () => closings.emit('close'));
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return reply(200, { bytes: body.length });
    },
  }),
};
const app = appOf({ Things: routes }, { address: 100_000 });

/** Runs a test with a server, and ends all of its connections. */
const served = async (
  run: (
    send: (from: string, ...parts: readonly (string | Buffer)[]) => Promise<Socket>,
  ) => Promise<void>,
): Promise<void> => {
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const sockets: Socket[] = [];
  try {
    await run(async (localAddress, ...parts) => {
      const socket = connect({ host: '127.0.0.1', port: server.port, localAddress });
      sockets.push(socket.on('error', () => undefined));
      await once(socket, 'connect');
      for (const part of parts) socket.write(part);
      return socket;
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop(0);
  }
};

const head = (path: string, ...lines: readonly string[]): string =>
  [
    `PUT ${path} HTTP/1.1`,
    'Host: a',
    'Content-Type: application/octet-stream',
    ...lines,
    '\r\n',
  ].join('\r\n');

const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 15_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(JSON.stringify(bodyBudget.held));
    await later(5);
  }
};

/** The response to a request with a body that arrives at once, or later. */
const answerTo = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0]);
const small = [`${head('/bytes', 'Content-Length: 3', 'Connection: close')}abc`];

/** The bytes of the heap that are in use, without those that nothing refers to. */
const heapInUse = (): number => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
};

const nothingHeld = (): Promise<void> =>
  until(() => bodyBudget.held.arriving === 0 && bodyBudget.held.handled === 0);

test('Unfinished bodies have bounded room, and the oldest ones make room for others', async () => {
  await served(async (send) => {
    const unfinished = [head('/bytes', 'Content-Length: 1000000'), 'a'];
    const places = Math.floor(BodyBudget.SHARE / BYTES_OF_REQUEST);
    const first = await send('127.0.0.1', ...unfinished);
    await until(() => bodyBudget.held.arriving > 0);
    for (let sent = 0; sent < places; sent += 100) {
      await Promise.all(Array.from({ length: 100 }, () => send('127.0.0.1', ...unfinished)));
    }
    const answer = await answerTo(first);
    expect(answer).toMatch(/^HTTP\/1.1 503 /);
    expect(answer).toMatch(/\r\nRetry-After: 1\r\n/);
    expect(answer).toContain('"error":"overloaded"');
    // The client goes on sending, and its connection ends.
    await once(first.resume(), 'close');
    expect(bodyBudget.held.arriving).toBeLessThanOrEqual(BodyBudget.SHARE);
    expect(await answerTo(await send('127.0.0.1', ...small))).toMatch(/^HTTP\/1.1 200 /);
    const inTwoParts = await send('127.0.0.1', head('/bytes', 'Content-Length: 3'));
    await later(20);
    inTwoParts.write('abc');
    expect(await answerTo(inTwoParts)).toMatch(/^HTTP\/1.1 200 /);
    const before = bodyBudget.held.arriving;
    await send('127.0.0.2', ...unfinished);
    await until(() => bodyBudget.held.arriving > before);
  });
  await nothingHeld();
}, 60_000);

test('The bytes that are in memory count, not those that are announced, and chunks of one byte take no more', async () => {
  await served(async (send) => {
    await send('127.0.0.1', head('/bytes', `Content-Length: ${10 * MIB}`));
    const socket = await send('127.0.0.1', head('/bytes', 'Transfer-Encoding: chunked'));
    const before = heapInUse();
    const chunks = '1\r\na\r\n'.repeat(10_000);
    for (let sent = 0; sent < 20; sent += 1) {
      if (!socket.write(chunks)) await once(socket, 'drain');
    }
    await until(() => bodyBudget.held.arriving >= 2 * BYTES_OF_REQUEST + 200_000);
    expect(bodyBudget.held.arriving).toBeLessThan(2 * BYTES_OF_REQUEST + 400_001);
    expect(heapInUse() - before).toBeLessThan(200_000 * 100);
    socket.write('0\r\n\r\n');
    expect(await answerTo(socket)).toContain('{"bytes":200000}');
  });
  await nothingHeld();
});

test('A body counts until its request has been handled', async () => {
  await served(async (send) => {
    const kept = await send(
      '127.0.0.1',
      head('/kept', 'Content-Length: 1000000'),
      Buffer.alloc(1_000_000),
    );
    await until(() => bodyBudget.held.handled >= 1_000_000);
    expect(bodyBudget.held.arriving).toBe(0);
    finish();
    expect(await answerTo(kept)).toContain('{"bytes":1000000}');
    await nothingHeld();
  });
});

test('A body counts until its handler has ended, even if its client has disconnected', async () => {
  await served(async (send) => {
    const parts = [head('/kept', 'Content-Length: 1000000'), Buffer.alloc(1_000_000)];
    const kept = await send('127.0.0.1', ...parts);
    await until(() => bodyBudget.held.handled >= 1_000_000);
    const isClosed = once(closings, 'close');
    kept.destroy();
    await isClosed;
    expect(bodyBudget.held.handled).toBeGreaterThanOrEqual(1_000_000);
    finish();
    await nothingHeld();
  });
});

test('One caller has at most half of the room for bodies that are being handled', () => {
  const budget = new BodyBudget(10 * MIB);
  const replace = (): void => undefined;
  const enter = (key: string) => budget.enter(key, { hasArrived: true, bytes: MIB, replace });
  const rooms = Array.from({ length: 4 }, () => enter('noisy'));
  expect(() => enter('noisy')).toThrow(
    expect.objectContaining({ status: 503, code: 'overloaded' }),
  );
  const quiet = budget.enter('quiet', { hasArrived: false, bytes: 0, replace });
  quiet.grow(MIB);
  quiet.arrive();
  for (const room of [...rooms, quiet, quiet]) room.leave();
  expect(budget.held).toEqual({ arriving: 0, handled: 0 });
});

test('A body that has left its room gets no more, which nobody would give back', () => {
  const budget = new BodyBudget(10 * MIB);
  const replace = (): void => undefined;
  const arrived = budget.enter('a', { hasArrived: true, bytes: MIB, replace });
  const arriving = budget.enter('a', { hasArrived: false, bytes: MIB, replace });
  const overloaded = expect.objectContaining({ status: 503, code: 'overloaded' });
  for (const room of [arrived, arriving]) {
    room.leave();
    expect(() => room.grow(MIB)).toThrow(overloaded);
  }
  expect(() => arriving.arrive()).toThrow(overloaded);
  expect(budget.held).toEqual({ arriving: 0, handled: 0 });
});

test('A body that arrives more slowly than the minimal pace is a 408, and a steady one is not', async () => {
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    variable: 'PORT',
    headersTimeoutMs: 800,
  });
  const send = (text: string): Socket => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(text);
    return socket;
  };
  const steady = send(head('/bytes', 'Content-Length: 100000'));
  const slow = send(head('/bytes', 'Content-Length: 100000'));
  const answers = Promise.all([steady, slow].map(answerTo));
  let sent = 0;
  const slowly = setInterval(() => slow.write('a'), 20);
  const steadily = setInterval(() => {
    const bytes = Math.min(2000, 100_000 - sent);
    if (bytes > 0) steady.write(Buffer.alloc(bytes));
    sent += bytes;
  }, 20);
  const [whole, late] = await answers;
  clearInterval(slowly);
  clearInterval(steadily);
  expect(whole).toContain('{"bytes":100000}');
  // A complete application says 408: see the tests of errors of the parser.
  expect(late).toMatch(/\r\nConnection: close\r\n/);
  for (const socket of [steady, slow]) socket.destroy();
  await server.stop(0);
});

describe('A JSON body is refused before it is parsed if it has', () => {
  const json = appOf(
    {
      Things: {
        createAnything: route({
          method: 'post',
          path: '/anything',
          permission: 'public',
          summary: 'Anything',
          body: shape({ value: anything() }),
          responses: { 200: shape({ values: int(0, 1e6) }) },
          handler: ({ body, reply }) => reply(200, { values: [body.value].flat(2).length }),
        }),
      },
    },
    { bodyLimit: MIB },
  );
  const post = (text: string) =>
    request(json)
      .post('/anything')
      .set({ 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .serialize((given: unknown) => given as string)
      .send(gzipSync(text));
  const ofText = (text: string, count: number) => `{"value":[${Array(count).fill(text)}]}`;

  test.each([
    ['too many values', ofText('0', 31_000)],
    ['too many objects', ofText('{}', 31_000)],
    ['too many members', ofText('{"a":0,"b":0}', 16_000)],
    [
      'an object with too many members',
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`key number ${i}`, i])),
      ),
    ],
    ['too many levels', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    // Such a value can be parsed, and not written again: V8 does that by recursion.
    ['too many levels in few bytes', `{"value":${'['.repeat(6000)}${']'.repeat(6000)}}`],
  ])('%s', async (_what, text) => {
    const { status, body } = await post(text);
    expect([status, body.error]).toEqual([413, 'body_too_large']);
  });

  test('and not for as many members as it may have', async () => {
    const value = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`key number ${i}`, i]),
    );
    expect((await post(JSON.stringify({ value }))).status).toBe(200);
  });

  test('and not for what its texts contain', async () => {
    const { status, body } = await post(ofText(JSON.stringify('a"\\,[{'.repeat(100)), 1000));
    expect([status, body]).toEqual([200, { values: 1000 }]);
  });
});
