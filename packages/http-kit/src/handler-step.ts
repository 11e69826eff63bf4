import { inRequestSpan } from '@tessera/telemetry';
import type { Request, RequestHandler, Response } from 'express';
import { whileHandled } from './bodies/read-bytes.ts';
import { discardBody } from './files/discard-body.ts';
import { isFileBody } from './files/file-body.ts';
import type { ServedFile } from './files/file-response.ts';
import { type Receiving, receiveFile } from './files/receive-file.ts';
import { sendFile } from './files/send-file.ts';
import type { EndUpload } from './files/upload-slots.ts';
import {
  fingerprintOf,
  hashUpload,
  type Idempotency,
  idempotencyKeyInUse,
  idempotencyKeyOf,
  type KeyedRequest,
  REPLAYED,
  type RepeatableResponse,
} from './idempotency.ts';
import { JsonText } from './json-text.ts';
import type { AccessChecks, LastingAccess } from './lasting-access.ts';
import { continueOnLoop } from './on-loop.ts';
import { readInput } from './request-input.ts';
import type { HandlerInput, Reply, Responses, RouteEntry, StreamedBody } from './route.ts';
import { send } from './send.ts';

/** Sends a body that is not available all at once. */
export type SendBody = (
  req: Request,
  res: Response,
  body: never,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

/** How a response is sent; undefined for JSON and for no body. What takes long ends when the caller loses access. */
const senderOf = (
  declared: object,
  { streams, access }: Pick<HandlerStepOptions, 'streams' | 'access'>,
  route: RouteEntry,
): SendBody | undefined => {
  if ('streamed' in declared) {
    return async (req, res, body: StreamedBody, headers) => {
      const { signal, end } = access.watch(req, res, route);
      await send(res, body, headers, signal).finally(end);
    };
  }
  if ('fileTypes' in declared) {
    return async (req, res, body: ServedFile, headers) => {
      const { confirm: alsoConfirm } = body;
      const { signal, end } = access.watch(req, res, route, alsoConfirm && { alsoConfirm });
      await sendFile(req, res, body, headers, signal).finally(end);
    };
  }
  return 'events' in declared ? streams : undefined;
};

const sendText = (res: Response, { text }: JsonText): void => {
  if (!res.get('Content-Type')) res.type('json');
  res.send(text);
};

const sendJson = (res: Response, { status, body, headers }: RepeatableResponse): void => {
  res.status(status).set(headers);
  if (body === undefined) res.end();
  else if (body instanceof JsonText) sendText(res, body);
  else res.json(body);
};

interface KeyedExchange {
  readonly res: Response;
  readonly request: KeyedRequest;
  /** Returns the body to send; throws if the caller may no longer see that of the stored response. */
  readonly replayedBody: (stored: RepeatableResponse) => Promise<unknown>;
}

/** Runs a handler once for each key: `collect` returns its response instead of sending it. */
const answerOnce = async (
  idempotency: Idempotency<unknown>,
  { res, request, replayedBody }: KeyedExchange,
  collect: () => Promise<RepeatableResponse>,
  discard: () => Promise<void> = async () => undefined,
): Promise<void> => {
  const { response, isReplayed } = await idempotency.once(res.locals.caller, request, collect);
  if (!isReplayed) return sendJson(res, response);
  await discard();
  const body = await replayedBody(response);
  res.set(REPLAYED, 'true');
  sendJson(res, { ...response, body });
};

type Input = HandlerInput<unknown, undefined, undefined, undefined, Responses>;
type CommitUpload = Input['commitUpload'];

/** What the last step of a route needs besides the route. */
export interface HandlerStepOptions {
  readonly streams: SendBody;
  readonly idempotency: Idempotency<unknown> | undefined;
  /** Counts an upload until it ends; throws 429 if there are too many. */
  readonly beginUpload: (req: Request, res: Response) => EndUpload;
  /** Asks for the caller's rights again while the request takes long. */
  readonly access: AccessChecks<unknown>;
}

/** Returns the last step of a route: it validates the input, runs the handler and sends its response. */
export const handlerStep = (
  route: RouteEntry,
  { streams, idempotency, beginUpload, access }: HandlerStepOptions,
): RequestHandler => {
  const answer = async (req: Request, res: Response): Promise<void> => {
    // The body may have taken long to arrive.
    await access.confirm(req, res, route);
    const { caller } = res.locals;
    const { params, query, body: validated } = readInput(route, req);
    const body = route.acceptBody
      ? await route.acceptBody({ caller, body: req.body } as never)
      : validated;
    const reply = (status: number, ...rest: unknown[]): Reply | Promise<Reply> => {
      const declared = route.responses[status] ?? {};
      const isEmpty = 'empty' in declared;
      const sendBody = senderOf(declared, { streams, access }, route);
      if (sendBody) {
        const [sent, headers = {}] = rest as [never, Record<string, string>?];
        return sendBody(req, res.status(status), sent, headers).then(() => ({}) as Reply);
      }
      const [payload, headers = {}] = isEmpty ? [undefined, rest[0]] : rest;
      respond({ status, body: payload, headers: headers as RepeatableResponse['headers'] });
      return {} as Reply;
    };
    let lasting: LastingAccess | undefined;
    const confirmAccess = async (): Promise<void> => lasting?.confirm();
    let respond = (response: RepeatableResponse): void => sendJson(res, response);
    const collect = async (work: () => unknown): Promise<RepeatableResponse> => {
      let collected: RepeatableResponse | undefined;
      respond = (response) => {
        collected = response;
      };
      await work();
      if (!collected) throw new Error(`${route.path}: the handler has not replied.`);
      return collected;
    };
    const commitPlain: CommitUpload = async (work) => {
      await confirmAccess();
      return work();
    };
    const run = (body: unknown, commitUpload = commitPlain): unknown => {
      const input = { params, query, body, caller, req, res, reply, commitUpload, confirmAccess };
      return route.handler?.(input as never);
    };
    const key = idempotency && idempotencyKeyOf(req);
    const once = async (
      { fingerprint, body }: { readonly fingerprint: Buffer; readonly body: unknown },
      work: () => unknown,
      discard?: () => Promise<void>,
    ): Promise<void> => {
      const replayedBody = async ({ body: response, headers }: RepeatableResponse) => {
        const replay = { params, caller, body, response, headers };
        return (await route.authorizeReplay?.(replay as never)) ?? response;
      };
      const exchange = { res, request: { key: key as string, fingerprint }, replayedBody };
      const kept = idempotency as Idempotency<unknown>;
      await answerOnce(kept, exchange, () => collect(work), discard);
    };
    if (!isFileBody(route.body)) {
      const isReplayed = async () => key !== undefined && (await idempotency?.isUsed(caller, key));
      if (route.prepare && !(await isReplayed()))
        await route.prepare(body as never, caller as never);
      if (key === undefined) await run(body);
      else await once({ fingerprint: fingerprintOf(req), body }, () => run(body));
      return;
    }
    let receiving: Receiving | undefined;
    let endUpload: EndUpload | undefined;
    try {
      endUpload = beginUpload(req, res);
      lasting = access.watch(req, res, route);
      receiving = await receiveFile(req, route.body, lasting);
      if (key === undefined) return void (await run(receiving.received));
      const { received, fingerprint } = hashUpload(req, receiving.received);
      const onceRead = (work: () => unknown, discard?: () => Promise<void>): Promise<void> =>
        once({ fingerprint: fingerprint(), body: received }, work, discard);
      if (await idempotency?.isUsed(caller, key)) {
        for await (const _chunk of received.content);
        // The key may have expired while the file was read.
        return void (await onceRead(() => Promise.reject(idempotencyKeyInUse())));
      }
      let isCommitted = false;
      await run(received, async (work, discard) => {
        isCommitted = true;
        await confirmAccess();
        await onceRead(work, discard);
        return {} as Reply;
      });
      if (!isCommitted) throw new Error(`${route.path}: the handler has not used commitUpload.`);
    } finally {
      receiving?.stop();
      lasting?.end();
      endUpload?.();
      discardBody(req, res);
    }
  };
  return function handle(req, res) {
    const run = (): Promise<void> =>
      inRequestSpan(req, () => continueOnLoop(res, () => answer(req, res)));
    return res.locals.bodyRoom === undefined ? run() : whileHandled(res, run);
  };
};
