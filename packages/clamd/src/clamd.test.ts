import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { clamdAddress, createClamd } from './index.ts';
import { type ClamdStandIn, eicar, startClamdStandIn } from './testing/index.ts';

const MAX_BYTES = 300_000;

let clamd: ClamdStandIn;
beforeAll(async () => {
  clamd = await startClamdStandIn(new Map([['Eicar-Test', eicar]]), { maxBytes: MAX_BYTES });
});
afterEach(() => clamd.reply(undefined));
afterAll(() => clamd.stop());

const scanner = (idleMs?: number) =>
  createClamd(clamdAddress(clamd.url), idleMs === undefined ? {} : { idleMs });

async function* parts(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

test('A content is sent completely, in chunks of any size, and an empty chunk does not end it', async () => {
  const before = clamd.scanned.length;
  expect(await scanner().scan(parts(Buffer.alloc(MAX_BYTES), 70_001))).toEqual({ status: 'clean' });
  expect(await scanner().scan(parts(eicar, 1))).toEqual({
    status: 'infected',
    signature: 'Eicar-Test',
  });
  const [start, end] = [eicar.subarray(0, 10), eicar.subarray(10)];
  const withGap = (async function* () {
    yield* [start, Buffer.alloc(0), end];
  })();
  expect(await scanner().scan(withGap)).toMatchObject({ status: 'infected' });
  expect(await scanner().scan(parts(Buffer.alloc(0), 1))).toEqual({ status: 'clean' });
  expect(clamd.scanned.slice(before)).toEqual([MAX_BYTES, eicar.length, eicar.length, 0]);
});

test('A content that is too large for clamd is unscannable, and the rest of it is not read', async () => {
  let isClosed = false;
  const endless = (async function* () {
    try {
      for (;;) yield Buffer.alloc(100_000);
    } finally {
      isClosed = true;
    }
  })();
  expect(await scanner().scan(endless)).toEqual({
    status: 'unscannable',
    reason: 'INSTREAM size limit exceeded',
  });
  while (!isClosed) await new Promise(setImmediate);
});

test('A content that exceeds a limit within clamd is unscannable, not infected', async () => {
  clamd.reply('stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND');
  expect(await scanner().scan(parts(Buffer.from('a'), 1))).toEqual({
    status: 'unscannable',
    reason: 'Heuristics.Limits.Exceeded.MaxFileSize',
  });
});

test('A scan fails after an error, an unknown reply, no reply, an abort or an unreadable content', async () => {
  const scan = (signal?: AbortSignal) => scanner(300).scan(parts(Buffer.from('a'), 1), signal);
  for (const reply of ['Can not create temporary file. ERROR', 'stream: ', 'OK', '']) {
    clamd.reply(reply);
    await expect(scan()).rejects.toThrow(`clamd could not scan: ${reply}`);
  }
  clamd.reply('never');
  await expect(scan()).rejects.toThrow('clamd did not answer within 300 ms.');
  const stop = new AbortController();
  const aborted = scanner().scan(parts(Buffer.from('a'), 1), stop.signal);
  const seen = clamd.scanned.length;
  while (clamd.scanned.length === seen) await new Promise(setImmediate);
  stop.abort(new Error('stopped'));
  await expect(aborted).rejects.toThrow('stopped');
  clamd.reply(undefined);
  const unreadable = (async function* () {
    yield Buffer.from('a');
    throw new Error('the store is unavailable');
  })();
  await expect(scanner().scan(unreadable)).rejects.toThrow('the store is unavailable');
});

test('A scan fails if clamd is down, closes the connection or sends a reply that does not end', async () => {
  const scan = () => scanner().scan(parts(Buffer.from('a'), 1));
  await clamd.kill();
  await expect(scan()).rejects.toThrow('ECONNREFUSED');
  await clamd.restart();
  expect(await scan()).toEqual({ status: 'clean' });

  const serve = async (server: Server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return createClamd({ host: '127.0.0.1', port });
  };
  const closing = createServer((socket) => void socket.once('data', () => socket.end()));
  await expect((await serve(closing)).scan(parts(eicar, 1))).rejects.toThrow('without a reply');
  closing.close();
  const babbling = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('x'.repeat(20_000)));
  });
  await expect((await serve(babbling)).scan(parts(eicar, 1))).rejects.toThrow('does not end');
  babbling.close();
});

test('An address is a TCP port or a socket', () => {
  expect(clamdAddress('tcp://clamd.example.com')).toEqual({
    host: 'clamd.example.com',
    port: 3310,
  });
  expect(clamdAddress('tcp://[::1]:3311')).toEqual({ host: '::1', port: 3311 });
  expect(clamdAddress('unix:/run/clamav/clamd.ctl')).toEqual({ path: '/run/clamav/clamd.ctl' });
  expect(clamdAddress('unix:///run/clamd.ctl')).toEqual({ path: '/run/clamd.ctl' });
});
