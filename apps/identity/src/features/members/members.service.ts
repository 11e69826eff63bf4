import type { PermissionRegistry } from '@tessera/contracts';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { decide, type Policy } from '@tessera/scope-matcher';
import { requireEffectivePolicies } from '../../access/known-policy.ts';
import { noteOf } from '../../activity/activity.ts';
import { changesBetween, created, deleted } from '../../activity/changes.ts';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import type { Member, MemberQuery, Role } from './member.ts';
import type { MembersRepository } from './members.repository.ts';
import type { MembersReader, MembersWriter } from './members.transaction.ts';
import {
  areSamePolicies,
  callerRights,
  combinedRights,
  EVERYTHING,
  type Holder,
  memberRights,
  missingRight,
  recorded,
  requireChangeable,
} from './rights.ts';

export interface MemberChange {
  /** Role name. */
  readonly role?: string | undefined;
  /** Replaces the member's policies. */
  readonly policies?: readonly Policy[] | undefined;
}

/** Identifies a member. */
export interface OfMember {
  readonly tenantId: string;
  readonly userId: string;
}

/** A user who joins a tenant, and the events to publish. */
export interface Joining {
  readonly userId: string;
  readonly events: readonly NewEvent[];
}

/** 422, the same for every reason why an invitation is invalid. */
export const invalidInvitation = (): HttpError =>
  invalidField('token', 'the invitation is invalid or has expired');

const noMember = (): HttpError => notFound('The member');

/** 422: the tenant has no role of this name. */
export const noRole = (name: string): HttpError =>
  invalidField('role', `there is no role "${name}"`);

/** What the activity log records of a member. */
const grantsOf = ({ role, policies }: Pick<Member, 'role' | 'policies'>) => ({
  role: role.name,
  policies: recorded(policies),
});

/**
 * Whether this member alone can administer the tenant: an active person who is owner and has no deny policy.
 */
export const isFullOwner = ({ isActive, isServiceAccount, role, policies }: Member): boolean =>
  isActive &&
  !isServiceAccount &&
  role.isBuiltIn &&
  role.name === 'owner' &&
  !policies.some(({ effect }) => effect === 'deny');

const isLastOwner = async (members: MembersReader, member: Member): Promise<boolean> =>
  isFullOwner(member) && !(await members.hasOtherOwner(member.userId));

const LAST_OWNER = 'this is the last owner of the tenant; make another member an owner first';

/** 409: a tenant must have an owner. */
export const lastOwner = (): HttpError =>
  new HttpError(409, 'last_owner', `The member cannot be removed: ${LAST_OWNER}.`);

/** What a change of a tenant's members works with. */
export interface MemberContext<M extends MembersReader> {
  readonly members: M;
  /** The caller's current permissions. */
  readonly holder: Holder;
  readonly tx: Transaction;
}

/** Members of a tenant and their permissions (decision I10). */
export class MembersService {
  readonly #members: MembersRepository;
  readonly #permissions: PermissionRegistry;

  constructor(members: MembersRepository, permissions: PermissionRegistry) {
    this.#members = members;
    this.#permissions = permissions;
  }

  list(
    tenantId: string,
    query: MemberQuery,
  ): Promise<{ members: Member[]; page: number; total: number }> {
    return this.#members.list(tenantId, query);
  }

  /** Null if the tenant has no such member. */
  find(tenantId: string, userId: string): Promise<Member | null> {
    return this.#members.find(tenantId, userId);
  }

  /** 404 if the tenant has no such member. */
  async show(tenantId: string, userId: string): Promise<Member> {
    const member = await this.find(tenantId, userId);
    if (!member) throw noMember();
    return member;
  }

