import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import express from 'express';
import request from 'supertest';
import { type Listening, listen } from './index.ts';
import { thingsApplication } from './testing/application.ts';

const { app, metrics, lines } = thingsApplication();
let server: Listening;

beforeAll(async () => {
  server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'THINGS_PORT' });
});
afterAll(() => server.stop());

interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const connected = async ({ port }: Listening): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

/** Everything that the server sends until it closes the connection. */
const conversation = async (text: string, to = server): Promise<string> => {
  const socket = await connected(to);
  socket.write(text, 'latin1');
  return Buffer.concat(await socket.toArray()).toString();
};

/** Splits what was received into responses by `Content-Length`; throws if anything is left over. */
const parse = (text: string): RawAnswer[] => {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split(': ');
        return [name.toLowerCase(), value.join(': ')];
      }),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(first)?.[1]);
    const length = Number(headers['content-length'] ?? (status === 204 ? 0 : Number.NaN));
    if (Number.isNaN(status + length)) throw new Error(`This is not a response: ${rest}`);
    answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
};

const host = 'Host: things.example\r\n';
const body = (code: string) => ({ error: code, message: expect.stringMatching(/^[A-Z].*\.$/) });

const expectRefusal = ({ status, headers, body: text }: RawAnswer, code: string) => {
  expect([status, JSON.parse(text)]).toEqual([status, body(code)]);
  expect(headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': expect.stringMatching(/^[\w-]{36}$/),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
};

describe('requests that the HTTP parser rejects get the usual error envelope', () => {
  test.each([
    ['bytes that are not HTTP', 'hello\r\n\r\n', 405, 'method_not_allowed'],
    ['an unknown method', `BREW / HTTP/1.1\r\n${host}\r\n`, 405, 'method_not_allowed'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\n\r\n', 405, 'method_not_allowed'],
    ['a broken header', `GET / HTTP/1.1\r\nA B: c\r\n${host}\r\n`, 400, 'malformed_request'],
    ['a control character', `GET / HTTP/1.1\r\nA: \x01\r\n${host}\r\n`, 400, 'malformed_request'],
    ['an unknown version', `GET / HTTP/3.7\r\n${host}\r\n`, 400, 'malformed_request'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    ['no host', 'GET /things/board HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    [
      'a Content-Length that is not a number',
      `POST /broken HTTP/1.1\r\n${host}Content-Length: x\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'two lengths',
      `POST /broken HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'a chunk without a length',
      `POST /broken HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'malformed_request',
    ],
    [
      'headers of 20 kB',
      `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['an address of 20 kB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n`, 431, 'headers_too_large'],
    [
      'chunk extensions of 20 kB',
      `POST /broken HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n`,
      413,
      'body_too_large',
    ],
    [
      'an unknown expectation',
      `POST /broken HTTP/1.1\r\n${host}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`,
      417,
      'expectation_failed',
    ],
  ])('%s', async (_case, text, status, code) => {
    const [answer, ...more] = parse(await conversation(text));
    expect(more).toEqual([]);
    expect(answer?.status).toBe(status);
    expectRefusal(answer as RawAnswer, code);
    if (status === 405) expect(answer?.headers.allow).toContain('GET');
  });

  test('a request that does not arrive in time', async () => {
    const impatient = await listen(thingsApplication().app, {
      host: '127.0.0.1',
      port: 0,
      variable: 'THINGS_PORT',
      headersTimeoutMs: 50,
    });
    const [answer] = parse(await conversation('GET /things HTTP/1.1\r\n', impatient));
    expect(answer?.status).toBe(408);
    expectRefusal(answer as RawAnswer, 'request_timeout');
    await impatient.stop();
  });

  test('it is logged with the request id and without a stack, and measured', async () => {
    const [answer] = parse(await conversation('BREW / HTTP/1.1\r\n\r\n'));
    const id = answer?.headers['x-request-id'];
    const own = () => lines.filter(({ request_id }) => request_id === id);
    while (own().length === 0) await later(1);
    expect(own()).toEqual([
      expect.objectContaining({ level: 'info', status: 405, error: 'method_not_allowed' }),
    ]);
    const { text } = await request(metrics.server).get('/metrics');
    expect(text).toMatch(/_count\{operation="unknown",method="_OTHER",status="405"\} \d+/);
  });
});

describe('an error response never mixes with the response to an earlier request', () => {
  test('a valid request before the invalid bytes gets its response first', async () => {
    const text = `GET /things/board HTTP/1.1\r\n${host}\r\nBREW / HTTP/1.1\r\n\r\n`;
    const answers = parse(await conversation(text));
    expect(answers.map(({ status }) => status)).toEqual([204, 405]);
    expectRefusal(answers[1] as RawAnswer, 'method_not_allowed');
  });

  test('a response that has begun is cut off and contains no error response', async () => {
    const streaming = express().post('/', (_req, res) => void res.write('begun'));
    const place = { host: '127.0.0.1', port: 0, variable: 'THINGS_PORT' };
    const own = await listen(streaming, place);
    const socket = await connected(own);
    socket.write(`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`);
    const first = String((await once(socket, 'data'))[0]);
    socket.write('zz\r\n');
    const received = first + Buffer.concat(await socket.toArray()).toString();
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toMatch(/\r\n5\r\nbegun\r\n$/);
    await own.stop();
  });

  test('bytes after an error response get no second response', async () => {
    const socket = await connected(server);
    socket.write('BREW / HTTP/1.1\r\n');
    const received = socket.toArray();
    for (let line = 0; line < 3; line += 1) {
      socket.write('BREW / HTTP/1.1\r\n\r\n');
      await later(1);
    }
    expect(parse(Buffer.concat(await received).toString())).toHaveLength(1);
  });

  const get = `GET /things/board HTTP/1.1\r\n${host}\r\n`;
  const chunked = 'Transfer-Encoding: chunked\r\n\r\nzz\r\n';
  test.each([
    ['a malformed body after another request', `${get}POST /things HTTP/1.1\r\n${host}${chunked}`],
    [
      'a malformed body after a rejected request',
      `POST / HTTP/1.1\r\n${host}Expect: tea\r\n${chunked}`,
    ],
    ['an expectation after another request', `${get}POST / HTTP/1.1\r\n${host}Expect: tea\r\n\r\n`],
    ['CONNECT after another request', `${get}CONNECT a:1 HTTP/1.1\r\n\r\n`],
    ['many requests and then invalid bytes', `${get.repeat(20)}\x01\r\n\r\n`],
  ])('%s closes at most its own connection, and the server continues', async (_what, text) => {
    await conversation(text);
    const next = get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect(await conversation(next)).toMatch(/^HTTP\/1\.1 204 /);
  });

  test('a client that keeps sending after an error response is disconnected', async () => {
    const socket = await connected(server);
    const closed = once(socket, 'close');
    socket.write('BREW / HTTP/1.1\r\n\r\n');
    socket.resume();
    await closed;
  });
});

test('a client that expects 100-continue gets it, and an HTTP/1.0 request needs no Host', async () => {
  expect(parse(await conversation('GET /things/board HTTP/1.0\r\n\r\n'))[0]?.status).toBe(204);
  const text = `POST /broken HTTP/1.1\r\n${host}Connection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  expect(await conversation(text)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 500 /);
});
