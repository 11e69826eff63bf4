import {
  type Field,
  type FieldErrors,
  readTexts,
  type Shape,
  shape,
  shortName,
  validate,
} from '@tessera/fields';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { binaryBody, jsonBody } from './body.ts';
import type { Credentials } from './credentials.ts';
import { wrongMethod } from './error-handler.ts';
import { limitedStreams } from './event-streams/limited-streams.ts';
import { discardBody } from './files/discard-body.ts';
import { isFileBody } from './files/file-body.ts';
import type { ServedFile } from './files/file-response.ts';
import { type Receiving, receiveFile } from './files/receive-file.ts';
import { sendFile } from './files/send-file.ts';
import { notFound, validationFailed } from './http-error.ts';
import {
  fingerprintOf,
  type Idempotency,
  idempotencyKeyOf,
  REPLAYED,
  type RepeatableResponse,
  takesIdempotencyKey,
} from './idempotency.ts';
import type { Limits } from './limits.ts';
import {
  isBinary,
  type Reply,
  type RequestBody,
  type RouteEntry,
  type RouteGroups,
  type StreamedBody,
} from './route.ts';
import { send } from './send.ts';

/** Authenticates and authorizes callers. Both methods throw an `HttpError` to reject the request. */
export interface Gate<Caller> {
  /**
   * The OpenAPI security schemes of each credential that routes may name in `credential`. An app does not start
   * if a route names any other.
   */
  readonly credentials?: Credentials;
  authenticate(req: Request, route: RouteEntry): Promise<Caller>;
  authorize(caller: Caller, route: RouteEntry, req: Request): Promise<void> | void;
  /**
   * Calls `changed` whenever a request of the caller could now be rejected, for responses that outlive the
   * request's own check; returns how to stop. Event streams then authenticate and authorize their request again.
   */
  watch?(caller: Caller, changed: () => void): () => void;
}

export interface MountOptions<Caller> {
  readonly gate: Gate<Caller>;
  readonly limits: Limits;
  /** The maximum size of a JSON body in bytes. */
  readonly bodyLimit: number;
  /** Keeps responses by `Idempotency-Key`; without it the header has no effect. */
  readonly idempotency?: Idempotency<Caller>;
  /** How many event streams one principal may have open in this process; 20 by default. */
  readonly streamsPerPrincipal?: number;
  /**
   * Milliseconds after which an event stream ends, so that its client reconnects and is authenticated again; 15
   * minutes by default.
   */
  readonly streamLifetimeMs?: number;
}

type NamedRoute = readonly [id: string, route: RouteEntry];

/**
 * All routes with their operation ids. Throws if a route has no permission or an operation id is used twice.
 */
export const flatten = (groups: RouteGroups): NamedRoute[] => {
  const seen = new Set<string>();
  const once = (what: string): void => {
    if (seen.has(what)) throw new Error(`${what} is declared twice.`);
    seen.add(what);
  };
  const spellings = new Map<string, string>();
  return Object.values(groups).flatMap((table) =>
    Object.entries(table).map(([id, route]): NamedRoute => {
      const address = route.path.replace(/\{\w+\}/g, '{}');
      const spelling = spellings.get(address) ?? route.path;
      spellings.set(address, spelling);
      if (spelling !== route.path) {
        throw new Error(
          `${spelling} and ${route.path} are the same path: their parameters must have the same names.`,
        );
      }
      once(`The operation "${id}"`);
      once(`${route.method.toUpperCase()} ${address}`);
      if ([route.permission].flat().filter(Boolean).length === 0) {
        throw new Error(`${id}: a route must name its permission, or "public" or "authenticated".`);
      }
      return [id, route];
    }),
  );
};

/** Throws for a route whose credential the gate would not check. */
const requireKnownCredential = (
  [id, { credential, permission }]: NamedRoute,
  known: Credentials = {},
): void => {
  if (credential === undefined) return;
  if (permission === 'public') throw new Error(`${id}: a public route cannot have a credential.`);
  if (!Object.hasOwn(known, credential)) {
    throw new Error(`${id}: the gate has no credential called "${credential}".`);
  }
};

const checked = (
  field: Field | undefined,
  value: unknown,
  root: string,
  errors: FieldErrors,
): unknown => {
  if (!field) return undefined;
  const result = validate(field, value, root);
  if (result.ok) return result.value;
  Object.assign(errors, result.errors);
  return undefined;
};

/** The message for a query parameter that the route does not have. */
export const unknownParameter = (name: string): string =>
  `${name} is not a parameter of this operation`;

/** `custom.tier` and `custom[tier]`: a member of an object. */
const MEMBER = /^(\w+)(?:\.(.+)|\[(.+)\])$/s;

