import type { Request, RequestHandler, Response } from 'express';
import { discardBody } from './files/discard-body.ts';
import { isFileBody } from './files/file-body.ts';
import type { ServedFile } from './files/file-response.ts';
import { type Receiving, receiveFile } from './files/receive-file.ts';
import { sendFile } from './files/send-file.ts';
import {
  fingerprintOf,
  type Idempotency,
  idempotencyKeyOf,
  REPLAYED,
  type RepeatableResponse,
} from './idempotency.ts';
import { readInput } from './request-input.ts';
import type { Reply, RouteEntry, StreamedBody } from './route.ts';
import { send } from './send.ts';

/** Sends a body that is not available all at once. */
export type SendBody = (
  req: Request,
  res: Response,
  body: never,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

/** How a response is sent; undefined for JSON and for no body. */
const senderOf = (declared: object, streams: SendBody): SendBody | undefined => {
  if ('streamed' in declared)
    return (_req, res, body: StreamedBody, headers) => send(res, body, headers);
  if ('fileTypes' in declared) {
    return (req, res, body: ServedFile, headers) => sendFile(req, res, body, headers);
  }
  return 'events' in declared ? streams : undefined;
};

const sendJson = (res: Response, { status, body, headers }: RepeatableResponse): void => {
  res.status(status).set(headers);
  if (body === undefined) res.end();
  else res.json(body);
};

interface KeyedExchange {
  readonly req: Request;
  readonly res: Response;
  readonly key: string;
  /** Throws if the caller may no longer see the body of the stored response. */
  readonly authorizeReplay: (response: unknown) => void;
}

/** Runs a handler once for each key: `collect` returns its response instead of sending it. */
const answerOnce = async (
  idempotency: Idempotency<unknown>,
  { req, res, key, authorizeReplay }: KeyedExchange,
  collect: () => Promise<RepeatableResponse>,
): Promise<void> => {
  const request = { key, fingerprint: fingerprintOf(req) };
  const { response, isReplayed } = await idempotency.once(res.locals.caller, request, collect);
  if (isReplayed) {
    authorizeReplay(response.body);
    res.set(REPLAYED, 'true');
  }
  sendJson(res, response);
};

/** Returns the last step of a route: it validates the input, runs the handler and sends its response. */
export const handlerStep = (
  route: RouteEntry,
  streams: SendBody,
  idempotency: Idempotency<unknown> | undefined,
): RequestHandler =>
  async function handle(req, res) {
    const { params, query, body } = readInput(route, req);
    const reply = (status: number, ...rest: unknown[]): Reply | Promise<Reply> => {
      const declared = route.responses[status] ?? {};
      const isEmpty = 'empty' in declared;
      const sendBody = senderOf(declared, streams);
      if (sendBody) {
        const [sent, headers = {}] = rest as [never, Record<string, string>?];
        return sendBody(req, res.status(status), sent, headers).then(() => ({}) as Reply);
      }
      const [payload, headers = {}] = isEmpty ? [undefined, rest[0]] : rest;
      respond({ status, body: payload, headers: headers as RepeatableResponse['headers'] });
      return {} as Reply;
    };
    const { caller } = res.locals;
    let respond = (response: RepeatableResponse): void => sendJson(res, response);
    const run = (body: unknown) =>
      route.handler?.({ params, query, body, caller, req, res, reply } as never);
    const key = idempotency && idempotencyKeyOf(req);
    if (idempotency && key !== undefined) {
      const authorizeReplay = (response: unknown): void =>
        route.authorizeReplay?.({ caller, body, response } as never);
      await answerOnce(idempotency, { req, res, key, authorizeReplay }, async () => {
        let collected: RepeatableResponse | undefined;
        respond = (response) => {
          collected = response;
        };
        await run(body);
        if (!collected) throw new Error(`${route.path}: the handler has not replied.`);
        return collected;
      });
      return;
    }
    if (!isFileBody(route.body)) return void (await run(body));
    let receiving: Receiving | undefined;
    try {
      receiving = await receiveFile(req, route.body);
      await run(receiving.received);
    } finally {
      receiving?.stop();
      discardBody(req, res);
    }
  };
