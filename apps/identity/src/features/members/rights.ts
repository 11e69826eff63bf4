import { HttpError } from '@tessera/http-kit';
import { grantsBeyond, type Policy, type Rights } from '@tessera/scope-matcher';
import type { Caller } from '../../tokens/caller.ts';
import type { Member, Role } from './member.ts';
import type { MembersReader } from './members.transaction.ts';

export const NOTHING: Rights = { policies: [] };
export const EVERYTHING: Rights = { policies: [{ action: '*', effect: 'allow' }] };

const canonicalText = (policies: readonly Policy[]): string =>
  JSON.stringify([...new Set(policies.map(({ action, effect }) => `${effect} ${action}`))].sort());

/** Whether two lists contain the same policies, ignoring order and duplicates. */
export const areSamePolicies = (some: readonly Policy[], others: readonly Policy[]): boolean =>
  canonicalText(some) === canonicalText(others);

/** The combined permissions of a role and a member's own policies. */
export const combinedRights = (
  role: { readonly policies: readonly Policy[] },
  own: readonly Policy[] = [],
): Rights => ({ policies: [...role.policies, ...own] });

export const memberRights = ({ role, policies }: Pick<Member, 'role' | 'policies'>): Rights =>
  combinedRights(role, policies);

/** The caller's current permissions, which may have changed since the token was checked. */
export const callerRights = async (caller: Caller, members: MembersReader): Promise<Rights> => {
  const { scopes } = caller;
  if (caller.type === 'client' || caller.isSystemAdmin) return { ...EVERYTHING, scopes };
  const self = await members.member(caller.id);
  return { policies: self ? memberRights(self).policies : [], scopes };
};

/** The permissions in `rights` that the holder does not have. */
export const missingRights = (holder: Rights, rights: Rights): string[] =>
  grantsBeyond({ holder, before: NOTHING, after: rights });

/** The permissions of a role that the holder does not have. */
export const roleGrantsBeyond = (role: Role, holder: Rights): string[] =>
  missingRights(holder, combinedRights(role));

/**
 * 403 with the first permission in `rights` that the holder does not have: nobody can grant more than they
 * hold.
 */
export const requireCallerHolds = (holder: Rights, rights: Rights): void => {
  const [missing] = missingRights(holder, rights);
  if (missing === undefined) return;
  const message = `This grants ${missing}, which you do not hold yourself.`;
  throw new HttpError(403, 'permission_denied', message, {
    details: { required_permission: missing },
  });
};

/** 403 if a member holds permissions that the caller does not. */
export const requireChangeable = (holder: Rights, member: Member): void => {
  const [more] = missingRights(holder, memberRights(member));
  if (more === undefined) return;
  const message = `The member holds ${more}, which you do not hold yourself.`;
  throw new HttpError(403, 'member_holds_more', message);
};