  /**
   * Changes the role, the policies or both of a member. 422 if a policy covers no permission of the tenant, or this grants permissions that the caller does not
   * hold or removes the last owner; 403 if the member holds permissions that the caller does not. A change
   * without effect publishes no event.
   */
  change(
    caller: Caller,
    { tenantId, userId }: OfMember,
    change: MemberChange,
    origin: Origin,
  ): Promise<Member> {
    return this.changing(caller, tenantId, async ({ members, holder, tx }) => {
      requireEffectivePolicies(this.#permissions, holder.slug, change.policies);
      const member = await this.#changeable(holder, members, userId);
      const role = change.role === undefined ? member.role : await members.role(change.role);
      if (!role) throw noRole(change.role ?? '');
      const policies = change.policies ?? member.policies;
      if (role.id === member.role.id && areSamePolicies(policies, member.policies)) return member;
      const field = change.role === undefined ? 'policies' : 'role';
      // The caller holds all that the member has had, so that a removed deny counts as a grant here.
      const given = missingRight(holder, combinedRights(role, policies));
      if (given !== undefined) {
        throw invalidField(field, `this grants ${given}, which you do not hold yourself`);
      }
      const isLoss = isFullOwner(member) && !isFullOwner({ ...member, role, policies });
      if (isLoss && !(await members.hasOtherOwner(userId))) throw invalidField(field, LAST_OWNER);
      const changes = changesBetween(grantsOf(member), grantsOf({ role, policies }));
      await noteOf(tx, caller, origin, 'member_updated', { tenantId, subjectId: userId, changes });
      await members.change(userId, role.id, policies);
      return { ...member, role, policies };
    });
  }

  /**
   * Adds a member with a role that the caller may grant (422 on `role` otherwise). `person` returns the user
   * id; it may create the user in the same transaction.
   */
  add(
    caller: Caller,
    tenantId: string,
    roleName: string,
    origin: Origin,
    person: (tx: Transaction) => Promise<string>,
  ): Promise<string> {
    return this.changing(caller, tenantId, async ({ members, holder, tx }) => {
      const role = await this.#grantableRole(holder, members, roleName);
      const userId = await person(tx);
      const changes = created({ role: role.name });
      await noteOf(tx, caller, origin, 'member_added', { tenantId, subjectId: userId, changes });
      await members.add(userId, role.id);
      return userId;
    });
  }

  /**
   * Runs `write` with the named role if the caller may grant it (422 on `role` otherwise). `mayGrant` says so of other
   * roles.
   */
  withGrantableRole<T>(
    caller: Caller,
    tenantId: string,
    roleName: string,
    write: (
      tx: Transaction,
      role: { readonly roleId: string; readonly mayGrant: (role: Role) => boolean },
    ) => Promise<T>,
  ): Promise<T> {
    return this.reading(caller, tenantId, async ({ members, holder, tx }) => {
      const { id } = await this.#grantableRole(holder, members, roleName);
      // Inviting does not serialize with other changes: the role may have been deleted meanwhile.
      if (!(await members.hold(id))) throw noRole(roleName);
      const mayGrant = (role: Role) => missingRight(holder, combinedRights(role)) === undefined;
      return write(tx, { roleId: id, mayGrant });
    });
  }

  /**
   * Adds a member by invitation. 422 on `token` unless the inviter may still invite and still holds every
   * permission of the role. An existing member keeps their role.
   */
  admit(
    invitation: {
      readonly tenantId: string;
      readonly roleId: string;
      /** Null for a system application, whose permissions do not depend on the tenant. */
      readonly inviterId: string | null;
    },
    person: (tx: Transaction) => Promise<Joining>,
  ): Promise<void> {
    const { tenantId, roleId, inviterId } = invitation;
    return this.#members.changing(tenantId, async (members, tx) => {
      const role = await members.roleById(roleId);
      const holder = await this.#rightsOfInviter(inviterId, members);
      if (!role || !holder) throw invalidInvitation();
      if (missingRight(holder, combinedRights(role)) !== undefined) throw invalidInvitation();
      const { userId, events } = await person(tx);
      if (await members.member(userId)) await members.publish(events);
      else await members.add(userId, role.id, ...events);
    });
  }

  /**
   * Removes a member, revokes their tokens in the tenant, and withdraws the pending invitations that they sent, of which
   * it returns the number. 409 for the last owner and for a service account, which belongs to one tenant only.
   */
  remove(caller: Caller, { tenantId, userId }: OfMember, origin: Origin): Promise<number> {
    return this.changing(caller, tenantId, async ({ members, holder, tx }) => {
      const member = await this.#changeable(holder, members, userId);
      if (member.isServiceAccount) {
        const message = 'The member is a service account. Delete the account instead.';
        throw new HttpError(409, 'conflict', message);
      }
      if (await isLastOwner(members, member)) throw lastOwner();
      const changes = deleted(grantsOf(member));
      await noteOf(tx, caller, origin, 'member_removed', { tenantId, subjectId: userId, changes });
      return members.remove(userId);
    });
  }

  /**
   * Ends the caller's own membership and revokes their tokens in the tenant. 404 if they are not a member, 409
   * for the last owner. `notify` runs in the same transaction.
   */
  leave(
    caller: UserCaller,
    tenantId: string,
    origin: Origin,
    notify: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { id: userId } = caller;
    return this.#members.changing(tenantId, async (members, tx) => {
      const member = await members.member(userId);
      if (!member) throw noMember();
      if (await isLastOwner(members, member)) throw lastOwner();
      await noteOf(tx, caller, origin, 'tenant_left', { tenantId });
      await notify(tx);
      await members.remove(userId);
    });
  }

  /** Whether this member is the last owner. 404 if the tenant has no such member. */
  isLastOwner({ tenantId, userId }: OfMember): Promise<boolean> {
    return this.#members.reading(tenantId, async (members) => {
      const member = await members.member(userId);
      if (!member) throw noMember();
      return isLastOwner(members, member);
    });
  }

  /** Runs another feature's change of a tenant's members; see `MembersRepository.changing`. */
  changing<T>(
    caller: Caller,
    tenantId: string,
    work: (context: MemberContext<MembersWriter>) => Promise<T>,
  ): Promise<T> {
    return this.#members.changing(tenantId, async (members, tx) =>
      work({ members, holder: await callerRights(caller, members), tx }),
    );
  }

  /** Runs `work` that depends on the tenant's members but does not change them. */
  reading<T>(
    caller: Caller,
    tenantId: string,
    work: (context: MemberContext<MembersReader>) => Promise<T>,
  ): Promise<T> {
    return this.#members.reading(tenantId, async (members, tx) =>
      work({ members, holder: await callerRights(caller, members), tx }),
    );
  }

  /** The current permissions of the inviter; null if they may no longer invite. */
  async #rightsOfInviter(id: string | null, members: MembersReader): Promise<Holder | null> {
    const slug = await members.slug();
    if (id === null || (await members.isSystemAdmin(id))) return { ...EVERYTHING, slug };
    const inviter = await members.member(id);
    if (!inviter?.isActive) return null;
    const { policies } = memberRights(inviter);
    const isAllowed = ['identity.members.create', 'identity.users.create'].some(
      (permission) => decide(policies, permission).allowed,
    );
    return isAllowed ? { policies, slug } : null;
  }

  async #grantableRole(holder: Holder, members: MembersReader, name: string): Promise<Role> {
    const role = await members.role(name);
    if (!role) throw noRole(name);
    const beyond = missingRight(holder, combinedRights(role));
    if (beyond === undefined) return role;
    throw invalidField('role', `this grants ${beyond}, which you do not hold yourself`);
  }

  async #changeable(holder: Holder, members: MembersWriter, userId: string): Promise<Member> {
    const member = await members.member(userId);
    if (!member) throw noMember();
    requireChangeable(holder, member);
    return member;
  }
}
