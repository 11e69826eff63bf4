import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import { HttpError } from './http-error.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** Why the server refuses the request before any route sees it. */
    refusal?: HttpError;
  }
}

/** The methods that routes may take, for `Allow`. */
const METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

/** How OpenTelemetry names a method that is not one of HTTP's. */
const UNKNOWN_METHOD = '_OTHER';

/** How long a client may keep its side of a refused connection open, in milliseconds. */
const LINGER_MS = 2000;

const closing = { Connection: 'close' };

const malformed = (message: string, cause?: unknown): HttpError =>
  new HttpError(400, 'malformed_request', message, { headers: closing, cause });

const unknownMethod = (method: string): HttpError =>
  new HttpError(405, 'method_not_allowed', `${method} is not allowed here.`, {
    headers: { ...closing, Allow: METHODS },
  });

/** The parser's words, such as "Missing expected CR after chunk data". */
const reasonOf = ({ reason }: { readonly reason?: unknown }): string =>
  typeof reason === 'string' && reason !== '' ? ` ${reason.replace(/\.$/, '')}.` : '';

const byCode: Readonly<Record<string, (error: Error) => HttpError>> = {
  HPE_HEADER_OVERFLOW: (cause) =>
    new HttpError(431, 'headers_too_large', 'The headers of the request are too large.', {
      headers: closing,
      cause,
    }),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: (cause) =>
    new HttpError(413, 'body_too_large', 'The chunk extensions of the body are too large.', {
      headers: closing,
      cause,
    }),
  ERR_HTTP_REQUEST_TIMEOUT: (cause) =>
    new HttpError(408, 'request_timeout', 'The request did not arrive in time.', {
      headers: closing,
      cause,
    }),
  HPE_INVALID_METHOD: () => unknownMethod('The method'),
};

/** What an error of the HTTP parser means to the client; undefined: the connection itself is broken. */
const refusalOf = (error: NodeJS.ErrnoException): HttpError | undefined => {
  const { code = '' } = error;
  const known = byCode[code];
  if (known) return known(error);
  if (!code.startsWith('HPE_')) return undefined;
  return malformed(`The request is not well-formed HTTP.${reasonOf(error as object)}`, error);
};

/** What Node reports where a request does not arrive in time. */
export const requestTimedOut = (): Error =>
  Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

/** The request and the answer that a connection is busy with. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

type NewExchange = (socket: Duplex) => Exchange;
type Answer = (req: IncomingMessage, res: ServerResponse) => void;

/** Sends the answer over a connection that no parser reads any more, and ends the connection. */
const refuse = (socket: Duplex, refusal: HttpError, make: NewExchange, answer: Answer): void => {
  const { req, res } = make(socket);
  req.refusal = refusal;
  res.shouldKeepAlive = false;
  res.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  res.once('finish', () => {
    // Closed at once, a client that still sends would see a reset in the place of the answer.
    socket.end();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(cut));
  });
  answer(req, res);
};

/**
 * Answers what Node's HTTP parser and server refuse the way the application answers everything else: in its
 * envelope, with its headers, its log line and its metrics. `make` gives a request and an answer for a
 * connection on which none could be read.
 */
export const answerRefusals = (server: Server, answer: Answer, make: NewExchange): void => {
  const exchanges = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  server.on('request', (req, res) => exchanges.set(req.socket, { req, res }));
  /** Nothing catches what an event of the server throws: the process would end. */
  const send = (socket: Duplex, refusal: HttpError): void => {
    if (!socket.writable) return;
    try {
      refuse(socket, refusal, make, answer);
    } catch {
      socket.destroy();
    }
  };

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What follows the refused bytes is as meaningless as they are.
    if (refused.has(socket)) return;
    const refusal = refusalOf(error);
    if (!refusal || !socket.writable) return void socket.destroy();
    refused.add(socket);
    const { req, res } = exchanges.get(socket) ?? {};
    if (!req || !res || res.writableFinished) return send(socket, refusal);
    // Its own refusal is being sent, and ends the connection.
    if (req.refusal) return;
    // A well-formed request before the refused bytes has its answer first.
    if (req.complete) return void res.once('finish', () => send(socket, refusal));
    // The refused bytes belong to a request that has an answer of its own. One that has begun cannot be taken
    // back, and one that waits for the answers before it does not own the connection yet.
    if (res.headersSent || res.socket !== socket) return void socket.destroy();
    res.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
    // Without its connection it would neither end nor close, and whoever makes the answer would wait for it.
    res.destroy();
    res.emit('close');
    send(socket, refusal);
  });

  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    const message = 'Only the expectation "100-continue" is supported.';
    req.refusal = new HttpError(417, 'expectation_failed', message, { headers: closing });
    exchanges.set(req.socket, { req, res });
    answer(req, res);
  });

  server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const before = exchanges.get(socket)?.res;
    // The server has let go of the connection: an answer that is under way can no longer be finished.
    if (before && !before.writableFinished) return void socket.destroy();
    send(socket, unknownMethod('CONNECT'));
  });
};

/** Makes the parts of the exchange for a connection on which no request could be read. */
export const exchangeFor =
  (
    Request: new (socket: never) => IncomingMessage,
    Response: new (req: never) => ServerResponse,
  ): NewExchange =>
  (socket) => {
    const req = new Request(socket as never);
    req.method = UNKNOWN_METHOD;
    req.url = '*';
    req.httpVersionMajor = 1;
    req.httpVersionMinor = 1;
    return { req, res: new Response(req as never) };
  };

/**
 * Refuses what the server found wrong, and a request of HTTP/1.1 without `Host` (RFC 9112 section 3.2): the
 * server is told to leave that to us, since its own refusal has no body.
 */
export const refuseUnfit: RequestHandler = (req, _res, next) => {
  if (req.refusal) return next(req.refusal);
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    return next(malformed('The header Host is missing.'));
  }
  next();
};
