import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import { int, optional, shape, text, validate } from '@tessera/fields';
import request from 'supertest';
import { type FileBodyOptions, fileBody, type Listening, listen } from '../index.ts';
import { appOf, route } from '../testing/things.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const Answer = shape({ type: text(100), size: int(0, 1e9), name: text(200), note: text(200) });

/** How reading ended, for each file that a handler began to read. */
type Outcome = 'read' | { readonly failed: unknown };

const appWith = (options: Partial<FileBodyOptions<undefined>> = {}) => {
  const outcomes: Outcome[] = [];
  let begun = 0;
  const read = async (content: AsyncIterable<Buffer>): Promise<number> => {
    let size = 0;
    begun += 1;
    try {
      for await (const chunk of content) size += chunk.length;
      outcomes.push('read');
      return size;
    } catch (failed) {
      outcomes.push({ failed });
      throw failed;
    }
  };
  const types = ['image/*', 'text/plain', 'text/csv'];
  const limits = { types, maxBytes: 100_000, ...options };
  const app = appOf({
    Files: {
      putFile: route({
        method: 'put',
        path: '/file',
        permission: 'public',
        summary: 'File',
        body: fileBody(limits),
        responses: { 200: Answer },
        handler: async ({ body: { type, content, name }, reply }) =>
          reply(200, { type, size: await read(content), name: `${name}`, note: 'none' }),
      }),
      postFile: route({
        method: 'post',
        path: '/form',
        permission: 'public',
        summary: 'Form',
        body: fileBody({ ...limits, fields: shape({ note: text(20) }) }),
        responses: { 200: Answer },
        handler: async ({ body: { type, content, name, fields }, reply }) =>
          reply(200, { type, size: await read(content), name: `${name}`, note: fields.note }),
      }),
      ignoreFile: route({
        method: 'post',
        path: '/ignored',
        permission: 'public',
        summary: 'A file that the handler does not read',
        body: fileBody({ ...limits, maxBytes: 1e9 }),
        responses: { 200: shape({ type: text(100) }) },
        handler: ({ body: { type }, reply }) => reply(200, { type }),
      }),
    },
  });
  return { app, outcomes, begun: () => begun };
};

const put = (app: ReturnType<typeof appWith>['app'], type: string, body: Buffer | string) =>
  request(app).put('/file').set('content-type', type).send(body);

describe('a bare file', () => {
  test.each([
    ['image/png', png, 'image/png'],
    ['application/octet-stream', png, 'image/png'],
    ['text/csv', Buffer.from('a,b\n1,Á\n'), 'text/csv'],
    ['text/plain', Buffer.from('hello'), 'text/plain'],
    ['text/csv', Buffer.from('\ufeffa,b', 'utf16le'), 'text/csv'],
    ['image/gif', png, 'image/png'],
  ])('sent as %s has the type detected from its content', async (declared, content, type) => {
    const answer = await put(appWith().app, declared, content);
    expect([answer.status, answer.body.type, answer.body.size]).toEqual([
      200,
      type,
      content.length,
    ]);
  });

  test.each([
    ['of another declared type', 'application/pdf', png],
    ['of another type than declared', 'image/png', Buffer.from('%PDF-1.7\n')],
    ['of HTML that is declared as an image', 'image/png', Buffer.from('\0<html>')],
  ])('%s is 415', async (_what, declared, content) => {
    const { app, outcomes } = appWith();
    const answer = await put(app, declared, content);
    expect([answer.status, answer.body.error]).toEqual([415, 'unsupported_media_type']);
    expect(outcomes).toEqual([]);
  });

  test.each(['BMI;Größe', 'MZ;Straße', 'GIF89a;é', 'ID3;ü'])(
    'of Windows-1252 that begins like a binary format is not that format: %s',
    async (text) => {
      const { app } = appWith({ types: ['text/csv', 'image/*', 'application/octet-stream'] });
      const answer = await put(app, 'text/csv', Buffer.from(`${text}\r\n1;2\r\n`, 'latin1'));
      expect([answer.status, answer.body.type]).toEqual([200, 'application/octet-stream']);
    },
  );

  test('of HTML is text and nothing else', async () => {
    const answer = await put(appWith().app, 'application/octet-stream', Buffer.from('<html>'));
    expect(answer.body.type).toBe('text/plain');
  });

  test('that is missing is 422, and a compressed one 415', async () => {
    const { app } = appWith();
    expect((await request(app).put('/file')).body.errors).toEqual({ body: ['body is required'] });
    const packed = await put(app, 'image/png', png).set('content-encoding', 'gzip');
    expect(packed.status).toBe(415);
  });

  test('with a Content-Length over the limit is 413 at once, and the response states the limit', async () => {
    const { app, outcomes } = appWith();
    const answer = await put(app, 'text/plain', 'x'.repeat(100_001));
    expect([answer.status, answer.body.error]).toEqual([413, 'body_too_large']);
    expect(answer.body.message).toContain('100000 bytes');
    expect(outcomes).toEqual([]);
  });

  test('of exactly the maximum size is read', async () => {
    const answer = await put(appWith().app, 'text/plain', 'x'.repeat(100_000));
    expect([answer.status, answer.body.size]).toEqual([200, 100_000]);
  });
});

