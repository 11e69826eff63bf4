import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import { HttpError } from './http-error.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** Why the server rejects the request before it reaches a route. */
    refusal?: HttpError;
  }
}

/** The methods for `Allow`. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** OpenTelemetry's name for unknown HTTP methods. */
const UNKNOWN_METHOD = '_OTHER';

/** How long a client may keep its side of a rejected connection open, in milliseconds. */
const LINGER_MS = 2000;

const closing = { Connection: 'close' };

const malformed = (message: string, cause?: unknown): HttpError =>
  new HttpError(400, 'malformed_request', message, { headers: closing, cause });

const unknownMethod = (method: string): HttpError =>
  new HttpError(405, 'method_not_allowed', `${method} is not allowed here.`, {
    headers: { ...closing, Allow: METHODS },
  });

/** The message of the parser, such as "Missing expected CR after chunk data". */
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

/** The HTTP error for an error of Node's parser; undefined if the connection itself failed. */
const errorOf = (error: NodeJS.ErrnoException): HttpError | undefined => {
  const { code = '' } = error;
  const known = byCode[code];
  if (known) return known(error);
  if (!code.startsWith('HPE_')) return undefined;
  return malformed(`The request is not well-formed HTTP.${reasonOf(error as object)}`, error);
};

/** The error that Node reports if a request does not arrive in time. */
export const requestTimedOut = (): Error =>
  Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

/** The current request and response of a connection. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

type NewExchange = (socket: Duplex) => Exchange;
type Responder = (req: IncomingMessage, res: ServerResponse) => void;

/** Sends the response on a connection that is no longer parsed, then ends the connection. */
const refuse = (socket: Duplex, refusal: HttpError, make: NewExchange, answer: Responder): void => {
  const { req, res } = make(socket);
  req.refusal = refusal;
  res.shouldKeepAlive = false;
  res.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  res.once('finish', () => {
    // Closing at once would make a client that is still sending see a reset instead of the response.
    socket.end();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(cut));
  });
  answer(req, res);
};

/**
 * Makes errors of Node's HTTP parser and server look like the application's: with its envelope, headers, log
 * line and metrics. `make` creates a request and a response for a connection on which none could be parsed.
 */
export const handleParserErrors = (server: Server, answer: Responder, make: NewExchange): void => {
  const exchanges = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  server.on('request', (req, res) => exchanges.set(req.socket, { req, res }));
  /** An exception in a listener of the server would end the process. */
  const send = (socket: Duplex, refusal: HttpError): void => {
    if (!socket.writable) return;
    try {
      refuse(socket, refusal, make, answer);
    } catch {
      socket.destroy();
    }
  };

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Ignore the bytes that follow an invalid request.
    if (refused.has(socket)) return;
    const refusal = errorOf(error);
    if (!refusal || !socket.writable) return void socket.destroy();
    refused.add(socket);
    const { req, res } = exchanges.get(socket) ?? {};
    if (!req || !res || res.writableFinished) return send(socket, refusal);
    // Its own error response is being sent and ends the connection.
    if (req.refusal) return;
    // Finish the response to a valid request before the invalid bytes.
    if (req.complete) return void res.once('finish', () => send(socket, refusal));
    // The invalid bytes belong to a request that is already being answered. If its response has begun, it
    // cannot be replaced; if it waits for earlier responses, it does not own the connection yet.
    if (res.headersSent || res.socket !== socket) return void socket.destroy();
    res.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
    // Without a connection, the response would never finish, and its handler would wait forever.
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
    // The server has released the connection, so a response in progress can no longer finish.
    if (before && !before.writableFinished) return void socket.destroy();
    send(socket, unknownMethod('CONNECT'));
  });
};

/** Creates a request and a response for a connection on which no request could be parsed. */
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
 * Rejects requests that the server found invalid, and HTTP/1.1 requests without `Host` (RFC 9112 section 3.2).
 * The server's own check of `Host` is disabled, because its response has no body.
 */
export const rejectInvalidRequests: RequestHandler = (req, _res, next) => {
  if (req.refusal) return next(req.refusal);
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    return next(malformed('The header Host is missing.'));
  }
  next();
};