/** The object that a parameter is a member of, if the route declares one, and the member's key. */
const memberOf = (declared: Shape | undefined, name: string) => {
  const [, object = '', dotted, bracketed = ''] = MEMBER.exec(name) ?? [];
  const isObject =
    declared &&
    Object.hasOwn(declared.fields, object) &&
    declared.fields[object]?.json.type === 'object';
  return isObject ? { object, key: dotted ?? bracketed } : undefined;
};

/** Objects of the query by name; without a prototype, as keys come from the caller. */
type Objects = Map<string, Record<string, unknown>>;

const objectNamed = (objects: Objects, name: string): Record<string, unknown> => {
  const object = objects.get(name) ?? (Object.create(null) as Record<string, unknown>);
  objects.set(name, object);
  return object;
};

const checkedQuery = (
  declared: Shape | undefined,
  query: Readonly<Record<string, unknown>>,
  errors: FieldErrors,
): unknown => {
  const known: Record<string, unknown> = {};
  const objects: Objects = new Map();
  const misplaced: FieldErrors = Object.create(null);
  for (const [sent, value] of Object.entries(query)) {
    const name = shortName(sent);
    const member = memberOf(declared, name);
    if (member && !Array.isArray(value)) {
      const object = objectNamed(objects, member.object);
      // `custom.tier` and `custom[tier]` are the same parameter.
      if (Object.hasOwn(object, member.key)) {
        const once = `${member.object}.${member.key}`;
        misplaced[once] = [`${once} must be given once`];
      }
      object[member.key] = value;
    } else if (!member && (!declared || !Object.hasOwn(declared.fields, name))) {
      misplaced[name] = [unknownParameter(name)];
    } else if (Array.isArray(value)) misplaced[name] = [`${name} must be given once`];
    else known[name] = value;
  }
  for (const [name, object] of objects) known[name] = { ...object };
  const value = declared && checked(declared, readTexts(declared, known), 'query', errors);
  Object.assign(errors, misplaced);
  return value;
};

const checkedBody = (
  declared: RequestBody | undefined,
  sent: unknown,
  errors: FieldErrors,
): unknown => {
  // A file is read after everything else was checked.
  if (isFileBody(declared)) return undefined;
  if (isBinary(declared)) {
    if (!Buffer.isBuffer(sent) || sent.length === 0) errors.body = ['body is required'];
    return sent;
  }
  return checked(declared ?? (sent === undefined ? undefined : NOTHING), sent, 'body', errors);
};

/** The body of a route that takes none, for requests that send one anyway. */
const NOTHING = shape({});

/**
 * Throws a URIError, which becomes a 400: the parser would replace invalid bytes and search for something else.
 */
const refuseMalformedQuery = (url: string): void => {
  const start = url.indexOf('?');
  if (start >= 0 && url.includes('%', start)) decodeURIComponent(url.slice(start));
};