describe('a file that is not received completely', () => {
  let server: Listening;
  afterEach(() => server.stop(0));
  const upload = async (app: ReturnType<typeof appWith>['app'], path: string, method: string) => {
    server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    const sent = rawRequest(`${server.url}${path}`, {
      method,
      headers: { 'content-type': 'text/plain' },
    });
    sent.on('error', () => undefined);
    return sent;
  };
  const statusOf = async (sent: ReturnType<typeof rawRequest>): Promise<number | undefined> => {
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer.statusCode;
  };

  test('is 413 as soon as it exceeds the limit', async () => {
    const { app, outcomes } = appWith();
    const sent = await upload(app, '/file', 'PUT');
    const status = statusOf(sent);
    for (let part = 0; part < 10; part += 1) sent.write('x'.repeat(20_000));
    expect(await status).toBe(413);
    expect(outcomes).toEqual([{ failed: expect.objectContaining({ status: 413 }) }]);
  });

  test('is 408 after the deadline', async () => {
    const { app, outcomes } = appWith({ deadlineMs: 200 });
    const sent = await upload(app, '/file', 'PUT');
    sent.write('x'.repeat(20_000));
    expect(await statusOf(sent)).toBe(408);
    expect(outcomes).toEqual([{ failed: expect.objectContaining({ status: 408 }) }]);
  });

  test('is 408 when no more data arrives', async () => {
    const { app } = appWith({ idleMs: 200 });
    const sent = await upload(app, '/file', 'PUT');
    sent.write('x');
    expect(await statusOf(sent)).toBe(408);
  });

  test('ends for the handler when the client disconnects', async () => {
    const { app, outcomes, begun } = appWith();
    const sent = await upload(app, '/file', 'PUT');
    sent.write('x'.repeat(50_000));
    while (begun() === 0) await new Promise(setImmediate);
    sent.destroy();
    while (outcomes.length === 0) await new Promise(setImmediate);
    expect(outcomes).toEqual([{ failed: expect.objectContaining({ status: 400 }) }]);
  });

  test('loses its connection if the client keeps sending after the response', async () => {
    const { app } = appWith();
    const sent = await upload(app, '/ignored', 'POST');
    const closed = once(sent, 'close');
    const status = statusOf(sent);
    for (let part = 0; part < 10; part += 1) sent.write('x'.repeat(20_000));
    expect(await status).toBe(200);
    await closed;
  });
});

