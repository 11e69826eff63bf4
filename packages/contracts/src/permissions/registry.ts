import { checkPattern, type PatternCheck } from '@tessera/scope-matcher';
import { MAX_PATTERN_LENGTH } from '../caller/policies.ts';
import { crmPermissions, servicePermission } from './crm.ts';
import { systemPermissions, tenantPermissions } from './identity.ts';

export interface Permission {
  /** The full name; `{slug}` stands for the slug of any tenant. */
  readonly name: string;
  readonly description: string;
  /** Held by system administrators and system applications only. */
  readonly system: boolean;
}

/** Short name -> description. */
type Descriptions = Readonly<Record<string, string>>;

/** The permissions of services, by the name of the service. */
export type ServicePermissions = Readonly<Record<string, Descriptions>>;

const described = (descriptions: Descriptions, system: boolean): Permission[] =>
  Object.entries(descriptions).map(([name, description]) => ({ name, description, system }));

const ofService = ([service, descriptions]: [string, Descriptions]): Permission[] =>
  described(descriptions, false).map((permission) => ({
    ...permission,
    name: servicePermission(service, '{slug}', permission.name),
  }));

export interface UnknownPattern {
  readonly pattern: string;
  /** Its index in the given list. */
  readonly index: number;
  /** Completes the sentence "The pattern is refused: ...". */
  readonly reason: string;
}

/** The permissions that exist: those of identity, of CRM, and of further services. */
export class PermissionRegistry {
  /** Every permission of every service. */
  readonly permissions: readonly Permission[];
  readonly #all: readonly (readonly string[])[];
  /** The permissions that policies can grant or deny, because they do not belong to the system. */
  readonly #inPolicies: readonly (readonly string[])[];

  constructor(furtherServices: ServicePermissions = {}) {
    this.permissions = [
      ...described(tenantPermissions, false),
      ...described(systemPermissions, true),
      ...Object.entries({ crm: crmPermissions, ...furtherServices }).flatMap(ofService),
    ];
    const segments = ({ name }: Permission): string[] => name.split('.');
    this.#all = this.permissions.map(segments);
    this.#inPolicies = this.permissions.filter(({ system }) => !system).map(segments);
  }

  /**
   * Whether a scope can match a registered permission (decision B7), of the tenant with this slug if one is given. A
   * pattern longer than `MAX_PATTERN_LENGTH` is unknown, because services would refuse a caller who has it.
   */
  check(pattern: string, slug?: string): PatternCheck {
    return pattern.length > MAX_PATTERN_LENGTH
      ? { known: false, reason: `it is longer than ${MAX_PATTERN_LENGTH} characters` }
      : checkPattern(pattern, this.#all, slug);
  }

  /**
   * Why a policy with this action would have no effect, because it covers no permission that policies can grant (decision
   * B7), in the tenant with this slug if one is given; undefined if it has an effect.
   */
  ineffectiveAction(action: string, slug?: string): string | undefined {
    const known = this.check(action, slug);
    if (!known.known) return known.reason;
    if (known.covers === 0) return 'it covers no permission: each * stands for exactly one segment';
    const check = checkPattern(action, this.#inPolicies, slug);
    if (check.known && check.covers > 0) return undefined;
    return 'only system administrators and system applications hold these permissions';
  }

  /**
   * The scopes that cannot match any permission, of the tenant with this slug if one is given, so that typing errors are
   * refused.
   */
  unknownPatterns(patterns: readonly string[], slug?: string): UnknownPattern[] {
    return patterns.flatMap((pattern, index) => {
      const check = this.check(pattern, slug);
      return check.known ? [] : [{ pattern, index, reason: check.reason }];
    });
  }
}
