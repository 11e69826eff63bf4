import { HttpError } from '@tessera/http-kit';
import { grantsBeyond, type Policy, type Rights } from '@tessera/scope-matcher';
import type { Caller } from '../../tokens/caller.ts';
import type { Member, Role } from './member.ts';
import type { MembersToRead } from './members.transaction.ts';

export const NOTHING: Rights = { policies: [] };
export const EVERYTHING: Rights = { policies: [{ action: '*', effect: 'allow' }] };

const inOneOrder = (policies: readonly Policy[]): string =>
  JSON.stringify([...new Set(policies.map(({ action, effect }) => `${effect} ${action}`))].sort());

/** Whether two lists hold the same policies, in whatever order and however often. */
export const areSamePolicies = (some: readonly Policy[], others: readonly Policy[]): boolean =>
  inOneOrder(some) === inOneOrder(others);

/** Role and membership together. */
export const rightsOf = (
  role: { readonly policies: readonly Policy[] },
  own: readonly Policy[] = [],
): Rights => ({ policies: [...role.policies, ...own] });

export const rightsOfMember = ({ role, policies }: Pick<Member, 'role' | 'policies'>): Rights =>
  rightsOf(role, policies);

/** What the caller holds now: the token was checked before it was their turn to change something. */
export const rightsOfCaller = async (caller: Caller, members: MembersToRead): Promise<Rights> => {
  const { scopes } = caller;
  if (caller.type === 'client' || caller.isSystemAdmin) return { ...EVERYTHING, scopes };
  const self = await members.member(caller.id);
  return { policies: self ? rightsOfMember(self).policies : [], scopes };
};

/** What of some rights the holder does not hold. */
export const beyond = (holder: Rights, rights: Rights): string[] =>
  grantsBeyond({ holder, before: NOTHING, after: rights });

/** What a role would give somebody that the holder does not hold. */
export const grantedBy = (role: Role, holder: Rights): string[] => beyond(holder, rightsOf(role));

/** 403 naming what of some rights the holder lacks: nobody hands on what they do not hold. */
export const demandHeld = (holder: Rights, rights: Rights): void => {
  const [lacking] = beyond(holder, rights);
  if (lacking === undefined) return;
  const message = `This gives ${lacking}, which you do not hold yourself.`;
  throw new HttpError(403, 'permission_denied', message, {
    details: { required_permission: lacking },
  });
};

/** 403 where a member holds more than who would change them. */
export const demandChangeable = (holder: Rights, member: Member): void => {
  const [more] = beyond(holder, rightsOfMember(member));
  if (more === undefined) return;
  const message = `The member holds ${more}, which you do not hold yourself.`;
  throw new HttpError(403, 'member_holds_more', message);
};
