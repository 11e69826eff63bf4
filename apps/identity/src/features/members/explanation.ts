import { isSystemPermission } from '@tessera/contracts';
import { decide, type Policy, WILDCARD } from '@tessera/scope-matcher';
import type { Member } from './member.ts';

/** A policy and its source. */
export interface SourcedPolicy extends Policy {
  /** `system_administrator` allows everything, whatever the tenant's policies say. */
  readonly source: 'role' | 'membership' | 'system_administrator';
  /** Name of the role; null for other sources. */
  readonly role: string | null;
}

export interface Explanation {
  readonly allowed: boolean;
  /** The deciding policy; null if no policy matches, which denies the permission. */
  readonly by: SourcedPolicy | null;
}

const ADMINISTRATOR: SourcedPolicy = {
  source: 'system_administrator',
  role: null,
  action: WILDCARD,
  effect: 'allow',
};

/** All policies that apply to a member, with their sources. */
export const sourcesOf = ({ role, policies, isSystemAdmin }: Member): SourcedPolicy[] => [
  ...(isSystemAdmin ? [ADMINISTRATOR] : []),
  ...role.policies.map((policy) => ({ ...policy, source: 'role' as const, role: role.name })),
  ...policies.map((policy) => ({ ...policy, source: 'membership' as const, role: null })),
];

/**
 * Whether a member has a permission and why, decided as access control does (decisions B8, I12).
 */
export const explain = (member: Member, permission: string): Explanation => {
  if (member.isSystemAdmin) return { allowed: true, by: ADMINISTRATOR };
  if (isSystemPermission(permission)) return { allowed: false, by: null };
  return decide(sourcesOf(member), permission);
};
