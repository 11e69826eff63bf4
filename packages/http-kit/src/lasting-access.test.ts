import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as rawRequest } from 'node:http';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { shape, text } from '@tessera/fields';
import type { Request, Response } from 'express';
import {
  fileBody,
  fileResponse,
  type Gate,
  HttpError,
  type Listening,
  listen,
  notFound,
  streamed,
  unauthenticated,
  unavailable,
} from './index.ts';
import { createAccessChecks } from './lasting-access.ts';
import { appOf, type Caller, everything, route, gate as thingsGate } from './testing/things.ts';

const TIMES = { intervalMs: 50, currentMs: 0 };
const NEVER = { intervalMs: 2 ** 31 - 1, currentMs: 0 };

/** What happened in the handlers. */
let committed: string[];
let failures: unknown[];
let endedChunks: number;
/** What the gate throws from now on. */
let refusal: HttpError | undefined;
let changed: (() => void)[];
let isPublicRevoked: boolean;
let server: Listening;

const gate: Gate<Caller> = {
  async authenticate(req) {
    if (refusal) throw refusal;
    return thingsGate.authenticate(req);
  },
  authorize: thingsGate.authorize,
  watch(_caller, change) {
    changed.push(change);
    return () => void changed.splice(changed.indexOf(change), 1);
  },
};

const received = shape({ content: text(100) });

const store = async (content: Readable): Promise<string> => {
  try {
    return await textOf(content);
  } catch (error) {
    failures.push(error);
    throw error;
  }
};

/** Sends "begin", and then something whenever the client has read it, until it is stopped. */
async function* endless(): AsyncGenerator<string> {
  try {
    yield 'begin';
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield '.';
    }
  } finally {
    endedChunks += 1;
  }
}

const SIZE = 1e9;
const served = { type: 'text/plain', size: SIZE, etag: 'a' };
const open = () => Readable.from(endless(), { objectMode: false });

const routes = {
  putFile: route({
    method: 'put',
    path: '/file',
    permission: 'things.update',
    summary: 'File',
    body: fileBody({ types: ['text/plain'], maxBytes: 1000 }),
    responses: { 200: received },
    handler: async ({ body, reply, commitUpload }) => {
      const content = await store(body.content);
      return commitUpload(
        async () => {
          committed.push(content);
          return reply(200, { content });
        },
        async () => undefined,
      );
    },
  }),
  postForm: route({
    method: 'post',
    path: '/form',
    permission: 'things.update',
    summary: 'Form',
    body: fileBody({ types: ['text/plain'], maxBytes: 1000, fields: shape({}) }),
    responses: { 200: received },
    handler: async ({ body, reply }) => {
      const content = await store(body.content);
      committed.push(content);
      return reply(200, { content });
    },
  }),
  putThing: route({
    method: 'put',
    path: '/thing',
    permission: 'things.update',
    summary: 'Thing',
    body: received,
    responses: { 200: received },
    handler: ({ body, reply }) => {
      committed.push(body.content);
      return reply(200, body);
    },
  }),
  exportThings: route({
    method: 'get',
    path: '/export',
    permission: 'things.list',
    summary: 'Export',
    responses: { 200: streamed({ 'text/csv': null }) },
    handler: ({ reply }) => reply(200, { type: 'text/csv', chunks: endless() }),
  }),
  getFile: route({
    method: 'get',
    path: '/file',
    permission: 'things.list',
    summary: 'File',
    responses: { 200: fileResponse('text/plain') },
    handler: ({ reply }) => reply(200, { ...served, open }),
  }),
  getPublicFile: route({
    method: 'get',
    path: '/public',
    permission: 'public',
    summary: 'File',
    responses: { 200: fileResponse('text/plain') },
    handler: ({ reply }) =>
      reply(200, {
        ...served,
        open,
        confirm: async () => {
          if (isPublicRevoked) throw notFound();
        },
      }),
  }),
};

const start = async (accessChecks: typeof TIMES): Promise<void> => {
  const app = appOf({ Routes: routes }, { gate, accessChecks });
  server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
};

beforeEach(() => {
  committed = [];
  failures = [];
  endedChunks = 0;
  refusal = undefined;
  changed = [];
  isPublicRevoked = false;
});
afterEach(() => server.stop(0));

/** Begins a request whose body has not ended. */
const begin = (method: string, path: string, headers: Record<string, string> = {}) => {
  const req = rawRequest(`${server.url}${path}`, {
    method,
    headers: { Authorization: everything, ...headers },
  });
  req.on('error', () => undefined);
  return req;
};

const responseOf = async (req: ClientRequest) => {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return { status: res.statusCode, body: await textOf(res) };
};

/** Waits for a condition. */
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const FORM = 'multipart/form-data; boundary=x';
const FORM_HEAD =
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n';

const uploads = [
  ['PUT', '/file', 'text/plain', 'hello', ''],
  ['POST', '/form', FORM, `${FORM_HEAD}hello`, '\r\n--x--\r\n'],
] as const;

