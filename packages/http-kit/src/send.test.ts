import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { nullable, oneOf, shape, text, time } from '@tessera/fields';
import request from 'supertest';
import { exportFormat, exportHeaders, listExports, listen } from './index.ts';
import { appOf, route } from './testing/things.ts';

type Line = { name: string; at: Date; note: string | null };
const lines: Line[] = [
  { name: 'Ann "A"', at: new Date(0), note: null },
  { name: '=1+1', at: new Date(1), note: '-2, @x\nnext' },
];

/** A source of batches that records how it was used. */
const source = (batches: readonly (readonly Line[])[], then?: Error) => {
  const state = { asked: 0, hasEnded: false };
  const rows = async function* () {
    try {
      for (const batch of batches) {
        state.asked += 1;
        yield batch;
      }
      if (then) throw then;
    } finally {
      state.hasEnded = true;
    }
  };
  return { state, rows };
};

const listExport = listExports({
  shape: (data) => shape({ success: oneOf(true), data }),
  members: { success: true },
});
const Item = shape({ name: text(10), at: time(), note: nullable(text(2000)) });
const things = listExport({ name: 'things', item: Item });

const appWith = (rows: () => AsyncIterable<readonly Line[]>) =>
  appOf({
    Export: {
      exportThings: route({
        method: 'get',
        path: '/export',
        permission: 'public',
        summary: 'Export',
        query: shape({ format: exportFormat }),
        responses: { 200: things.response },
        responseHeaders: exportHeaders,
        handler: ({ query, reply }) => reply(200, ...things.file(query.format, rows())),
      }),
    },
  });

test('a failure at the start is rendered as an error; a later one cuts the response off', async () => {
  await request(appWith(source([], new Error('gone')).rows))
    .get('/export')
    .expect(500);
  const broken = request(appWith(source([lines], new Error('gone')).rows)).get('/export');
  await expect(broken).rejects.toThrow();
});

test('production stops when the connection is closed because of a malformed request body', async () => {
  const { rows, state } = source(Array.from({ length: 1000 }, () => lines));
  let isAsked = false;
  let begin = (): void => undefined;
  const held = async function* () {
    isAsked = true;
    await new Promise<void>((resolve) => {
      begin = resolve;
    });
    yield* rows();
  };
  const server = await listen(appWith(held), { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /export HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  while (!isAsked) await new Promise(setImmediate);
  socket.write('zz\r\n');
  expect(String(Buffer.concat(await socket.toArray()))).toMatch(/^HTTP\/1\.1 4\d\d /);
  begin();
  while (!state.hasEnded) await new Promise(setImmediate);
  expect(state.asked).toBeLessThan(10);
  await server.stop();
});

test('HEAD produces only the first chunk', async () => {
  const { rows, state } = source([lines, lines, lines]);
  await request(appWith(rows)).head('/export').expect(200);
  expect(state).toEqual({ asked: 1, hasEnded: true });
});

test('chunks are produced no faster than the client reads, and none after it disconnects', async () => {
  const wide = Array.from(
    { length: 1000 },
    () => ({ ...lines[0], note: 'x'.repeat(1000) }) as Line,
  );
  const { rows, state } = source(Array.from({ length: 1000 }, () => wide));
  const server = await listen(appWith(rows), { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const asked = rawRequest(`${server.url}/export`).end();
  const [answer] = await once(asked, 'response');
  answer.pause();
  // Reading pauses when the buffers are full: only a small part of a gigabyte is requested.
  for (let before = -1; before !== state.asked; ) {
    before = state.asked;
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  }
  expect(state.asked).toBeLessThan(200);
  expect(state.hasEnded).toBe(false);
  asked.destroy();
  while (!state.hasEnded) await new Promise(setImmediate);
  expect(state.asked).toBeLessThan(200);
  await server.stop();
});
