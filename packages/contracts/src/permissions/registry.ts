import { checkPattern, type PatternCheck } from '@tessera/scope-matcher';
import { MAX_PATTERN_LENGTH } from '../caller/policies.ts';
import { crmPermissions } from './crm.ts';
import { systemPermissions, tenantPermissions } from './identity.ts';

export interface Permission {
  /** The full name; `{slug}` stands for the slug of any tenant. */
  readonly name: string;
  readonly description: string;
  /** Held by system administrators and system applications only. */
  readonly system: boolean;
}

const permissions = (
  described: Readonly<Record<string, string>>,
  { prefix = '', system = false } = {},
): Permission[] =>
  Object.entries(described).map(([name, description]) => ({
    name: prefix + name,
    description,
    system,
  }));

/** Every permission of every service. */
export const permissionRegistry: readonly Permission[] = [
  ...permissions(tenantPermissions),
  ...permissions(systemPermissions, { system: true }),
  ...permissions(crmPermissions, { prefix: 'tenant.{slug}.crm.' }),
];

/** The full names of all permissions; `{slug}` stands for the slug of any tenant. */
export const permissionNames: readonly string[] = permissionRegistry.map(({ name }) => name);

/** With the slug of one tenant instead of the placeholder. */
const inTenant = (names: readonly string[], slug: string | undefined): readonly string[] =>
  slug === undefined ? names : names.map((name) => name.replace('{slug}', slug));

/**
 * Whether a scope can match a registered permission (decision B7), of the tenant with this slug if one is given. A
 * pattern longer than `MAX_PATTERN_LENGTH` is unknown, because services would refuse a caller who has it.
 */
export const checkPermissionPattern = (pattern: string, slug?: string): PatternCheck =>
  pattern.length > MAX_PATTERN_LENGTH
    ? { known: false, reason: `it is longer than ${MAX_PATTERN_LENGTH} characters` }
    : checkPattern(pattern, inTenant(permissionNames, slug));

/** The permissions that policies can grant or deny: those that do not belong to the system. */
const policyNames = permissionRegistry.filter(({ system }) => !system).map(({ name }) => name);

/**
 * Why a policy with this action would have no effect, because it covers no permission that policies can grant (decision
 * B7), in the tenant with this slug if one is given; undefined if it has an effect.
 */
export const ineffectiveAction = (action: string, slug?: string): string | undefined => {
  const known = checkPermissionPattern(action, slug);
  if (!known.known) return known.reason;
  if (known.covers === 0) return 'it covers no permission: each * stands for exactly one segment';
  const check = checkPattern(action, inTenant(policyNames, slug));
  if (check.known && check.covers > 0) return undefined;
  return 'only system administrators and system applications hold these permissions';
};

export interface UnknownPattern {
  readonly pattern: string;
  /** Its index in the given list. */
  readonly index: number;
  /** Completes the sentence "The pattern is refused: ...". */
  readonly reason: string;
}

/**
 * The scopes that cannot match any permission, of the tenant with this slug if one is given, so that typing errors are
 * refused.
 */
export const unknownPatterns = (patterns: readonly string[], slug?: string): UnknownPattern[] =>
  patterns.flatMap((pattern, index) => {
    const check = checkPermissionPattern(pattern, slug);
    return check.known ? [] : [{ pattern, index, reason: check.reason }];
  });