/** Sends a body that is not available all at once. */
type SendBody = (
  req: Request,
  res: Response,
  body: never,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

/** How a response is sent; undefined for JSON and for no body. */
const senderOf = (declared: object, streams: SendBody): SendBody | undefined => {
  if ('streamed' in declared)
    return (_req, res, body: StreamedBody, headers) => send(res, body, headers);
  if ('fileTypes' in declared) {
    return (req, res, body: ServedFile, headers) => sendFile(req, res, body, headers);
  }
  return 'events' in declared ? streams : undefined;
};

const sendJson = (res: Response, { status, body, headers }: RepeatableResponse): void => {
  res.status(status).set(headers);
  if (body === undefined) res.end();
  else res.json(body);
};

interface KeyedExchange {
  readonly req: Request;
  readonly res: Response;
  readonly key: string;
  /** Throws if the caller may no longer see the body of the stored response. */
  readonly authorizeReplay: (response: unknown) => void;
}

/** Runs a handler once for each key: `collect` returns its response instead of sending it. */
const answerOnce = async (
  idempotency: Idempotency<unknown>,
  { req, res, key, authorizeReplay }: KeyedExchange,
  collect: () => Promise<RepeatableResponse>,
): Promise<void> => {
  const request = { key, fingerprint: fingerprintOf(req) };
  const { response, isReplayed } = await idempotency.once(res.locals.caller, request, collect);
  if (isReplayed) {
    authorizeReplay(response.body);
    res.set(REPLAYED, 'true');
  }
  sendJson(res, response);
};

const answer = (
  route: RouteEntry,
  streams: SendBody,
  idempotency: Idempotency<unknown> | undefined,
): RequestHandler =>
  async function answer(req, res) {
    // Without a prototype, a parameter named "__proto__" is an ordinary key.
    const errors: FieldErrors = Object.create(null);
    const texts = route.params && readTexts(route.params, req.params);
    const params = checked(route.params, texts, 'path', errors);
    refuseMalformedQuery(req.originalUrl);
    // An invalid id cannot exist.
    if (Object.keys(errors).length > 0) throw notFound();
    const query = checkedQuery(route.query, req.query, errors);
    const body = checkedBody(route.body, req.body, errors);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    const reply = (status: number, ...rest: unknown[]): Reply | Promise<Reply> => {
      const declared = route.responses[status] ?? {};
      const isEmpty = 'empty' in declared;
      const sendBody = senderOf(declared, streams);
      if (sendBody) {
        const [sent, headers = {}] = rest as [never, Record<string, string>?];
        return sendBody(req, res.status(status), sent, headers).then(() => ({}) as Reply);
      }
      const [payload, headers = {}] = isEmpty ? [undefined, rest[0]] : rest;
      respond({ status, body: payload, headers: headers as RepeatableResponse['headers'] });
      return {} as Reply;
    };
    const { caller } = res.locals;
    let respond = (response: RepeatableResponse): void => sendJson(res, response);
    const handle = (body: unknown) =>
      route.handler?.({ params, query, body, caller, req, res, reply } as never);
    const key = idempotency && idempotencyKeyOf(req);
    if (idempotency && key !== undefined) {
      const authorizeReplay = (response: unknown): void =>
        route.authorizeReplay?.({ caller, body, response } as never);
      await answerOnce(idempotency, { req, res, key, authorizeReplay }, async () => {
        let collected: RepeatableResponse | undefined;
        respond = (response) => {
          collected = response;
        };
        await handle(body);
        if (!collected) throw new Error(`${route.path}: the handler has not replied.`);
        return collected;
      });
      return;
    }
    if (!isFileBody(route.body)) return void (await handle(body));
    let receiving: Receiving | undefined;
    try {
      receiving = await receiveFile(req, route.body);
      await handle(receiving.received);
    } finally {
      receiving?.stop();
      discardBody(req, res);
    }
  };

/** Whether the method allows a body, even if the route does not use one. */
export const takesBody = (route: RouteEntry): boolean =>
  route.body !== undefined || !['get', 'head'].includes(route.method);

const stepsOf = <Caller>(
  route: RouteEntry,
  options: MountOptions<Caller>,
  streams: SendBody,
): RequestHandler[] => {
  const { gate, limits, bodyLimit } = options;
  const limitClass = route.limit ?? 'default';
  const steps: RequestHandler[] = [limits.address(limitClass)];
  const keyed = limits.keyed(limitClass);
  if (keyed) steps.push(keyed);
  if (route.permission !== 'public') {
    steps.push(
      async function authenticate(req, res, next) {
        res.locals.caller = await gate.authenticate(req, route);
        next();
      },
      limits.principal(limitClass),
      async function authorize(req, res, next) {
        await gate.authorize(res.locals.caller, route, req);
        next();
      },
    );
  }
  if (route.forward) return [...steps, route.forward];
  if (isBinary(route.body)) steps.push(binaryBody(route.body));
  else if (takesBody(route) && !isFileBody(route.body)) steps.push(jsonBody(bodyLimit));
  const keeps = takesIdempotencyKey(route) ? options.idempotency : undefined;
  return [...steps, answer(route, streams, keeps as Idempotency<unknown> | undefined)];
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
): RequestHandler => {
  const newRouter = (): Router => Router({ caseSensitive: true, strict: true });
  const literals = new Map<string, Router>();
  const patterns = newRouter();
  const streamsOf = limitedStreams(options);
  const all = flatten(groups);
  for (const route of all) requireKnownCredential(route, options.gate.credentials);
  for (const [path, routes] of byAddress(all)) {
    const isLiteral = !path.includes('{');
    const router = isLiteral ? newRouter() : patterns;
    if (isLiteral) literals.set(path, router);
    const address = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    // Express would answer HEAD by the route for GET if that came first.
    const headFirst = routes.toSorted(
      ([, a], [, b]) => Number(b.method === 'head') - Number(a.method === 'head'),
    );
    for (const [id, route] of headFirst) {
      const remember: RequestHandler = (_req, res, next) => {
        res.locals.operation = id;
        res.locals.isPage = route.isPage;
        next();
      };
      address[route.method](remember, ...stepsOf(route, options, streamsOf(route)));
    }
    address.all(
      options.limits.address('default'),
      wrongMethod(routes.map(([, route]) => route.method)),
    );
  }
  return (req, res, next) => (literals.get(req.path) ?? patterns)(req, res, next);
};
