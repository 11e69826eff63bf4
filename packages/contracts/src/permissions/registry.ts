import { type Knowledge, knownPattern } from '@tessera/scope-matcher';
import { LONGEST_PATTERN } from '../caller/policies.ts';
import { crmPermissions } from './crm.ts';
import { systemPermissions, tenantPermissions } from './identity.ts';

export interface Permission {
  /** In full; `{slug}` stands for the slug of any tenant. */
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

/** Every permission of both services. */
export const permissionRegistry: readonly Permission[] = [
  ...permissions(tenantPermissions),
  ...permissions(systemPermissions, { system: true }),
  ...permissions(crmPermissions, { prefix: 'tenant.{slug}.crm.' }),
];

/** Their names; `{slug}` stands for the slug of any tenant. */
export const permissionNames: readonly string[] = permissionRegistry.map(({ name }) => name);

/**
 * What a scope, or the action of a policy, can mean among all permissions (decision B7). One that is longer
 * than `LONGEST_PATTERN` is unknown: services would refuse a caller who has it.
 */
export const knowledgeOf = (pattern: string): Knowledge =>
  pattern.length > LONGEST_PATTERN
    ? { known: false, reason: `it is longer than ${LONGEST_PATTERN} characters` }
    : knownPattern(pattern, permissionNames);

export interface UnknownPattern {
  readonly pattern: string;
  /** Its place in what was given, from 0. */
  readonly index: number;
  /** A sentence. */
  readonly reason: string;
}

/** Those of some patterns that no permission fits, so that no typo lands where it grants or limits. */
export const unknownPatterns = (patterns: readonly string[]): UnknownPattern[] =>
  patterns.flatMap((pattern, index) => {
    const knowledge = knowledgeOf(pattern);
    return knowledge.known ? [] : [{ pattern, index, reason: knowledge.reason }];
  });
