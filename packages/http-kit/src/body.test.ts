import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { int, shape } from '@tessera/fields';
import request from 'supertest';
import { binary, listen } from './index.ts';
import { appOf, everything, id, route, things } from './testing/things.ts';

const app = appOf({ Things: things });
const put = (headers: Record<string, string>, body: string | Buffer) =>
  request(app)
    .put(`/things/${id}`)
    .set({ authorization: everything, 'content-type': 'application/json', ...headers })
    .serialize((given: unknown) => given as string)
    .send(body);

describe('an invalid body has a status for each cause:', () => {
  test.each([
    ['malformed JSON', 'application/json', '{"name":', 400],
    ['broken UTF-8', 'application/json', Buffer.from('7b226e616d65223a22ff227d', 'hex'), 400],
    ['another media type', 'text/plain', '{"name":"x"}', 415],
    ['another charset', 'application/json; charset=latin1', '{"name":"x"}', 415],
    ['UTF-16', 'application/json; charset=utf-16le', Buffer.from('{"name":"x"}', 'utf16le'), 415],
    ['too many bytes', 'application/json', JSON.stringify({ name: 'x'.repeat(2000) }), 413],
    ['a body that is not an object', 'application/json', '7', 422],
  ])('%s', async (_case, type, body, status) => {
    const answer = await put({ 'content-type': type }, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toEqual(expect.any(String));
  });

  test.each([
    ['a compressed body is decompressed', 'gzip', gzipSync('{"name":"x"}'), 200],
    [
      'a body that is too large after decompression',
      'gzip',
      gzipSync(`{"name":"${'x'.repeat(5_000_000)}"}`),
      413,
    ],
    ['a body that cannot be decompressed', 'gzip', Buffer.from('{"name":"x"}'), 400],
    ['an unknown packing', 'zip', gzipSync('{"name":"x"}'), 415],
  ])('%s', async (_case, encoding, body, status) => {
    const answer = await put({ 'content-encoding': encoding }, body);
    expect(answer.status).toBe(status);
  });
});

/**
 * Sends a raw request that no client library would send, and waits for the response even if the request is
 * incomplete.
 */
const sendRaw = async (
  headers: Record<string, string>,
  chunks: readonly string[],
  { isAll = true } = {},
) => {
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const sent = httpRequest(`${server.url}/things/${id}`, {
    method: 'PUT',
    headers: { authorization: everything, 'content-type': 'application/json', ...headers },
  });
  const answered = once(sent, 'response');
  for (const chunk of chunks) sent.write(chunk);
  if (isAll) sent.end();
  const [answer] = (await answered) as [IncomingMessage];
  const body = JSON.parse((await answer.toArray()).join(''));
  sent.destroy();
  await server.stop(0);
  return { status: answer.statusCode, body };
};

test('an empty chunked body is an absent body, not an empty object', async () => {
  const headers = { 'transfer-encoding': 'chunked' };
  expect(await sendRaw(headers, [])).toMatchObject({
    status: 422,
    body: { errors: { body: ['body is required'] } },
  });
  expect(await sendRaw(headers, ['{"name":', '"x"}'])).toMatchObject({ status: 200 });
});

test('a body with a Content-Length over the limit is rejected before it is read', async () => {
  const headers = { 'content-length': '5000000' };
  expect(await sendRaw(headers, ['{'], { isAll: false })).toMatchObject({ status: 413 });
});

test('a chunked body is rejected as soon as it exceeds the limit', async () => {
  const headers = { 'transfer-encoding': 'chunked' };
  const chunks = ['{"name":"', 'x'.repeat(2000), '"}'];
  expect(await sendRaw(headers, chunks)).toMatchObject({ status: 413 });
});

describe('a binary body', () => {
  const bytes = appOf({
    Things: {
      updateIcon: route({
        method: 'put',
        path: '/icon',
        permission: 'public',
        summary: 'Set the icon',
        body: binary(['image/png', 'image/gif'], 10),
        responses: { 200: shape({ bytes: int(0, 10) }) },
        handler: ({ body, reply }) => reply(200, { bytes: body.length }),
      }),
    },
  });

  test.each([
    ['of an accepted type', { 'content-type': 'image/gif' }, 10, 200],
    ['of another type', { 'content-type': 'image/webp' }, 10, 415],
    ['that is too large', { 'content-type': 'image/png' }, 11, 413],
    ['that is packed', { 'content-type': 'image/png', 'content-encoding': 'gzip' }, 10, 415],
    ['that is missing', { 'content-type': 'image/png' }, 0, 422],
  ])('%s', async (_case, headers, length, status) => {
    const answer = await request(bytes).put('/icon').set(headers).send(Buffer.alloc(length));
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body).toEqual({ bytes: length });
    else expect(answer.body.message).toEqual(expect.any(String));
  });
});
