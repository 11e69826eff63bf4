import {
  createServer,
  IncomingMessage,
  type RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { answerRefusals, exchangeFor } from './refusals.ts';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Takes no more connections, lets running requests end, and cuts what is left after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

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
const serverOf = (app: Express, connectionsCheckingInterval: number): Server => {
  class AppRequest extends IncomingMessage {}
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
): Server => {
  if (target instanceof Server) return target;
  return isExpress(target)
    ? serverOf(target, connectionsCheckingInterval)
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
  const server = serverFor(target, Math.min(headersTimeoutMs / 2, 30_000));
  server.headersTimeout = headersTimeoutMs;
  server.requestTimeout = 5 * headersTimeoutMs;
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
