import { setMaxListeners } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Express } from 'express';
import { requirePace } from './bodies/require-pace.ts';
import { shareConnections } from './connection-shares.ts';
import { exchangeFor, handleParserErrors } from './parser-errors.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** Aborts when the server is about to stop: proxies should send their requests elsewhere. */
    readonly stopAnnounced?: AbortSignal;
    /** Aborts when the server stops, so that responses without an end of their own can finish. */
    readonly stopping?: AbortSignal;
  }
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Announces the stop: from now on `/readyz` fails, so that load balancers go elsewhere. All requests are served. */
  announceStop(): void;
  /**
   * Stops accepting connections; soon afterwards each response ends its connection. Closes connections that are idle after
   * `idleMs`, waits for running requests, and closes what is left after `graceMs`.
   */
  stop(graceMs?: number, idleMs?: number): Promise<void>;
}

/** The port is in use; the message names the variable that sets another one. */
export class PortInUseError extends Error {}

/** A body has to keep its minimal pace in each window, four of which are as long as headers may take. */
const WINDOWS_OF_HEADERS = 4;

const IDLE_CHECK_MS = 25;
/** How long a stop waits for a turn of the event loop that is short and without a new connection. */
const ACCEPT_LIMIT_MS = 1000;
const SHORT_TURN_MS = 0.2;

interface Stops {
  readonly stopAnnounced: AbortSignal;
  readonly stopping: AbortSignal;
}

/** Returns a function that lets each response end its connection, also those of the requests in progress. */
const lastResponses = (server: Server): (() => void) => {
  const unanswered = new Set<ServerResponse>();
  let areLast = false;
  server.prependListener('request', (_req, res: ServerResponse) => {
    if (areLast) res.shouldKeepAlive = false;
    else {
      unanswered.add(res);
      res.once('close', () => unanswered.delete(res));
    }
  });
  return () => {
    areLast = true;
    for (const res of unanswered) res.shouldKeepAlive = false;
    unanswered.clear();
  };
};

/**
 * Returns a function that resolves at the end of a short turn of the event loop without a new connection. Each turn takes one
 * connection from the queue of the operating system, which resets those that wait or arrive when the server closes, together
 * with the requests that their clients have already sent.
 */
const emptyQueue = (server: Server): (() => Promise<void>) => {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  return async () => {
    const deadline = performance.now() + ACCEPT_LIMIT_MS;
    let isQuiet = false;
    for (let now = performance.now(); !isQuiet && now < deadline; now = performance.now()) {
      const before = accepted;
      await nextTurn();
      isQuiet = accepted === before && performance.now() - now < SHORT_TURN_MS;
    }
  };
};

const isExpress = (target: RequestListener): target is Express =>
  'request' in target && 'response' in target;

/** Whether connections come from proxies that the application trusts. */
const isProxied = (target: RequestListener | Server): boolean =>
  typeof target === 'function' && isExpress(target) && Boolean(target.get('trust proxy'));

/**
 * Express changes the prototype of every request and response, which makes V8 lose their hidden class, and
 * every later access takes several times as long. These classes have the application's prototypes from the
 * start, so Express changes nothing.
 */
const serverOf = (
  app: Express,
  connectionsCheckingInterval: number,
  { stopAnnounced, stopping }: Stops,
): Server => {
  class AppRequest extends IncomingMessage {}
  // On the prototype, so that all requests keep one hidden class.
  Object.defineProperties(app.request, {
    stopAnnounced: { value: stopAnnounced, configurable: true },
    stopping: { value: stopping, configurable: true },
  });
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  const server = createServer(
    // A missing `Host` header is rejected by the application, in its own envelope.
    {
      IncomingMessage: AppRequest,
      ServerResponse: AppResponse,
      requireHostHeader: false,
      connectionsCheckingInterval,
    },
    app,
  );
  handleParserErrors(server, app, exchangeFor(AppRequest, AppResponse));
  return server;
};

const serverFor = (
  target: RequestListener | Server,
  connectionsCheckingInterval: number,
  stops: Stops,
): Server => {
  if (target instanceof Server) return target;
  return isExpress(target)
    ? serverOf(target, connectionsCheckingInterval, stops)
    : createServer({ connectionsCheckingInterval }, target);
};

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The environment variable that sets the port; for the error message. */
  readonly variable: string;
  /** The timeout for the headers of a request in milliseconds. Bodies need a minimal pace: see `requirePace`. */
  readonly headersTimeoutMs?: number;
}

/**
 * Listens on a port (0: any free one). Rejects with `PortInUseError`, which names `variable`, if the port is in use.
 */
export const listen = async (
  target: RequestListener | Server,
  { host, port, variable, headersTimeoutMs = 60_000 }: ListenOptions,
): Promise<Listening> => {
  const announced = new AbortController();
  const stopping = new AbortController();
  // Every open stream adds a listener, so their number is not limited.
  setMaxListeners(0, stopping.signal);
  const checkInterval = Math.min(headersTimeoutMs / 2, 30_000);
  const server = serverFor(target, checkInterval, {
    stopAnnounced: announced.signal,
    stopping: stopping.signal,
  });
  const endConnections = lastResponses(server);
  const untilQueueEmpty = emptyQueue(server);
  server.headersTimeout = headersTimeoutMs;
  requirePace(server, headersTimeoutMs / WINDOWS_OF_HEADERS);
  shareConnections(server, { isProxied: isProxied(target) });
  // Longer than a load balancer keeps an idle connection, so that it never sends a request on a closed one.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken; set ${variable} to a free one.`;
      reject(error.code === 'EADDRINUSE' ? new PortInUseError(taken, { cause: error }) : error);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    announceStop: () => announced.abort(),
    async stop(graceMs = 3000, idleMs = 0) {
      stopping.abort();
      await untilQueueEmpty();
      const closed = new Promise<void>((resolve) => {
        // `close` of an HTTP server also closes idle connections, on which a request may be on its way.
        NetServer.prototype.close.call(server, () => resolve());
      });
      // Not before other workers have closed the port, too: clients would open many new connections meanwhile.
      const end = setTimeout(endConnections, Math.min(idleMs, ACCEPT_LIMIT_MS));
      const idleFrom = performance.now() + idleMs;
      const release = setInterval(() => {
        if (performance.now() >= idleFrom) server.closeIdleConnections();
      }, IDLE_CHECK_MS);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(end);
      clearTimeout(cut);
      clearInterval(release);
    },
  };
};
