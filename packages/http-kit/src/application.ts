import { traceRequests } from '@tessera/telemetry';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { type CrossOrigin, corsHeaders } from './cross-origin.ts';
import { type ErrorHandlerOptions, errorHandler, unknownRoute } from './error-handler.ts';
import type { Limits } from './limits.ts';
import { type Logger, type RequestLogOptions, requestLog } from './logs.ts';
import type { Metrics } from './metrics.ts';
import { type MountOptions, mount } from './mount.ts';
import { openapi } from './openapi/openapi.ts';
import type { DocumentOptions } from './openapi/options.ts';
import { rejectInvalidRequests } from './parser-errors.ts';
import { reference } from './reference.ts';
import type { RouteGroups } from './route.ts';
import { securityHeaders } from './security.ts';

export interface ApplicationOptions<Caller>
  extends MountOptions<Caller>,
    ErrorHandlerOptions,
    RequestLogOptions {
  readonly groups: RouteGroups;
  /** What the OpenAPI document states besides the routes; the gate declares its credentials. */
  readonly about: Omit<DocumentOptions, 'credentials'>;
  /** Further documents to serve besides the OpenAPI document, by path; called when they are first requested. */
  readonly documents?: Readonly<Record<string, () => object>>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * How many proxies in front of the service are trusted to report the client's address, counted from the
   * right.
   */
  readonly trustedProxies: number;
  readonly cors: CrossOrigin;
  /** Called for every request before it is routed; tests use them to check responses against the document. */
  readonly observers: readonly RequestHandler[];
}

/** Preflight requests count towards this class, not towards the limit of the requests that follow them. */
const limitOfPreflights = 'service';

/** Counts requests that no route handles because their address is malformed. */
const limitedErrors =
  ({ address }: Limits): ErrorRequestHandler =>
  (error, req, res, next) => {
    const isUnrouted = error instanceof URIError && res.locals.operation === undefined;
    if (!isUnrouted) return next(error);
    return address('default')(req, res, (limited?: unknown) => next(limited ?? error));
  };

/** The application of a service. */
export interface Application {
  readonly app: Express;
  /** The OpenAPI document; created when it is first read, because that takes a tenth of a service's start. */
  readonly document: object;
}

/** Creates the application of a service. This function sets the order of the middleware. */
export const createApplication = <Caller>(options: ApplicationOptions<Caller>): Application => {
  const { groups, about, logger, metrics, limits } = options;
  const cors = corsHeaders(options.cors, limits.address(limitOfPreflights));
  let created: object | undefined;
  const document = (): object => {
    created ??= openapi(groups, {
      ...about,
      render: options.render,
      credentials: options.gate.credentials ?? {},
      takesIdempotencyKeys: options.idempotency !== undefined,
    });
    return created;
  };
  const documents = { '/docs/api.json': document, ...options.documents };

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustedProxies);

  app.use(traceRequests);
  app.use(requestLog(logger, options));
  app.use(metrics.observe);
  app.use(securityHeaders());
  app.use(rejectInvalidRequests);
  for (const observer of options.observers) app.use(observer);
  app.use(mount(groups, options, cors));
  app.use(reference(about.title, documents, limits.address('service'), cors));
  app.use(limits.address('default'), unknownRoute);
  app.use(limitedErrors(limits));
  app.use(errorHandler(options));
  return {
    app,
    get document() {
      return document();
    },
  };
};
