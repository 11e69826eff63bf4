import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import { Readable } from 'node:stream';
import request from 'supertest';
import { type ByteRange, fileResponse, listen, type ServedFile } from '../index.ts';
import { appOf, route } from '../testing/things.ts';

const content = Buffer.from('0123456789');
const lastModified = new Date('2026-03-01T10:00:00.500Z');

const appWith = (given: Partial<ServedFile> = {}) => {
  const opened: (ByteRange | undefined)[] = [];
  const file: ServedFile = {
    type: 'text/plain',
    size: content.length,
    etag: 'v1',
    lastModified,
    name: 'report.txt',
    open(range) {
      opened.push(range);
      return Readable.from([range ? content.subarray(range.start, range.end + 1) : content]);
    },
    ...given,
  };
  const app = appOf({
    Files: {
      getFile: route({
        method: 'get',
        path: '/file',
        permission: 'public',
        summary: 'File',
        responses: { 200: fileResponse('*/*') },
        handler: ({ reply }) => reply(200, file),
      }),
    },
  });
  const get = (headers: Record<string, string> = {}) => request(app).get('/file').set(headers);
  return { app, opened, get };
};

test('a file is sent completely, with the headers for caching and resuming', async () => {
  const { status, text, headers } = await appWith().get();
  expect([status, text]).toEqual([200, '0123456789']);
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '10',
    'content-disposition': 'attachment; filename=report.txt',
    'accept-ranges': 'bytes',
    etag: '"v1"',
    'last-modified': 'Sun, 01 Mar 2026 10:00:00 GMT',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining('sandbox'),
  });
});

test.each([
  ['bytes=2-4', '234', 'bytes 2-4/10'],
  ['bytes=7-', '789', 'bytes 7-9/10'],
  ['bytes=-2', '89', 'bytes 8-9/10'],
  ['bytes=-10', '0123456789', 'bytes 0-9/10'],
  ['bytes=-99', '0123456789', 'bytes 0-9/10'],
  ['bytes=5-99', '56789', 'bytes 5-9/10'],
])('the range %s is sent, and only that range is opened', async (range, text, contentRange) => {
  const { get, opened } = appWith();
  const answer = await get({ range });
  expect([answer.status, answer.text]).toEqual([206, text]);
  expect(answer.headers['content-range']).toBe(contentRange);
  expect(answer.headers['content-length']).toBe(String(text.length));
  expect(opened).toHaveLength(1);
  expect(opened[0]).toBeDefined();
});

test.each(['bytes=0-1,5-6', 'bytes=0-1,-99', 'pages=1-2', 'bytes=x', 'bytes=-', 'bytes=4-2'])(
  'the range %s is ignored, and the whole file is sent',
  async (range) => {
    const answer = await appWith().get({ range });
    expect([answer.status, answer.text]).toEqual([200, '0123456789']);
  },
);

test.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])(
  'the range %s is 416 with the size of the file',
  async (range) => {
    const { get, opened } = appWith();
    const answer = await get({ range });
    expect([answer.status, answer.body.error]).toEqual([416, 'range_not_satisfiable']);
    expect(answer.headers['content-range']).toBe('bytes */10');
    expect(opened).toEqual([]);
  },
);

test.each(['bytes=0-', 'bytes=-1', 'bytes=-0'])(
  'the range %s of an empty file is 416',
  async (range) => {
    const answer = await appWith({ size: 0 }).get({ range });
    expect([answer.status, answer.headers['content-range']]).toEqual([416, 'bytes */0']);
  },
);

