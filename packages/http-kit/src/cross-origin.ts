import cors from 'cors';
import type { Request, RequestHandler } from 'express';
import { responseHeaders } from './headers.ts';
import { HttpError } from './http-error.ts';
import { type CrossOriginUse, crossOriginUseOf, type Problem, type RouteEntry } from './route.ts';

export interface CrossOrigin {
  /** Exact origins whose scripts may call the API. */
  readonly origins: readonly string[];
  /** Whether requests from these origins may include cookies. */
  readonly credentials: boolean;
}

/** Sets the CORS headers of a route and answers its preflight requests. */
export type CorsHeaders = Readonly<Record<CrossOriginUse, RequestHandler>>;

const none: RequestHandler = (_req, _res, next) => next();

/** For a service that no other origin may call. */
export const noCors: CorsHeaders = {
  configured: none,
  every: none,
  navigation: none,
  embedding: none,
};

/** Every header that the API describes: some of them a browser exposes anyway. */
const EXPOSED = Object.keys(responseHeaders);

const common = { exposedHeaders: EXPOSED, maxAge: 600 };

/**
 * The CORS headers of each kind of route. `limit` counts preflight requests, which do not reach a route. Responses that
 * scripts of every origin may read are the same for all, so that shared caches need only one of them.
 */
export const corsHeaders = (
  { origins, credentials }: CrossOrigin,
  limit: RequestHandler,
): CorsHeaders => {
  const allowed: ReadonlySet<string | undefined> = new Set(origins);
  const answering =
    (answer: RequestHandler): RequestHandler =>
    (req, res, next) => {
      // `cors` treats every OPTIONS request as a preflight; others ask a route for its methods.
      const isPreflight = req.headers['access-control-request-method'] !== undefined;
      if (req.method !== 'OPTIONS') answer(req, res, next);
      else if (isPreflight)
        limit(req, res, (error) => (error ? next(error) : answer(req, res, next)));
      else next();
    };
  const toConfigured = answering(
    cors({
      ...common,
      origin: [...origins],
      credentials,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    }),
  );
  return {
    ...noCors,
    configured: (req, res, next) => {
      // A cache must not serve the response for one origin to another.
      if (allowed.size > 0) res.vary('Origin');
      return allowed.has(req.headers.origin) ? toConfigured(req, res, next) : next();
    },
    every: answering(cors({ ...common, origin: '*', methods: ['GET', 'HEAD'] })),
  };
};

/** What browsers may do with a path: the same for all of its methods, so that preflight requests get one answer. */
export const crossOriginUseOfPath = (routes: readonly RouteEntry[]): CrossOriginUse => {
  const [use, ...others] = new Set(routes.map(crossOriginUseOf));
  if (use === undefined || others.length > 0) {
    throw new Error(`${routes[0]?.path}: all methods must declare the same crossOrigin.`);
  }
  return use;
};

/** The first segment of a path. */
const sectionOf = (path: string): string | undefined => path.split('/', 2)[1];

/**
 * Whether a path without a route is one of the API, whose errors scripts can read: below the first segment of paths that
 * only scripts use.
 */
export const pathsOfApi = (routes: readonly RouteEntry[]): ((path: string) => boolean) => {
  const isOfScripts = (route: RouteEntry) =>
    ['configured', 'every'].includes(crossOriginUseOf(route));
  const sections = new Set(routes.filter(isOfScripts).map(({ path }) => sectionOf(path)));
  for (const route of routes) if (!isOfScripts(route)) sections.delete(sectionOf(route.path));
  return (path) => sections.has(sectionOf(path));
};

/** Values of Sec-Fetch-Site: the service itself, or the user, for example with a bookmark. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none']);

/**
 * Whether a script or document of another origin loads the response instead of opening it (W3C Fetch Metadata). Browsers send
 * the site with the mode; `fetch` of Node.js, which has no origin, sends the mode alone.
 */
const isLoadedElsewhere = ({ headers }: Request): boolean => {
  const { 'sec-fetch-mode': mode, 'sec-fetch-site': site, origin, host } = headers;
  if (mode === undefined || mode === 'navigate') return false;
  if (site !== undefined) return !OWN_SITES.has(site);
  return origin !== undefined && origin !== `https://${host}` && origin !== `http://${host}`;
};

const crossOriginForbidden = (): HttpError =>
  new HttpError(
    403,
    'cross_origin_forbidden',
    'Scripts and documents of other origins cannot load this page; browsers can open it.',
  );

/** How the OpenAPI document describes the 403 of routes that browsers open. */
export const navigationProblem: Problem = {
  description: 'A script or document of another origin loads it instead of opening it',
  error: crossOriginForbidden,
};

/** 403 if a script or document of another origin loads a page instead of opening it. */
export const onlyNavigation: RequestHandler = (req, _res, next) => {
  if (isLoadedElsewhere(req)) throw crossOriginForbidden();
  next();
};
