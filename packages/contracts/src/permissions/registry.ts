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

/**
 * Whether a scope or a policy action can match a registered permission (decision B7). A pattern longer than
 * `MAX_PATTERN_LENGTH` is unknown, because services would refuse a caller who has it.
 */
export const checkPermissionPattern = (pattern: string): PatternCheck =>
  pattern.length > MAX_PATTERN_LENGTH
    ? { known: false, reason: `it is longer than ${MAX_PATTERN_LENGTH} characters` }
    : checkPattern(pattern, permissionNames);

export interface UnknownPattern {
  readonly pattern: string;
  /** Its index in the given list. */
  readonly index: number;
  /** Completes the sentence "The pattern is refused: ...". */
  readonly reason: string;
}

/** The patterns that cannot match any permission, so that typing errors are refused. */
export const unknownPatterns = (patterns: readonly string[]): UnknownPattern[] =>
  patterns.flatMap((pattern, index) => {
    const check = checkPermissionPattern(pattern);
    return check.known ? [] : [{ pattern, index, reason: check.reason }];
  });
