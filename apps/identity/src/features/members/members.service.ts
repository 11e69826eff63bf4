import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { decide, grantsBeyond, type Policy, type Rights } from '@tessera/scope-matcher';
import { noteOf } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { News } from '../../outbox/outbox.ts';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import type { Member, MemberQuery, Role } from './member.ts';
import type { MembersRepository } from './members.repository.ts';
import type { MembersInTransaction, MembersToRead } from './members.transaction.ts';
import {
  areSamePolicies,
  demandChangeable,
  EVERYTHING,
  grantedBy,
  rightsOf,
  rightsOfCaller,
  rightsOfMember,
} from './rights.ts';

export interface MemberChange {
  /** Name of a role. */
  readonly role?: string | undefined;
  /** In the place of those that the member has. */
  readonly policies?: readonly Policy[] | undefined;
}

/** Which member of which tenant. */
export interface OfMember {
  readonly tenantId: string;
  readonly userId: string;
}

/** Who joins, and what else there is to tell of them. */
export interface Joining {
  readonly userId: string;
  readonly news: readonly News[];
}

/** 422: whatever is wrong with an invitation, the answer is the same. */
export const invalidInvitation = (): HttpError =>
  invalidField('token', 'the invitation is invalid or has expired');

const noMember = (): HttpError => notFound('The member');

/** 422: a role is given by a name that is none of the tenant's. */
export const noRole = (name: string): HttpError =>
  invalidField('role', `there is no role "${name}"`);

/** Whether this member alone can keep a tenant administrable: a person who is denied nothing. */
export const isFullOwner = ({ isActive, isServiceAccount, role, policies }: Member): boolean =>
  isActive &&
  !isServiceAccount &&
  role.isBuiltIn &&
  role.name === 'owner' &&
  !policies.some(({ effect }) => effect === 'deny');

const isLastOwner = async (members: MembersToRead, member: Member): Promise<boolean> =>
  isFullOwner(member) && !(await members.hasOtherOwner(member.userId));

const LAST_OWNER = 'this is the last owner of the tenant: make somebody else an owner first';

/** 409: a tenant keeps an owner. */
export const lastOwner = (): HttpError =>
  new HttpError(409, 'last_owner', `The member cannot be removed: ${LAST_OWNER}.`);

/** The turn of one caller among all who change, or judge by, the members of a tenant. */
export interface Turn<M extends MembersToRead> {
  readonly members: M;
  /** What the caller holds now. */
  readonly holder: Rights;
  readonly tx: Transaction;
}

/** Members of a tenant and their rights (decision I10). */
export class MembersService {
  readonly #members: MembersRepository;

  constructor(members: MembersRepository) {
    this.#members = members;
  }

  list(
    tenantId: string,
    query: MemberQuery,
  ): Promise<{ members: Member[]; page: number; total: number }> {
    return this.#members.list(tenantId, query);
  }

  /** Null where the tenant has no such member. */
  find(tenantId: string, userId: string): Promise<Member | null> {
    return this.#members.find(tenantId, userId);
  }

  /** 404 where the tenant has no such member. */
  async show(tenantId: string, userId: string): Promise<Member> {
    const member = await this.find(tenantId, userId);
    if (!member) throw noMember();
    return member;
  }

  /**
   * Gives a member another role, other policies, or both. Nobody raises anyone above what they hold
   * (422), changes a member who holds more (403), or takes the tenant its last owner (422). What changes
   * nothing is told to nobody.
   */
  change(
    caller: Caller,
    { tenantId, userId }: OfMember,
    change: MemberChange,
    origin: Origin,
  ): Promise<Member> {
    return this.changing(caller, tenantId, async ({ members, holder, tx }) => {
      const member = await this.#changeable(holder, members, userId);
      const role = change.role === undefined ? member.role : await members.role(change.role);
      if (!role) throw noRole(change.role ?? '');
      const policies = change.policies ?? member.policies;
      if (role.id === member.role.id && areSamePolicies(policies, member.policies)) return member;
      const field = change.role === undefined ? 'policies' : 'role';
      const before = rightsOfMember(member);
      const given = grantsBeyond({ holder, before, after: rightsOf(role, policies) });
      if (given.length > 0) {
        throw invalidField(field, `this gives ${given[0]}, which you do not hold yourself`);
      }
      const isLoss = isFullOwner(member) && !isFullOwner({ ...member, role, policies });
      if (isLoss && !(await members.hasOtherOwner(userId))) throw invalidField(field, LAST_OWNER);
      await noteOf(tx, caller, origin, 'member_updated', { tenantId, subjectId: userId });
      await members.change(userId, role.id, policies);
      return { ...member, role, policies };
    });
  }

  /**
   * Makes somebody a member, as a role that the caller could give (422 on `role` otherwise). `person`
   * gives their id; it may write them in the same transaction.
   */
  add(
    caller: Caller,
    tenantId: string,
    roleName: string,
    origin: Origin,
    person: (tx: Transaction) => Promise<string>,
  ): Promise<string> {
    return this.changing(caller, tenantId, async ({ members, holder, tx }) => {
      const role = await this.#givable(holder, members, roleName);
      const userId = await person(tx);
      await noteOf(tx, caller, origin, 'member_added', { tenantId, subjectId: userId });
      await members.add(userId, role.id);
      return userId;
    });
  }

