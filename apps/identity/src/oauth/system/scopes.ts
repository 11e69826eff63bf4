import { knowledgeOf } from '@tessera/contracts';
import { WILDCARD } from '@tessera/scope-matcher';

/** Whether a pattern allows all that another one, or one permission, allows. */
export const coversPattern = (pattern: string, other: string): boolean => {
  if (pattern === WILDCARD || pattern === other) return true;
  const own = pattern.split('.');
  const segments = other.split('.');
  return (
    own.length === segments.length &&
    own.every((segment, index) => segment === WILDCARD || segment === segments[index])
  );
};

export type Granted =
  | { readonly ok: true; readonly scopes: readonly string[] }
  | { readonly ok: false; readonly refused: readonly string[] };

/**
 * What a request for scopes gets from an application's: all of them where it names none, else exactly
 * those named. Each must be known and covered by one that the application has.
 */
export const grantScopes = (allowed: readonly string[], requested: readonly string[]): Granted => {
  if (requested.length === 0) return { ok: true, scopes: allowed };
  const isAllowed = (scope: string): boolean =>
    allowed.includes(scope) ||
    (allowed.some((pattern) => coversPattern(pattern, scope)) && knowledgeOf(scope).known);
  const refused = requested.filter((scope) => !isAllowed(scope));
  return refused.length === 0 ? { ok: true, scopes: requested } : { ok: false, refused };
};