describe('a form with a file', () => {
  const post = (app: ReturnType<typeof appWith>['app']) => request(app).post('/form');

  test('provides its fields, and the file with its name', async () => {
    const answer = await post(appWith().app)
      .field('note', 'hi')
      .attach('file', png, { filename: '../../Ár.png', contentType: 'text/html' });
    expect(answer.body).toEqual({
      type: 'image/png',
      size: png.length,
      name: 'Ár.png',
      note: 'hi',
    });
  });

  test('keeps quotation marks and percent signs in the name of a file from a browser', async () => {
    const { app } = appWith();
    for (const name of ['a "b" 100%.png', "it's\u00e1.png"]) {
      const form = new FormData();
      form.append('note', 'hi');
      form.append('file', new Blob([png]), name);
      // The encoding of browsers.
      const sent = new Response(form);
      const answer = await post(app)
        .set('content-type', sent.headers.get('content-type') ?? '')
        .send(Buffer.from(await sent.arrayBuffer()) as never);
      expect(answer.body).toMatchObject({ name });
    }
  });

  test('is 422 without a file, with an invalid or late field, with another name for the file, or with a second file', async () => {
    const { app } = appWith();
    const errors = async (sent: request.Test) => {
      const { status, body } = await sent;
      return [status, Object.keys(body.errors ?? {})];
    };
    expect(await errors(post(app).field('note', 'hi'))).toEqual([422, ['file']]);
    expect(await errors(post(app).attach('file', png, 'a.png'))).toEqual([422, ['note']]);
    const other = post(app).field('note', 'hi').attach('image', png, 'a.png');
    expect(await errors(other)).toEqual([422, ['image']]);
    const late = post(app).field('note', 'hi').attach('file', png, 'a.png').field('more', '1');
    expect(await errors(late)).toEqual([422, ['more']]);
    const twice = post(app).field('note', 'hi').attach('file', png, 'a').attach('file', png, 'b');
    expect(await errors(twice)).toEqual([422, ['file']]);
    const unknown = post(app).field('note', 'hi').field('x', '1').attach('file', png, 'a');
    expect(await errors(unknown)).toEqual([422, ['x']]);
  });

  describe('with long texts', () => {
    const fields = shape({ note: text(30_000), count: optional(int(0, 9)) });
    const app = appOf({
      Files: {
        postLong: route({
          method: 'post',
          path: '/long',
          permission: 'public',
          summary: 'Form with a long text',
          body: fileBody({ types: ['text/plain'], maxBytes: 1000, fields }),
          responses: { 200: shape({ characters: int(0, 1e9), size: int(0, 1e9) }) },
          handler: async ({ body, reply }) => {
            let size = 0;
            for await (const chunk of body.content) size += chunk.length;
            return reply(200, { characters: [...body.fields.note].length, size });
          },
        }),
      },
    });
    /** Announces its length. */
    const send = async (texts: Readonly<Record<string, string>>, size: number) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(texts)) form.append(name, value);
      form.append('file', new Blob(['x'.repeat(size)]), 'a.txt');
      const sent = new Response(form);
      return request(app)
        .post('/long')
        .set('content-type', sent.headers.get('content-type') ?? '')
        .send(Buffer.from(await sent.arrayBuffer()) as never);
    };

    test('limits them by characters, also beside a file of the maximum size', async () => {
      const answer = await send({ note: '\u{1f600}'.repeat(30_000) }, 1000);
      expect([answer.status, answer.body]).toEqual([200, { characters: 30_000, size: 1000 }]);
      expect((await send({ note: 'hi' }, 200_000)).status).toBe(413);
    });

    test.each([
      ['one character', '\u{1f600}'.repeat(30_001)],
      ['many characters', '\u4e2d'.repeat(60_000)],
    ])('reports a text that is too long by %s as in JSON', async (_many, note) => {
      const inJson = validate(fields, { note });
      const { status, body } = await send({ note }, 10);
      expect(inJson).toMatchObject({ ok: false, errors: { note: [expect.any(String)] } });
      expect([status, body.errors]).toEqual([422, inJson.ok ? {} : { ...inJson.errors }]);
    });

    test('does not read a value that was cut off', async () => {
      const { status, body } = await send({ note: 'hi', count: `${'0'.repeat(130_000)}12` }, 10);
      expect([status, body.errors]).toEqual([422, { count: ['count is too long'] }]);
    });
  });

  test.each([
    ['a file', 'filename="a"\r\n\r\nx'],
    ['a field', 'x\r\n\r\nx'],
  ])('%s without a name is 400', async (_case, part) => {
    const { app } = appWith();
    const body = `--b\r\nContent-Disposition: form-data; ${part}\r\n--b--\r\n`;
    await post(app).set('content-type', 'multipart/form-data; boundary=b').send(body).expect(400);
  });

  test('is 415 for another body type, 413 for a file that is too large, and 400 if it is incomplete', async () => {
    const { app } = appWith();
    expect((await post(app).send({ note: 'hi' })).status).toBe(415);
    const large = post(app).field('note', 'hi').attach('file', Buffer.alloc(120_000, 'x'), 'a.txt');
    expect((await large).status).toBe(413);
    const cut = post(app)
      .set('content-type', 'multipart/form-data; boundary=b')
      .send('--b\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi');
    expect((await cut).status).toBe(400);
    const unbounded = post(app).set('content-type', 'multipart/form-data').send('x');
    expect((await unbounded).status).toBe(400);
  });
});
