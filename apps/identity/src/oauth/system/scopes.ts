import type { PermissionRegistry } from '@tessera/contracts';
import { coversPattern } from '@tessera/scope-matcher';

export type Granted =
  | { readonly ok: true; readonly scopes: readonly string[] }
  | { readonly ok: false; readonly refused: readonly string[] };

/**
 * The scopes that an application gets: all of its own if it requests none, otherwise exactly the requested
 * ones. Each must be known and covered by one of the application's.
 */
export const grantScopes = (
  permissions: PermissionRegistry,
  allowed: readonly string[],
  requested: readonly string[],
): Granted => {
  if (requested.length === 0) return { ok: true, scopes: allowed };
  const isAllowed = (scope: string): boolean =>
    allowed.includes(scope) ||
    (allowed.some((pattern) => coversPattern(pattern, scope)) && permissions.check(scope).known);
  const refused = requested.filter((scope) => !isAllowed(scope));
  return refused.length === 0 ? { ok: true, scopes: requested } : { ok: false, refused };
};
