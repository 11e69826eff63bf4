import { isSystemPermission } from '@tessera/contracts';
import { decide, type Policy, WILDCARD } from '@tessera/scope-matcher';
import type { Member } from './member.ts';

/** A policy, and where a member has it from. */
export interface SourcedPolicy extends Policy {
  /** `system_administrator`: whoever is one holds everything, whatever a tenant says. */
  readonly source: 'role' | 'membership' | 'system_administrator';
  /** Name of the role; null where none gives it. */
  readonly role: string | null;
}

export interface Explanation {
  readonly allowed: boolean;
  /** What decided; null where no policy covers the permission, which denies it. */
  readonly by: SourcedPolicy | null;
}

const ADMINISTRATOR: SourcedPolicy = {
  source: 'system_administrator',
  role: null,
  action: WILDCARD,
  effect: 'allow',
};

/** All that decides what a member may do in the tenant. */
export const sourcesOf = ({ role, policies, isSystemAdmin }: Member): SourcedPolicy[] => [
  ...(isSystemAdmin ? [ADMINISTRATOR] : []),
  ...role.policies.map((policy) => ({ ...policy, source: 'role' as const, role: role.name })),
  ...policies.map((policy) => ({ ...policy, source: 'membership' as const, role: null })),
];

/** Whether a member may do something in the tenant, and why: as the gate decides it (decisions B8, I12). */
export const explain = (member: Member, permission: string): Explanation => {
  if (member.isSystemAdmin) return { allowed: true, by: ADMINISTRATOR };
  if (isSystemPermission(permission)) return { allowed: false, by: null };
  return decide(sourcesOf(member), permission);
};