describe.each(uploads)('An upload by %s %s', (method, path, type, head, tail) => {
  test('ends with 401 while its client sends nothing, and nothing is stored', async () => {
    await start(TIMES);
    const req = begin(method, path, { 'Content-Type': type });
    const response = responseOf(req);
    req.write(head);
    await until(() => changed.length > 0);
    refusal = unauthenticated();
    expect(await response).toMatchObject({ status: 401 });
    req.destroy();
    expect(committed).toEqual([]);
  });

  test('ends when the gate reports a change, without being polled', async () => {
    await start(NEVER);
    const req = begin(method, path, { 'Content-Type': type });
    const response = responseOf(req);
    req.write(head);
    await until(() => changed.length > 0);
    refusal = new HttpError(403, 'permission_denied', 'No longer.');
    for (const change of changed) change();
    expect(await response).toMatchObject({ status: 403 });
    req.destroy();
    expect(committed).toEqual([]);
  });

  test('is not committed if the access was lost before its last byte', async () => {
    await start(NEVER);
    const req = begin(method, path, { 'Content-Type': type });
    const response = responseOf(req);
    req.write(head);
    await until(() => changed.length > 0);
    refusal = unauthenticated();
    req.end(tail);
    expect(await response).toMatchObject({ status: 401 });
    expect(committed).toEqual([]);
  });

  test('is committed if the access is kept', async () => {
    await start(TIMES);
    const req = begin(method, path, { 'Content-Type': type });
    const response = responseOf(req);
    req.write(head);
    await until(() => changed.length > 0);
    req.end(tail);
    expect(await response).toMatchObject({ status: 200 });
    expect(committed).toEqual(['hello']);
    expect(changed).toEqual([]);
  });
});

test('A change whose body arrives slowly is refused if the access was lost meanwhile', async () => {
  await start(NEVER);
  let authenticated = 0;
  const { authenticate } = gate;
  gate.authenticate = (req, declared) => {
    authenticated += 1;
    return authenticate(req, declared);
  };
  try {
    const req = begin('PUT', '/thing', { 'Content-Type': 'application/json' });
    const response = responseOf(req);
    req.write('{"content":');
    await until(() => authenticated > 0);
    refusal = unauthenticated();
    req.end('"hello"}');
    expect(await response).toMatchObject({ status: 401 });
    expect(committed).toEqual([]);
  } finally {
    gate.authenticate = authenticate;
  }
});

test.each(['/export', '/file'])('%s is cut off when the access is lost', async (path) => {
  await start(TIMES);
  const req = begin('GET', path);
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  await once(res, 'data');
  refusal = unauthenticated();
  await expect(textOf(res)).rejects.toThrow('aborted');
  await until(() => endedChunks === 1);
  expect([res.complete, changed.length]).toEqual([false, 0]);
});

test('A public download is cut off when what it depends on is gone', async () => {
  await start(TIMES);
  const req = begin('GET', '/public');
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  await once(res, 'data');
  isPublicRevoked = true;
  await expect(textOf(res)).rejects.toThrow('aborted');
  await until(() => endedChunks === 1);
});

test('A download continues while the gate cannot answer for a moment, and ends if that takes long', async () => {
  await start({ intervalMs: 200, currentMs: 0 });
  const req = begin('GET', '/file');
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  let chunks = 0;
  res.on('data', () => {
    chunks += 1;
  });
  res.on('error', () => undefined);
  await once(res, 'data');
  let asked = 0;
  const { authenticate } = gate;
  gate.authenticate = (request, declared) => {
    asked += 1;
    return authenticate(request, declared);
  };
  try {
    refusal = unavailable('identity_unavailable', 'Identity does not answer.', undefined);
    await until(() => asked === 1);
    const before = chunks;
    await until(() => chunks > before + 1);
    expect(res.destroyed).toBe(false);
    refusal = undefined;
    await until(() => asked === 2);
    refusal = unavailable('identity_unavailable', 'Identity does not answer.', undefined);
    await new Promise((resolve) => res.once('close', resolve));
    expect(asked).toBeGreaterThanOrEqual(4);
    expect(res.complete).toBe(false);
  } finally {
    gate.authenticate = authenticate;
  }
});

test('The checks of one tenant that take long do not delay those of another', async () => {
  const asked: string[] = [];
  const { watch } = createAccessChecks<string>(
    {
      async authenticate({ url = '' }) {
        asked.push(url);
        if (url === '/noisy') await new Promise(() => undefined);
        return url;
      },
      authorize: () => undefined,
    },
    NEVER,
    ({ url }) => url,
  );
  const res = { locals: {} } as Response;
  const begin = (url: string) => watch({ url } as Request, res, routes.putFile);
  const noisy = Array.from({ length: 100 }, () => begin('/noisy'));
  for (const { checkNow } of noisy) checkNow();
  await begin('/quiet').confirm();
  expect(asked.filter((url) => url === '/noisy')).toHaveLength(25);
  for (const { end } of noisy) end();
});
