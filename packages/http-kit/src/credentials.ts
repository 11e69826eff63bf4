import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Gate } from './gate.ts';
import { HttpError } from './http-error.ts';
import type { RouteEntry } from './route.ts';

/** OpenAPI security schemes by name; a request must satisfy all of them. */
export type SecuritySchemes = Readonly<Record<string, object>>;

/** The security schemes of an app's credentials, by the name that routes use in `credential`. */
export type Credentials = Readonly<Record<string, SecuritySchemes>>;

/** The name of the credential of routes that do not name one. */
export const USUAL = 'bearer';

/** The security scheme of routes that do not name a credential: a bearer token (RFC 6750). */
export const bearerScheme: SecuritySchemes = { bearer: { type: 'http', scheme: 'bearer' } };

/** A kind of credential besides the app's usual one, for routes that name it in `credential`. */
export interface CredentialScheme<Caller> {
  /** The name that routes use in `credential`. */
  readonly name: string;
  /** How the OpenAPI document describes the credential. */
  readonly securitySchemes: SecuritySchemes;
  /** Returns the caller who presents the credential; throws 401 if it is missing or invalid. */
  authenticate(req: Request, route: RouteEntry): Promise<Caller> | Caller;
  /** Throws if the caller may not use the route. By default, every authenticated caller may. */
  authorize?(caller: Caller, route: RouteEntry, req: Request): Promise<void> | void;
}

const unsupported = ({ credential }: RouteEntry): Error =>
  new Error(`There is no kind of credential called "${credential}".`);

/**
 * Adds kinds of credentials to a gate. Each one is accepted only by the routes that name it; all other routes
 * use the given gate. A caller authenticated by one kind is never accepted as a caller of another.
 */
export const withCredentials = <Usual, Other extends object>(
  gate: Gate<Usual>,
  schemes: readonly CredentialScheme<Other>[],
): Gate<Usual | Other> => {
  const byName = new Map(schemes.map((scheme) => [scheme.name, scheme]));
  const schemeOf = (route: RouteEntry): CredentialScheme<Other> | undefined => {
    if (route.credential === undefined) return undefined;
    const scheme = byName.get(route.credential);
    if (!scheme) throw unsupported(route);
    return scheme;
  };
  const callers = new WeakMap<object, CredentialScheme<Other>>();
  return {
    credentials: {
      ...gate.credentials,
      ...Object.fromEntries(schemes.map(({ name, securitySchemes }) => [name, securitySchemes])),
    },
    async authenticate(req, route) {
      const scheme = schemeOf(route);
      if (!scheme) return gate.authenticate(req, route);
      const caller = await scheme.authenticate(req, route);
      callers.set(caller, scheme);
      return caller;
    },
    authorize(caller, route, req) {
      const scheme = schemeOf(route);
      const own = typeof caller === 'object' && caller !== null ? callers.get(caller) : undefined;
      if (own !== scheme) {
        throw new HttpError(403, 'permission_denied', 'This route is for another kind of caller.');
      }
      return scheme
        ? scheme.authorize?.(caller as Other, route, req)
        : gate.authorize(caller as Usual, route, req);
    },
    watch(caller, changed) {
      const isUsual = !(typeof caller === 'object' && caller !== null && callers.has(caller));
      const unwatch = isUsual ? gate.watch?.(caller as Usual, changed) : undefined;
      return unwatch ?? (() => undefined);
    },
    renew(caller, latest) {
      const isUsual = !(typeof caller === 'object' && caller !== null && callers.has(caller));
      if (isUsual) gate.renew?.(caller as Usual, latest as Usual);
    },
  };
};

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Checks whether a token is one of the configured ones. Digests are compared in constant time, and always with
 * all of them.
 */
export const tokenMatcher = (tokens: readonly string[]): ((token: string) => boolean) => {
  const known = tokens.map(digest);
  return (token) => {
    const presented = digest(token);
    return known.filter((expected) => timingSafeEqual(expected, presented)).length > 0;
  };
};
