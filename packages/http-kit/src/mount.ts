import { type RequestHandler, Router } from 'express';
import { type BodyKey, whileHandled } from './bodies/read-bytes.ts';
import { binaryBody, jsonBody } from './body.ts';
import {
  type CorsHeaders,
  crossOriginUseOfPath,
  noCors,
  onlyNavigation,
  pathsOfApi,
} from './cross-origin.ts';
import { wrongMethod } from './error-handler.ts';
import { limitedStreams } from './event-streams/limited-streams.ts';
import { isFileBody } from './files/file-body.ts';
import { createUploadSlots, type UploadLimit } from './files/upload-slots.ts';
import type { Gate } from './gate.ts';
import { type HandlerStepOptions, handlerStep } from './handler-step.ts';
import { type Idempotency, takesIdempotencyKey } from './idempotency.ts';
import {
  type AccessChecks,
  type AccessCheckTimes,
  createAccessChecks,
  noteAuthorization,
} from './lasting-access.ts';
import type { Limits } from './limits.ts';
import { flatten, type NamedRoute, requireKnownCredential } from './named-routes.ts';
import { runOnLoop } from './on-loop.ts';
import { takesBody } from './request-input.ts';
import { crossOriginUseOf, isBinary, type RouteEntry, type RouteGroups } from './route.ts';

export interface MountOptions<Caller> {
  readonly gate: Gate<Caller>;
  readonly limits: Limits;
  /** The maximum size of a JSON body in bytes. */
  readonly bodyLimit: number;
  /**
   * Whose share a request takes of the memory for bodies and of the checks of access, such as its tenant's. Default: the key of
   * the limits.
   */
  readonly bodyKey?: BodyKey;
  /** Keeps responses by `Idempotency-Key`; without it the header has no effect. */
  readonly idempotency?: Idempotency<Caller>;
  /** How many event streams one principal may have open in this process; 20 by default. */
  readonly streamsPerPrincipal?: number;
  /**
   * Milliseconds after which an event stream ends, so that its client reconnects and is authenticated again; 15
   * minutes by default.
   */
  readonly streamLifetimeMs?: number;
  /** Limits of the uploads that are received at the same time; none by default. */
  readonly uploadLimits?: readonly UploadLimit[];
  /** When requests that take long ask for the caller's access again. */
  readonly accessChecks?: AccessCheckTimes;
}

const stepsOf = <Caller>(
  route: RouteEntry,
  options: MountOptions<Caller>,
  { streams, beginUpload, access }: Pick<HandlerStepOptions, 'streams' | 'beginUpload' | 'access'>,
): RequestHandler[] => {
  const { gate, limits, bodyLimit } = options;
  const limitClass = route.limit ?? 'default';
  const steps: RequestHandler[] = [limits.address(limitClass)];
  const keyed = limits.keyed(limitClass);
  if (keyed) steps.push(keyed);
  if (crossOriginUseOf(route) === 'navigation') steps.push(onlyNavigation);
  if (route.permission !== 'public') {
    steps.push(
      async function authenticate(req, res, next) {
        noteAuthorization(res);
        res.locals.caller = await gate.authenticate(req, route);
        next();
      },
      limits.principal(limitClass),
      async function authorize(req, res, next) {
        await gate.authorize(res.locals.caller, route, req);
        route.authorizeCaller?.(res.locals.caller as never);
        next();
      },
    );
  }
  const { forward } = route;
  if (forward && !takesBody(route)) return [...steps, forward];
  if (forward)
    return [...steps, (req, res, next) => whileHandled(res, () => forward(req, res, next))];
  if (isBinary(route.body)) steps.push(binaryBody(route.body));
  else if (takesBody(route) && !isFileBody(route.body)) steps.push(jsonBody(bodyLimit));
  const keeps = takesIdempotencyKey(route) ? options.idempotency : undefined;
  const idempotency = keeps as Idempotency<unknown> | undefined;
  return [...steps, handlerStep(route, { streams, idempotency, beginUpload, access })];
};

/** Literal segments precede parameters, so that `/tasks/board` is never taken for an id. */
const literalsFirst = (a: string, b: string): number => {
  const inOrder = (path: string): string => path.replaceAll('{', '\uffff');
  return inOrder(a) < inOrder(b) ? -1 : 1;
};

const byAddress = (routes: readonly NamedRoute[]): [path: string, routes: NamedRoute[]][] => {
  const addresses = new Map<string, NamedRoute[]>();
  for (const named of routes) {
    const { path } = named[1];
    addresses.set(path, [...(addresses.get(path) ?? []), named]);
  }
  return [...addresses].sort(([a], [b]) => literalsFirst(a, b));
};

/**
 * Creates the router of the tables. Each request passes limits, authentication, authorization, body, validation
 * and handler, in this order. Paths without parameters are looked up in a map, because a router tries all its
 * patterns in turn.
 */
export const mount = <Caller>(
  groups: RouteGroups,
  options: MountOptions<Caller>,
  cors: CorsHeaders = noCors,
): RequestHandler => {
  const newRouter = (): Router => Router({ caseSensitive: true, strict: true });
  const literals = new Map<string, Router>();
  const patterns = newRouter();
  const { bodyKey = options.limits.key } = options;
  const access = createAccessChecks(
    options.gate,
    options.accessChecks,
    bodyKey,
  ) as AccessChecks<unknown>;
  const streamsOf = limitedStreams({ ...options, watchAccess: access.watch });
  const beginUpload = createUploadSlots(options.uploadLimits ?? []);
  const all = flatten(groups);
  const isPathOfApi = pathsOfApi(all.map(([, route]) => route));
  for (const route of all) requireKnownCredential(route, options.gate.credentials);
  for (const [path, routes] of byAddress(all)) {
    const isLiteral = !path.includes('{');
    const router = isLiteral ? newRouter() : patterns;
    if (isLiteral) literals.set(path, router);
    const address = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    const use = crossOriginUseOfPath(routes.map(([, route]) => route));
    address.all((_req, res, next) => {
      res.locals.route = path;
      next();
    }, cors[use]);
    // Express would answer HEAD by the route for GET if that came first.
    const headFirst = routes.toSorted(
      ([, a], [, b]) => Number(b.method === 'head') - Number(a.method === 'head'),
    );
    for (const [id, route] of headFirst) {
      const remember: RequestHandler = (_req, res, next) => {
        res.locals.operation = id;
        res.locals.isPage = route.isPage;
        res.locals.bodyKey = bodyKey;
        if (route.headers) res.set(route.headers);
        runOnLoop(res, id, next);
      };
      address[route.method](
        remember,
        ...stepsOf(route, options, { streams: streamsOf(route), beginUpload, access }),
      );
    }
    address.all(
      options.limits.address('default'),
      wrongMethod(routes.map(([, route]) => route.method)),
    );
  }
  return (req, res, next) => {
    const leave = (error?: unknown): void => {
      const isUnrouted = res.locals.route === undefined;
      const use = isUnrouted && isPathOfApi(req.path) ? 'configured' : 'navigation';
      cors[use](req, res, (limited?: unknown) => next(limited ?? error));
    };
    (literals.get(req.path) ?? patterns)(req, res, leave);
  };
};
