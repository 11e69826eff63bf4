import { type Field, type FieldErrors, readTexts, type Shape, validate } from '@tessera/fields';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { jsonBody } from './body.ts';
import { HttpError, notFound, validationFailed } from './http-error.ts';
import type { Limits } from './limits.ts';
import type { Reply, RouteEntry, RouteGroups } from './route.ts';

/** Who is calling, and whether they may. Both throw an `HttpError` to refuse. */
export interface Gate<Caller> {
  authenticate(req: Request): Promise<Caller>;
  authorize(caller: Caller, route: RouteEntry, req: Request): Promise<void> | void;
}

export interface MountOptions<Caller> {
  readonly gate: Gate<Caller>;
  readonly limits: Limits;
  /** Largest JSON body in bytes. */
  readonly bodyLimit: number;
}

type Named = readonly [id: string, route: RouteEntry];

/** Literal segments come before parameters, so that `/tasks/board` is never taken for an id. */
const byPath = ([, a]: Named, [, b]: Named): number => {
  const inOrder = (path: string): string => path.replaceAll('{', '\uffff');
  return inOrder(a.path) < inOrder(b.path) ? -1 : inOrder(a.path) > inOrder(b.path) ? 1 : 0;
};

/** Every route with its operation id; throws where one is unmarked or stands twice. */
export const flatten = (groups: RouteGroups): Named[] => {
  const seen = new Set<string>();
  const once = (what: string): void => {
    if (seen.has(what)) throw new Error(`${what} is declared twice.`);
    seen.add(what);
  };
  return Object.values(groups).flatMap((table) =>
    Object.entries(table).map(([id, route]): Named => {
      once(`The operation "${id}"`);
      once(`${route.method.toUpperCase()} ${route.path.replace(/\{\w+\}/g, '{}')}`);
      if ([route.permission].flat().filter(Boolean).length === 0) {
        throw new Error(`${id}: a route names its permission, or "public", or "authenticated".`);
      }
      return [id, route];
    }),
  );
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

const checkedQuery = (shape: Shape | undefined, req: Request, errors: FieldErrors): unknown => {
  const fields = shape?.fields ?? {};
  for (const [name, value] of Object.entries(req.query)) {
    if (!Object.hasOwn(fields, name)) errors[name] = [`${name} is no parameter of this address`];
    else if (Array.isArray(value)) errors[name] = [`${name} must be given once`];
  }
  const known = Object.entries(req.query).filter(([name]) => errors[name] === undefined);
  return shape && checked(shape, readTexts(shape, Object.fromEntries(known)), 'query', errors);
};

const answer = (route: RouteEntry): RequestHandler =>
  async function answer(req, res) {
    // Without a prototype, a parameter called "__proto__" is a name like any other.
    const errors: FieldErrors = Object.create(null);
    const params = checked(route.params, req.params, 'path', errors);
    // An id that cannot exist names nothing.
    if (Object.keys(errors).length > 0) throw notFound();
    const query = checkedQuery(route.query, req, errors);
    const body = checked(route.body, req.body, 'body', errors);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    const reply = (status: number, ...rest: unknown[]): Reply => {
      const declared = route.responses[status];
      const isEmpty = declared !== undefined && 'empty' in declared;
      const [payload, headers] = isEmpty ? [undefined, rest[0]] : rest;
      res.status(status).set((headers ?? {}) as Record<string, string>);
      if (isEmpty) res.end();
      else res.json(payload);
      return {} as Reply;
    };
    const { caller } = res.locals;
    await route.handler?.({ params, query, body, caller, req, res, reply } as never);
  };

const stepsOf = <Caller>(route: RouteEntry, options: MountOptions<Caller>): RequestHandler[] => {
  const { gate, limits, bodyLimit } = options;
  const limitClass = route.limit ?? 'default';
  const steps: RequestHandler[] = [limits.address(limitClass)];
  if (route.permission !== 'public') {
    steps.push(
      async function authenticate(req, res, next) {
        res.locals.caller = await gate.authenticate(req);
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
  if (route.body) steps.push(jsonBody(bodyLimit));
  return [...steps, answer(route)];
};

const byAddress = (routes: readonly Named[]): Map<string, Named[]> => {
  const addresses = new Map<string, Named[]>();
  for (const named of routes) {
    const path = named[1].path.replace(/\{(\w+)\}/g, ':$1');
    addresses.set(path, [...(addresses.get(path) ?? []), named]);
  }
  return addresses;
};

/** Turns the tables into a router: limits, caller, gate, body, checks, handler, in this order. */
export const mount = <Caller>(groups: RouteGroups, options: MountOptions<Caller>): Router => {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, routes] of byAddress(flatten(groups).sort(byPath))) {
    const methods = routes.map(([, route]) => route.method.toUpperCase());
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    for (const [id, route] of routes) {
      const remember: RequestHandler = (_req, res, next) => {
        res.locals.operation = id;
        next();
      };
      router[route.method](path, remember, ...stepsOf(route, options));
    }
    router.all(path, (req: Request, res: Response) => {
      if (req.method === 'OPTIONS') return void res.status(204).set('Allow', allow).end();
      throw new HttpError(405, 'method_not_allowed', `${req.method} is not allowed here.`, {
        headers: { Allow: allow },
      });
    });
  }
  return router;
};