  /** Runs `write` with a role that the caller could give now (422 on `role` otherwise), by its name. */
  withGivableRole<T>(
    caller: Caller,
    tenantId: string,
    roleName: string,
    write: (tx: Transaction, roleId: string) => Promise<T>,
  ): Promise<T> {
    return this.reading(caller, tenantId, async ({ members, holder, tx }) => {
      const { id } = await this.#givable(holder, members, roleName);
      // To invite takes no turn among the changes: the role may have been deleted meanwhile.
      if (!(await members.hold(id))) throw noRole(roleName);
      return write(tx, id);
    });
  }

  /**
   * Makes somebody a member by an invitation, which counts as long as who wrote it may still invite, and
   * give what the role gives by now; 422 on `token` otherwise. Who is a member already keeps their role.
   */
  admit(
    invitation: {
      readonly tenantId: string;
      readonly roleId: string;
      /** Null: a system application, which no tenant can take anything from. */
      readonly inviterId: string | null;
    },
    person: (tx: Transaction) => Promise<Joining>,
  ): Promise<void> {
    const { tenantId, roleId, inviterId } = invitation;
    return this.#members.changing(tenantId, async (members, tx) => {
      const role = await members.roleById(roleId);
      const holder = await this.#rightsOfInviter(inviterId, members);
      if (!role || !holder || grantedBy(role, holder).length > 0) {
        throw invalidInvitation();
      }
      const { userId, news } = await person(tx);
      if (await members.member(userId)) await members.tell(news);
      else await members.add(userId, role.id, ...news);
    });
  }

  /**
   * Ends a membership, with every token of the user in the tenant. 409 for the last owner, and for a
   * service account, which is nowhere else.
   */
  remove(caller: Caller, { tenantId, userId }: OfMember, origin: Origin): Promise<void> {
    return this.changing(caller, tenantId, async ({ members, holder, tx }) => {
      const member = await this.#changeable(holder, members, userId);
      if (member.isServiceAccount) {
        const message = 'The member is a service account: delete the account instead.';
        throw new HttpError(409, 'conflict', message);
      }
      if (await isLastOwner(members, member)) throw lastOwner();
      await noteOf(tx, caller, origin, 'member_removed', { tenantId, subjectId: userId });
      await members.remove(userId);
    });
  }

  /**
   * Ends the caller's own membership, with every token of theirs in the tenant. 404 where they are no member,
   * 409 for the last owner. `tell` runs in the transaction of the change.
   */
  leave(
    caller: UserCaller,
    tenantId: string,
    origin: Origin,
    tell: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { id: userId } = caller;
    return this.#members.changing(tenantId, async (members, tx) => {
      const member = await members.member(userId);
      if (!member) throw noMember();
      if (await isLastOwner(members, member)) throw lastOwner();
      await noteOf(tx, caller, origin, 'tenant_left', { tenantId });
      await tell(tx);
      await members.remove(userId);
    });
  }

  /** Whether the tenant would have no owner without this member. 404 where the tenant has no such member. */
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
    work: (turn: Turn<MembersInTransaction>) => Promise<T>,
  ): Promise<T> {
    return this.#members.changing(tenantId, async (members, tx) =>
      work({ members, holder: await rightsOfCaller(caller, members), tx }),
    );
  }

  /** Runs what judges by the tenant's members and writes none of them. */
  reading<T>(
    caller: Caller,
    tenantId: string,
    work: (turn: Turn<MembersToRead>) => Promise<T>,
  ): Promise<T> {
    return this.#members.reading(tenantId, async (members, tx) =>
      work({ members, holder: await rightsOfCaller(caller, members), tx }),
    );
  }

  /** What who wrote an invitation holds now; null where they may not invite any more. */
  async #rightsOfInviter(id: string | null, members: MembersToRead): Promise<Rights | null> {
    if (id === null || (await members.isSystemAdmin(id))) return EVERYTHING;
    const inviter = await members.member(id);
    if (!inviter?.isActive) return null;
    const rights = rightsOfMember(inviter);
    const isAllowed = ['identity.members.create', 'identity.users.create'].some(
      (permission) => decide(rights.policies, permission).allowed,
    );
    return isAllowed ? rights : null;
  }

  async #givable(holder: Rights, members: MembersToRead, name: string): Promise<Role> {
    const role = await members.role(name);
    if (!role) throw noRole(name);
    const [beyond] = grantedBy(role, holder);
    if (beyond === undefined) return role;
    throw invalidField('role', `this gives ${beyond}, which you do not hold yourself`);
  }

  async #changeable(
    holder: Rights,
    members: MembersInTransaction,
    userId: string,
  ): Promise<Member> {
    const member = await members.member(userId);
    if (!member) throw noMember();
    demandChangeable(holder, member);
    return member;
  }
}
