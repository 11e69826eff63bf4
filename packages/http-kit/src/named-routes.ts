import type { Credentials } from './credentials.ts';
import type { RouteEntry, RouteGroups } from './route.ts';

/** A route with its operation id. */
export type NamedRoute = readonly [id: string, route: RouteEntry];

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
export const requireKnownCredential = (
  [id, { credential, permission }]: NamedRoute,
  known: Credentials = {},
): void => {
  if (credential === undefined) return;
  if (permission === 'public') throw new Error(`${id}: a public route cannot have a credential.`);
  if (!Object.hasOwn(known, credential)) {
    throw new Error(`${id}: the gate has no credential called "${credential}".`);
  }
};