test.each([
  [{ 'if-none-match': '"v1"' }, 304],
  [{ 'if-none-match': '"v0", W/"v1"' }, 304],
  [{ 'if-none-match': '*' }, 304],
  [{ 'if-none-match': '"v1"', 'cache-control': 'no-cache' }, 304],
  [{ 'if-none-match': '"v0"' }, 200],
  [{ 'if-modified-since': lastModified.toUTCString() }, 304],
  [{ 'if-modified-since': new Date(0).toUTCString() }, 200],
  [{ 'if-none-match': '"v0"', 'if-modified-since': lastModified.toUTCString() }, 200],
  [{ 'if-match': '"v1"' }, 200],
  [{ 'if-match': '*' }, 200],
  [{ 'if-match': '"v0"' }, 412],
  [{ 'if-match': 'W/"v1"' }, 412],
  [{ 'if-unmodified-since': new Date(0).toUTCString() }, 412],
  [{ 'if-none-match': '"v1"', range: 'bytes=0-1' }, 304],
  [{ 'if-range': '"v1"', range: 'bytes=0-1' }, 206],
  [{ 'if-range': '"v0"', range: 'bytes=0-1' }, 200],
  [{ 'if-range': 'W/"v1"', range: 'bytes=0-1' }, 200],
  [{ 'if-range': '"v0"', range: 'bytes=99-' }, 200],
  [{ 'if-range': lastModified.toUTCString(), range: 'bytes=0-1' }, 206],
  [{ 'if-range': new Date(0).toUTCString(), range: 'bytes=0-1' }, 200],
])('a request with %j gets status %i', async (headers, status) => {
  const { get, opened } = appWith();
  const answer = await get(headers as Record<string, string>);
  expect(answer.status).toBe(status);
  if (status === 304) {
    // The file may have been renamed since the client has stored it.
    expect(answer.headers).toMatchObject({
      etag: '"v1"',
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment; filename=report.txt',
    });
  }
  expect(opened).toHaveLength(status < 300 ? 1 : 0);
});

test('HEAD describes the whole file without opening it and ignores a range', async () => {
  const { app, opened } = appWith();
  const answer = await request(app).head('/file').set('range', 'bytes=0-1');
  expect([answer.status, answer.headers['content-length']]).toEqual([200, '10']);
  expect(opened).toEqual([]);
});

test.each<[Partial<ServedFile>, string]>([
  [
    { name: 'Árvíz "x".pdf' },
    `attachment; filename="?rv?z \\"x\\".pdf"; filename*=UTF-8''%C3%81rv%C3%ADz%20%22x%22.pdf`,
  ],
  [{ name: 'a\r\nSet-Cookie: x=1' }, 'attachment; filename="aSet-Cookie: x=1"'],
  [{ name: '..\\..\\a/b.txt' }, 'attachment; filename=.._.._a_b.txt'],
  [{ name: 'invoice\u202efdp.exe' }, 'attachment; filename=invoicefdp.exe'],
  [{ type: 'image/png', disposition: 'inline', name: 'a.png' }, 'inline; filename=a.png'],
  [{ type: 'text/html', disposition: 'inline', name: 'a.html' }, 'attachment; filename=a.html'],
  [{ type: 'image/svg+xml', disposition: 'inline', name: 'a' }, 'attachment; filename=a'],
])('%j is sent under a safe name', async (file, disposition) => {
  const { headers } = await appWith(file).get();
  expect(headers['content-disposition']).toBe(disposition);
});

test('a failure before the first byte is rendered as an error', async () => {
  const open = () => Promise.reject(new Error('gone'));
  const { status, headers } = await appWith({ open }).get();
  expect([status, headers['content-disposition']]).toEqual([500, undefined]);
  expect(headers.etag).not.toBe('"v1"');
});

test.each([
  ['fewer', '012345'],
  ['more', '0123456789abc'],
])('a source of %s bytes than announced breaks the response off', async (_what, text) => {
  const open = () => Readable.from([Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))]);
  await expect(appWith({ open }).get()).rejects.toThrow();
});

test('the source is closed when the client disconnects, and is read no faster than the client reads', async () => {
  const size = 1_000_000_000;
  let read = 0;
  const source = new Readable({
    read() {
      read += 1;
      this.push(Buffer.alloc(64 * 1024));
    },
  });
  const server = await listen(appWith({ size, open: () => source }).app, {
    host: '127.0.0.1',
    port: 0,
    variable: 'PORT',
  });
  const asked = rawRequest(`${server.url}/file`).end();
  asked.on('error', () => undefined);
  const [answer] = await once(asked, 'response');
  answer.pause();
  for (let before = -1; before !== read; ) {
    before = read;
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  }
  expect(read).toBeLessThan(1000);
  asked.destroy();
  while (!source.closed) await new Promise(setImmediate);
  await server.stop(0);
});
