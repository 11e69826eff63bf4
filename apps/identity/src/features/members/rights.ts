import { HttpError } from '@tessera/http-kit';
import {
  type Effort,
  firstGrantBeyond,
  type Policy,
  type Rights,
  WILDCARD,
} from '@tessera/scope-matcher';
import type { Caller } from '../../tokens/caller.ts';
import type { Member } from './member.ts';
import type { MembersReader } from './members.transaction.ts';

/** Rights in a tenant, which nobody exceeds when they grant something there. */
export interface Holder extends Rights {
  /** Slug of the tenant. */
  readonly slug: string;
}

const NOTHING: Rights = { policies: [] };
export const EVERYTHING: Rights = { policies: [{ action: WILDCARD, effect: 'allow' }] };

const canonicalText = (policies: readonly Policy[]): string =>
  JSON.stringify([...new Set(policies.map(({ action, effect }) => `${effect} ${action}`))].sort());

/** Whether two lists contain the same policies, ignoring order and duplicates. */
export const areSamePolicies = (some: readonly Policy[], others: readonly Policy[]): boolean =>
  canonicalText(some) === canonicalText(others);

/** The distinct policies in a fixed order, as entries of the activity log record them. */
export const recorded = (policies: readonly Policy[]): Policy[] => {
  const distinct = new Map(policies.map((one) => [`${one.action} ${one.effect}`, one]));
  return [...distinct]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { action, effect }]) => ({ action, effect }));
};

/** The combined permissions of a role and a member's own policies. */
export const combinedRights = (
  role: { readonly policies: readonly Policy[] },
  own: readonly Policy[] = [],
): Rights => ({ policies: [...role.policies, ...own] });

export const memberRights = ({ role, policies }: Pick<Member, 'role' | 'policies'>): Rights =>
  combinedRights(role, policies);

/** The caller's current permissions, which may have changed since the token was checked. */
export const callerRights = async (caller: Caller, members: MembersReader): Promise<Holder> => {
  const { scopes } = caller;
  const slug = await members.slug();
  if (caller.type === 'client' || caller.isSystemAdmin) return { ...EVERYTHING, scopes, slug };
  const self = await members.member(caller.id);
  return { policies: self ? memberRights(self).policies : [], scopes, slug };
};

/**
 * How many rules the comparisons of one role's change may look at. A long list of policies takes about a hundredth of
 * it, and all of it a few hundredths of a second: policies made up to be compared for long cannot occupy the process.
 */
export const newEffort = (): Effort => ({ left: 1_000_000 });

/**
 * Without the patterns that name another tenant: they grant nothing in this one, whose slug never changes, but each makes
 * comparisons longer.
 */
const within = (slug: string, { policies, scopes }: Rights): Rights => {
  const isOwn = (pattern: string): boolean => {
    const [first, named = slug] = pattern.split('.');
    return first !== 'tenant' || named === WILDCARD || named === slug;
  };
  return {
    policies: policies.filter(({ action }) => isOwn(action)),
    scopes: scopes?.filter(isOwn),
  };
};

/** The first permission in `rights` that the holder does not have; undefined if they have all. */
export const missingRight = (
  holder: Holder,
  rights: Rights,
  effort = newEffort(),
): string | undefined => {
  const { slug } = holder;
  const change = { holder: within(slug, holder), before: NOTHING, after: within(slug, rights) };
  return firstGrantBeyond(change, effort);
};

/**
 * 403 with the first permission in `rights` that the holder does not have: nobody can grant more than they
 * hold.
 */
export const requireCallerHolds = (holder: Holder, rights: Rights): void => {
  const missing = missingRight(holder, rights);
  if (missing === undefined) return;
  const message = `This grants ${missing}, which you do not hold yourself.`;
  throw new HttpError(403, 'permission_denied', message, {
    details: { required_permission: missing },
  });
};

/** 403 if a member holds permissions that the caller does not. */
export const requireChangeable = (holder: Holder, member: Member): void => {
  const more = missingRight(holder, memberRights(member));
  if (more === undefined) return;
  const message = `The member holds ${more}, which you do not hold yourself.`;
  throw new HttpError(403, 'member_holds_more', message);
};
