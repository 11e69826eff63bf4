import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { responseHeaders } from './headers.ts';

/**
 * The headers that helmet sets regardless of the request. They are computed once, because helmet takes longer
 * than a route.
 */
const headersOf = (set: ReturnType<typeof helmet>): readonly (readonly [string, string])[] => {
  const headers: [string, string][] = [];
  const recorder = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  set({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error) throw error;
  });
  return headers;
};

/** Security headers for API responses: nothing in them may be run, framed or stored. */
export const securityHeaders = (): RequestHandler => {
  const headers = headersOf(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      },
      referrerPolicy: { policy: 'no-referrer' },
      xFrameOptions: { action: 'deny' },
    }),
  );
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    res.setHeader('Cache-Control', 'no-store');
    next();
  };
};

export interface CrossOrigin {
  /** Exact origins that may call the API from a browser. */
  readonly origins: readonly string[];
  /** Whether requests from these origins may include cookies. */
  readonly credentials: boolean;
  /** Paths that scripts of every origin may read, without credentials; by default none. */
  isOpen?(path: string): boolean;
}

/** Every header that the API describes: some of them a browser exposes anyway. */
const EXPOSED = Object.keys(responseHeaders);

/**
 * Allows cross-origin requests from exactly these origins, and exposes the headers that clients need. `limit`
 * counts preflight requests, which do not reach a route. Responses of open paths are the same for every origin, so that
 * shared caches need only one of them.
 */
export const crossOrigin = (
  { origins, credentials, isOpen = () => false }: CrossOrigin,
  limit: RequestHandler,
): RequestHandler => {
  const toEveryOrigin = cors({
    origin: '*',
    methods: ['GET', 'HEAD'],
    exposedHeaders: [...EXPOSED],
    maxAge: 600,
  });
  const toBrowsers = cors({
    origin: [...origins],
    credentials,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [...EXPOSED],
    maxAge: 600,
  });
  const allowed: ReadonlySet<string | undefined> = new Set(origins);
  return (req, res, next) => {
    const isForAll = isOpen(req.path);
    // A cache must not serve the response for one origin to another.
    if (allowed.size > 0 && !isForAll) res.vary('Origin');
    // `cors` treats every OPTIONS request as a preflight; others ask a route for its methods.
    const isPreflight = req.headers['access-control-request-method'] !== undefined;
    const answer = isForAll ? toEveryOrigin : toBrowsers;
    if (!isForAll && !allowed.has(req.headers.origin)) next();
    else if (req.method !== 'OPTIONS') answer(req, res, next);
    else if (isPreflight)
      limit(req, res, (error) => (error ? next(error) : answer(req, res, next)));
    else next();
  };
};
