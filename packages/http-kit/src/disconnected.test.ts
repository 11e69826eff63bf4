import { connect } from 'node:net';
import { optional, shape, text } from '@tessera/fields';
import type { RequestHandler } from 'express';
import { empty, fileBody, listen } from './index.ts';
import { appOf, route } from './testing/things.ts';

const Start = shape({ note: optional(text(20)) });
/** A body that may be left out. */
const StartInput = { ...Start, joi: Start.joi.optional().default({}), absent: true } as object;

const handled: unknown[] = [];
const routes = {
  startThing: route({
    method: 'post',
    path: '/start',
    permission: 'public',
    summary: 'Start',
    body: StartInput as typeof Start,
    responses: { 204: empty },
    handler({ body, reply }) {
      handled.push(body);
      return reply(204);
    },
  }),
  putFile: route({
    method: 'put',
    path: '/file',
    permission: 'public',
    summary: 'File',
    body: fileBody({ types: ['text/plain'], maxBytes: 1000 }),
    responses: { 204: empty },
    handler({ reply }) {
      handled.push('file');
      return reply(204);
    },
  }),
};

/** Sends a request, disconnects before the service reads its body, and returns the status that nobody receives. */
const statusAfterDisconnect = async (line: string, type: string): Promise<number> => {
  let disconnect = (): void => undefined;
  let answer: (status: number) => void = () => undefined;
  const answered = new Promise<number>((resolve) => {
    answer = resolve;
  });
  const untilClosed: RequestHandler = (req, res, next) => {
    const end = res.end.bind(res) as (...given: unknown[]) => typeof res;
    res.end = (...given: unknown[]) => {
      answer(res.statusCode);
      return end(...given);
    };
    req.once('close', () => next());
    disconnect();
  };
  const app = appOf({ Things: routes }, {}, untilClosed);
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  try {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    disconnect = () => socket.destroy();
    const body = '{"note":"a"}';
    const headers = ['Host: a', `Content-Type: ${type}`, `Content-Length: ${body.length}`];
    socket.write(`${[`${line} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n${body}`);
    return await answered;
  } finally {
    await server.stop(0);
  }
};

test.each([
  ['A change whose body may be left out', 'POST /start', 'application/json'],
  ['An upload', 'PUT /file', 'text/plain'],
])(
  '%s is not performed if its client disconnects before the body is read',
  async (_, line, type) => {
    handled.length = 0;
    expect(await statusAfterDisconnect(line, type)).toBe(400);
    expect(handled).toEqual([]);
  },
);
