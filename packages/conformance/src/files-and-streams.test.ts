import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { bool, list, mapOf, optional, shape, text, uuid, withDefault } from '@tessera/fields';
import {
  createLimits,
  errorHandler,
  eventStream,
  fileBody,
  fileResponse,
  type Listening,
  listen,
  mount,
  notFound,
  openapi,
  type ReceivedFile,
  routesFor,
  unauthenticated,
  unknownRoute,
} from '@tessera/http-kit';
import express, { type RequestHandler } from 'express';
import { badPaths, withClientToken } from './checks.ts';
import { wrongCredentials } from './credentials.ts';
import { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
import { eventStreams } from './event-streams.ts';
import { badFiles, fileAnswers } from './files.ts';
import { createResponseChecker } from './response-checker.ts';
import type { Subject } from './subject.ts';

const Id = shape({ id: uuid() });
const Created = shape({ data: Id });

/** A small service with files and an event stream; `before` plants a flaw. */
const serviceWith = (before: RequestHandler = (_req, _res, next) => next()) => {
  const files = new Map<string, { readonly type: string; readonly content: Buffer }>();
  const route = routesFor<string, 'files.create' | 'files.view'>();
  const store = async ({ type, content }: Pick<ReceivedFile, 'type' | 'content'>) => {
    const id = randomUUID();
    files.set(id, { type, content: Buffer.concat(await content.toArray()) });
    return { data: { id } };
  };
  const types = ['text/plain', 'image/*'];
  const groups = {
    Files: {
      createFile: route({
        method: 'post',
        path: '/files',
        permission: 'files.create',
        summary: 'Upload',
        body: fileBody({ types, maxBytes: 10_000 }),
        responses: { 201: Created },
        handler: async ({ body, reply }) => reply(201, await store(body)),
      }),
      createFileByForm: route({
        method: 'post',
        path: '/forms',
        permission: 'files.create',
        summary: 'Upload',
        body: fileBody({
          types,
          maxBytes: 10_000,
          fields: shape({ name: text(20), isDraft: withDefault(bool(), false) }),
        }),
        responses: { 201: Created },
        handler: async ({ body, reply }) => reply(201, await store(body)),
      }),
      getFile: route({
        method: 'get',
        path: '/files/{id}',
        permission: 'files.view',
        summary: 'Download',
        params: Id,
        responses: { 200: fileResponse('text/plain', 'image/*') },
        handler: ({ params, reply }) => {
          const file = files.get(params.id);
          if (!file) throw notFound();
          const { type, content } = file;
          return reply(200, {
            type,
            size: content.length,
            etag: createHash('sha256').update(content).digest('hex'),
            lastModified: new Date(0),
            name: 'sample',
            open: (range) =>
              Readable.from([range ? content.subarray(range.start, range.end + 1) : content]),
          });
        },
      }),
      streamFiles: route({
        method: 'get',
        path: '/stream',
        permission: 'files.view',
        summary: 'Stream',
        responses: { 200: eventStream({ created: Id }) },
        handler: ({ reply }) =>
          reply(200, async function* (signal) {
            yield { event: 'created', id: '1', data: { id: randomUUID() } };
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          }),
      }),
    },
  };
  const document = openapi(groups, {
    title: 'Files',
    version: '1.0.0',
    description: '',
    error: shape({
      error: text(50),
      message: text(500),
      errors: optional(mapOf(list(text(500)))),
    }),
    problems: { 400: '-', 401: '-', 403: '-', 404: '-', 413: '-', 415: '-', 422: '-', 429: '-' },
  }) as OpenApiDocument;
  const limits = createLimits<string>({
    classes: { default: { window: 60, address: 0, principal: 0 } },
    principalKey: (caller) => caller,
  });
  const gate = {
    authenticate: async (req: express.Request): Promise<string> => {
      if (req.get('authorization') === 'Bearer ann') return 'ann';
      throw unauthenticated();
    },
    authorize: () => undefined,
  };
  const checker = createResponseChecker(() => document);
  const app = express();
  app.disable('etag');
  app.use(checker.observe, before, mount(groups, { gate, limits, bodyLimit: 1000 }), unknownRoute);
  app.use(
    errorHandler({ render: ({ code, message, errors }) => ({ error: code, message, errors }) }),
  );
  return { app, document, checker };
};

let listening: Listening;
const started = async (before?: RequestHandler) => {
  const { app, document, checker } = serviceWith(before);
  listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const headers = { authorization: 'Bearer ann' };
  const subject: Subject = {
    document,
    url: listening.url,
    caller: async () => headers,
    client: () => headers,
  };
  const operation = (id: string) => operationsOf(document).find((o) => o.id === id) as Operation;
  return { subject, operation, checker };
};
afterEach(() => listening.stop(0));

test('a correct service with files and streams passes every check', async () => {
  const { subject, operation, checker } = await started();
  for (const id of ['createFile', 'createFileByForm']) {
    expect(await badFiles(subject, operation(id))).toEqual([]);
  }
  expect(await fileAnswers(subject, operation('getFile'))).toEqual([]);
  expect(await eventStreams(subject, operation('streamFiles'))).toEqual([]);
  expect(await badPaths(subject, operation('getFile'))).toEqual([]);
  for (const id of ['createFile', 'createFileByForm', 'getFile', 'streamFiles']) {
    expect(await wrongCredentials(subject, operation(id))).toEqual([]);
    expect(await withClientToken(subject, operation(id))).toEqual([]);
  }
  expect(checker.findings).toEqual([]);
});

const withoutHeader =
  (...names: string[]): RequestHandler =>
  (req, _res, next) => {
    for (const name of names) delete req.headers[name];
    next();
  };

test.each<[string, RequestHandler, string, typeof badFiles]>([
  [
    'takes every file',
    (req, res, next) =>
      req.method === 'POST' ? void res.status(201).json({ data: { id: randomUUID() } }) : next(),
    'createFile',
    badFiles,
  ],
  ['ignores ranges', withoutHeader('range'), 'getFile', fileAnswers],
  ['ignores If-None-Match', withoutHeader('if-none-match'), 'getFile', fileAnswers],
  ['ignores If-Range', withoutHeader('if-range'), 'getFile', fileAnswers],
  [
    'has no stream',
    (req, res, next) => (req.path === '/stream' ? void res.json({}) : next()),
    'streamFiles',
    eventStreams,
  ],
])('a service that %s is detected', async (_flaw, before, id, check) => {
  const { subject, operation } = await started(before);
  expect(await check(subject, operation(id))).not.toEqual([]);
});
