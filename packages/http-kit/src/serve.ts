import { setMaxListeners } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { hasBody } from './body.ts';
import { answerRefusals, exchangeFor, requestTimedOut } from './refusals.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** Aborts when the server stops: answers without an end of their own have to end. */
    readonly stopping?: AbortSignal;
  }
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Takes no more connections, lets running requests end, and cuts what is left after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** Bodies that have not arrived in time, except for those whose reader has a deadline of its own. */
const bodyDeadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Takes the deadline for the body of a request over from the server. */
export const takeOverBodyDeadline = (req: IncomingMessage): void =>
  clearTimeout(bodyDeadlines.get(req));

/** Node would cut every request at the same age, and files take longer than anything else. */
const limitBodies = (server: Server, timeoutMs: number): void => {
  server.requestTimeout = 0;
  server.on('request', (req: IncomingMessage) => {
    if (!hasBody(req)) return;
    const expire = (): void => {
      if (!req.complete) server.emit('clientError', requestTimedOut(), req.socket);
    };
    const timer = setTimeout(expire, timeoutMs);
    bodyDeadlines.set(req, timer);
    req.once('close', () => clearTimeout(timer));
  });
};

/** The port belongs to someone else; the message names the variable that gives another one. */
export class PortTaken extends Error {}

const IDLE_CHECK_MS = 25;

const isExpress = (target: RequestListener): target is Express =>
  'request' in target && 'response' in target;

/**
 * Express gives each request and each answer the application's prototype when they arrive, and V8 then knows
 * their shape no longer: whatever touches them takes several times as long. Here they are born with it, and
 * Express finds nothing to change.
 */
const serverOf = (
  app: Express,
  connectionsCheckingInterval: number,
  stopping: AbortSignal,
): Server => {
  class AppRequest extends IncomingMessage {}
  // On the prototype, so that requests keep one shape.
  Object.defineProperty(app.request, 'stopping', { value: stopping, configurable: true });
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  const server = createServer(
    // `Host` is not required here: the application refuses its absence in an envelope of its own.
    {
      IncomingMessage: AppRequest,
      ServerResponse: AppResponse,
      requireHostHeader: false,
      connectionsCheckingInterval,
    },
    app,
  );
  answerRefusals(server, app, exchangeFor(AppRequest, AppResponse));
  return server;
};

const serverFor = (
  target: RequestListener | Server,
  connectionsCheckingInterval: number,
  stopping: AbortSignal,
): Server => {
  if (target instanceof Server) return target;
  return isExpress(target)
    ? serverOf(target, connectionsCheckingInterval, stopping)
    : createServer({ connectionsCheckingInterval }, target);
};

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The environment variable that changes the port. */
  readonly variable: string;
  /** How long the headers of a request may take to arrive, in milliseconds; a whole request five times that. */
  readonly headersTimeoutMs?: number;
}

/** Listens on a port (0: any free one). A taken port rejects with `PortTaken` that names `variable`. */
export const listen = async (
  target: RequestListener | Server,
  { host, port, variable, headersTimeoutMs = 60_000 }: ListenOptions,
): Promise<Listening> => {
  const stopping = new AbortController();
  // One listener for each open stream.
  setMaxListeners(0, stopping.signal);
  const checkInterval = Math.min(headersTimeoutMs / 2, 30_000);
  const server = serverFor(target, checkInterval, stopping.signal);
  server.headersTimeout = headersTimeoutMs;
  limitBodies(server, 5 * headersTimeoutMs);
  // Longer than a load balancer keeps its side open, so that it never writes into a closed connection.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken; set ${variable} to a free one.`;
      reject(error.code === 'EADDRINUSE' ? new PortTaken(taken, { cause: error }) : error);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    stop: (graceMs = 3000) =>
      new Promise((resolve) => {
        stopping.abort();
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        // A connection whose request ends now is kept alive for a next one, and would hold us up.
        const release = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(release);
          resolve();
        });
      }),
  };
};
