import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as rawRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { int, shape } from '@tessera/fields';
import { fileBody, type Listening, listen } from '../index.ts';
import { appOf, route } from '../testing/things.ts';

let server: Listening;
afterEach(() => server.stop(0));

/** Starts a service that takes two uploads of a caller, and three in total; counts the bodies that handlers began. */
const start = async () => {
  const state = { begun: 0, failed: 0 };
  const routes = {
    Files: {
      putFile: route({
        method: 'put',
        path: '/file',
        permission: 'things.update',
        summary: 'File',
        body: fileBody({ types: ['text/plain'], maxBytes: 100_000, isPart: true }),
        responses: { 200: shape({ size: int(0, 1e9) }) },
        handler: async ({ body: { content }, reply }) => {
          let size = 0;
          state.begun += 1;
          try {
            for await (const chunk of content) size += chunk.length;
          } catch (error) {
            state.failed += 1;
            throw error;
          }
          if (size === 5) throw new Error('The store is broken.');
          return reply(200, { size });
        },
      }),
    },
  };
  const uploadLimits = [
    {
      name: 'PER_CALLER',
      limit: 2,
      key: (_req: unknown, res: { locals: Record<string, { name: string }> }) =>
        res.locals.caller?.name ?? '',
    },
    { name: 'PER_INSTANCE', limit: 3, key: () => '' },
  ];
  const app = appOf(routes, { uploadLimits });
  server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };
  /** Sends the headers and the beginning of a body. */
  const begin = (name: string): ClientRequest => {
    const request = rawRequest(`${server.url}/file`, {
      method: 'PUT',
      headers: { authorization: `${name} things.update`, 'content-type': 'text/plain' },
    });
    request.on('error', () => undefined);
    request.write('begun');
    return request;
  };
  const answerTo = async (request: ClientRequest) => {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const body = JSON.parse(await textOf(response));
    return { status: response.statusCode, retryAfter: response.headers['retry-after'], body };
  };
  /** An upload that the handler reads. */
  const open = async (name: string): Promise<ClientRequest> => {
    const before = state.begun;
    const request = begin(name);
    await until(() => state.begun > before);
    return request;
  };
  return { state, until, begin, answerTo, open };
};

test('an upload over a limit is 429 before its body is read, and the error names the limit', async () => {
  const { state, begin, answerTo, open } = await start();
  const ann = [await open('ann'), await open('ann')];
  const refused = await answerTo(begin('ann'));
  expect(refused).toMatchObject({
    status: 429,
    retryAfter: '10',
    body: { error: 'too_many_uploads' },
  });
  expect(refused.body.message).toContain('PER_CALLER');
  const bob = await open('bob');
  expect((await answerTo(begin('bob'))).body.message).toContain('PER_INSTANCE');
  expect(state.begun).toBe(3);
  for (const request of [...ann, bob]) {
    const answer = answerTo(request);
    request.end('!');
    expect(await answer).toMatchObject({ status: 200, body: { size: 6 } });
  }
});

test('an upload that ends, fails or is aborted no longer counts, nor does a refused one', async () => {
  const { state, until, begin, answerTo, open } = await start();
  for (let round = 0; round < 3; round += 1) {
    const [aborted, failing] = [await open('ann'), await open('ann')];
    expect((await answerTo(begin('ann'))).status).toBe(429);
    const failure = answerTo(failing);
    failing.end();
    expect((await failure).status).toBe(500);
    const { failed } = state;
    aborted.destroy();
    await until(() => state.failed > failed);
    const next = begin('ann');
    const answer = answerTo(next);
    next.end('!');
    expect((await answer).status).toBe(200);
  }
  const all = [await open('ann'), await open('ann'), await open('bob')];
  expect((await answerTo(begin('carol'))).body.message).toContain('PER_INSTANCE');
  for (const request of all) request.destroy();
  await until(() => state.failed === 6);
});
