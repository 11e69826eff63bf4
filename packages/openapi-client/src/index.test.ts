import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ClientOptions, createOpenApiClient } from './index.ts';

interface Paths {
  readonly '/a': {
    readonly post: {
      readonly requestBody: { readonly content: { readonly '*/*': unknown } };
      readonly responses: {
        readonly 200: {
          readonly content: {
            readonly 'application/json': { readonly type?: string; readonly body: string };
          };
        };
      };
    };
  };
}

const server = createServer(async (req, res) => {
  const answer = { type: req.headers['content-type'], body: await text(req) };
  res.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
let baseUrl: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What arrives at the server. */
const send = async (body: unknown, headers: Record<string, string> = {}, options?: ClientOptions) =>
  (await createOpenApiClient<Paths>({ baseUrl, ...options }).POST('/a', { body, headers })).data;

const bytes = new TextEncoder().encode('hello');

test('An object is sent as JSON', async () => {
  expect(await send({ name: 'Ada', tags: ['a'] })).toEqual({
    type: 'application/json',
    body: '{"name":"Ada","tags":["a"]}',
  });
});

test.each([
  ['a Blob', () => new Blob(['hello']), 'application/octet-stream'],
  ['a Blob with a type', () => new Blob(['hello'], { type: 'text/csv' }), 'text/csv'],
  ['a File', () => new File(['hello'], 'a.txt', { type: 'text/plain' }), 'text/plain'],
  ['a Buffer', () => Buffer.from('hello'), 'application/octet-stream'],
  ['a Uint8Array', () => bytes, 'application/octet-stream'],
  ['an ArrayBuffer', () => bytes.buffer, 'application/octet-stream'],
  ['a stream', () => new Blob(['hello']).stream(), 'application/octet-stream'],
  ['a string', () => 'hello', 'text/plain; charset=utf-8'],
])('%s is sent as it is', async (_what, body, type) => {
  expect(await send(body())).toEqual({ type, body: 'hello' });
});

test('The type that the caller sets is sent, even if it is that of JSON', async () => {
  for (const type of ['image/png', 'application/json']) {
    const headers = { 'Content-Type': type };
    expect(await send(new Blob(['{}']), headers)).toEqual({ type, body: '{}' });
    expect(await send(new Blob(['{}']), {}, { headers })).toEqual({ type, body: '{}' });
  }
});

test('An object with a file is sent as a form that ends with the file, without what is undefined', async () => {
  const file = new File(['hello'], 'ä.txt', { type: 'text/plain' });
  const sent = await send({ file, dry_run: true, mapping: undefined });
  expect(sent?.type).toMatch(/^multipart\/form-data; boundary=/);
  expect(sent?.body).toMatch(
    /name="dry_run"\r\n\r\ntrue\r\n.*name="file"; filename="ä.txt"\r\nContent-Type: text\/plain\r\n\r\nhello\r\n/s,
  );
  expect(sent?.body).not.toContain('mapping');
});

test('A form is sent as it is, and a middleware may replace a request', async () => {
  const form = new FormData();
  form.append('name', 'Ada');
  const client = createOpenApiClient<Paths>({ baseUrl });
  client.use({ onRequest: ({ request }) => new Request(request, { headers: request.headers }) });
  const sent = (await client.POST('/a', { body: form })).data;
  expect(sent?.type).toMatch(/^multipart\/form-data; boundary=/);
  expect(sent?.body).toContain('name="name"\r\n\r\nAda\r\n');
});

test('A serializer of the caller replaces this one', async () => {
  const bodySerializer = () => 'mine';
  expect((await send({ name: 'Ada' }, {}, { bodySerializer }))?.body).toBe('mine');
});
