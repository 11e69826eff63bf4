import { MAX_PATTERN_LENGTH, type PermissionRegistry, PolicyPayload } from '@tessera/contracts';
import { list, named, rawText, shape, withRule } from '@tessera/fields';
import { validationFailed } from '@tessera/http-kit';
import type { Policy } from '@tessera/scope-matcher';

/** The problem of a pattern among these permissions, in the tenant with this slug if one is given. */
type Check = (
  permissions: PermissionRegistry,
  pattern: string,
  slug?: string,
) => string | undefined;

const unknownScope: Check = (permissions, pattern, slug) => {
  const check = permissions.check(pattern, slug);
  return check.known ? undefined : `is not known: ${check.reason}`;
};

const ineffective: Check = (permissions, action, slug) => {
  const reason = permissions.ineffectiveAction(action, slug);
  return reason && `has no effect: ${reason}`;
};

/** Patterns that are too long get an error of their own, without the value. */
const pattern = (permissions: PermissionRegistry, check: Check) =>
  withRule(rawText(MAX_PATTERN_LENGTH), (text) =>
    text.length > MAX_PATTERN_LENGTH ? undefined : check(permissions, text),
  );

/** A scope: a pattern that matches a known permission (decision B7). */
export const knownScope = (permissions: PermissionRegistry) => pattern(permissions, unknownScope);

/** Maximum number of policies of a role or a membership. */
const MAX_POLICIES = 200;

/** Policies in answers. Stored ones are shown as they are, even if no permission is left that they cover. */
export const Policies = list(PolicyPayload, { max: MAX_POLICIES });

/** Policies in requests: each action must cover a permission of a tenant (decision B7). */
export const knownPolicies = (permissions: PermissionRegistry) =>
  list(
    named(
      'PolicyInput',
      shape({ ...PolicyPayload.fields, action: pattern(permissions, ineffective) }),
    ),
    { max: MAX_POLICIES },
  );

/** 422 that names every pattern with a problem. */
const requireNone = (
  problemOf: (pattern: string) => string | undefined,
  patterns: readonly string[],
  field: (index: number) => string,
): void => {
  const errors: Record<string, string[]> = {};
  for (const [index, one] of patterns.entries()) {
    const problem = problemOf(one);
    if (problem !== undefined) errors[field(index)] = [`${field(index)} ${problem}`];
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
};

/**
 * 422 unless each policy covers a permission of the tenant with this slug: a deny that names another tenant would deny
 * nothing.
 */
export const requireEffectivePolicies = (
  permissions: PermissionRegistry,
  slug: string,
  policies: readonly Policy[] = [],
): void =>
  requireNone(
    (action) => ineffective(permissions, action, slug),
    policies.map(({ action }) => action),
    (index) => `policies.${index}.action`,
  );

/** 422 if a scope names another tenant than the one with this slug. */
export const requireScopesOfTenant = (
  permissions: PermissionRegistry,
  slug: string,
  scopes: readonly string[] = [],
): void =>
  requireNone(
    (scope) => unknownScope(permissions, scope, slug),
    scopes,
    (index) => `scopes.${index}`,
  );

/** A warning if valid scopes match no permission, such as `identity.*` (decision B7). */
export const warningsAbout = (
  permissions: PermissionRegistry,
  scopes: readonly string[],
): string[] => {
  const unmatched = scopes.filter((scope) => {
    const check = permissions.check(scope);
    return check.known && check.covers === 0;
  });
  if (unmatched.length === 0) return [];
  const names = unmatched.join(', ');
  return [`These scopes match no permission: ${names}. Each * matches exactly one segment.`];
};
