import { notFound } from '@tessera/http-kit';
import type { Policy } from '@tessera/scope-matcher';
import { noteOf } from '../../activity/activity.ts';
import { changesBetween, created } from '../../activity/changes.ts';
import type { Transaction } from '../../database.ts';
import { MAX_SERVICE_ACCOUNTS, requireBelow } from '../../lists/maximum.ts';
import type { Origin } from '../../origin/origin.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import type { Caller } from '../../tokens/caller.ts';
import { lockUser } from '../../users/users.ts';
import type { Member, MemberQuery, Role } from '../members/member.ts';
import { type MemberContext, type MembersService, noRole } from '../members/members.service.ts';
import type { MembersReader, MembersWriter } from '../members/members.transaction.ts';
import { combinedRights, requireCallerHolds, requireChangeable } from '../members/rights.ts';
import {
  type AccountChange,
  type AccountFields,
  addAccount,
  changeAccount,
  countAccounts,
  retireAccount,
} from './service-accounts.repository.ts';

/** The role is given by name. */
export type NewServiceAccount = AccountFields & { readonly role: string };

/** Absent fields are left unchanged. */
export type ServiceAccountChange = AccountChange & { readonly role?: string | undefined };

/** Identifies a service account. */
export interface ServiceAccountRef {
  readonly tenantId: string;
  readonly userId: string;
}

const isSame = (account: Member, { name = account.name, email = account.email }: AccountChange) =>
  account.name === name && account.email === email;

/** What the activity log records of an account. */
const contentOf = ({ name, email, role }: Member) => ({ name, email, role: role.name });

/** 404 unless the member is a service account. */
const requireServiceAccount = (member: Member | null): Member => {
  if (!member?.isServiceAccount) throw notFound('The service account');
  return member;
};

/** Non-human members of a tenant (decision I11). They authenticate only with API keys. */
export class ServiceAccountsService {
  readonly #members: MembersService;

  constructor(members: MembersService) {
    this.#members = members;
  }

  list(tenantId: string, query: MemberQuery): ReturnType<MembersService['list']> {
    return this.#members.list(tenantId, { ...query, isServiceAccount: true });
  }

  /** 404 if the tenant has no such account. */
  async show({ tenantId, userId }: ServiceAccountRef): Promise<Member> {
    return requireServiceAccount(await this.#members.find(tenantId, userId));
  }

  /**
   * The account, locked until the transaction ends, which serializes its deletion and changes of its keys. 404
   * if the tenant has no such account.
   */
  async locked(tx: Transaction, members: MembersReader, userId: string): Promise<Member> {
    await lockUser(tx, userId);
    return requireServiceAccount(await members.member(userId));
  }

  /** 403 unless the caller holds all permissions of the role; 422 for an unknown role. */
  create(
    caller: Caller,
    tenantId: string,
    given: NewServiceAccount,
    origin: Origin,
  ): Promise<Member> {
    return this.#members.changing(caller, tenantId, async (context) => {
      const { members, tx } = context;
      const role = await this.#grantableRole(context, given.role);
      requireBelow(MAX_SERVICE_ACCOUNTS, await countAccounts(tx, tenantId));
      const userId = await addAccount(tx, tenantId, given);
      await members.add(userId, role.id);
      const account = requireServiceAccount(await members.member(userId));
      const changes = created(contentOf(account));
      const details = { tenantId, subjectId: userId, changes };
      await noteOf(tx, caller, origin, 'service_account_created', details);
      return account;
    });
  }

  /**
   * 403 if the account holds permissions that the caller does not, or would hold some with the new role; 422 for an
   * unknown role. A change without effect publishes no event.
   */
  change(
    caller: Caller,
    { tenantId, userId }: ServiceAccountRef,
    change: ServiceAccountChange,
    origin: Origin,
  ): Promise<Member> {
    return this.#members.changing(caller, tenantId, async (context) => {
      const { members, tx } = context;
      const account = await this.#changeable(context, userId);
      const role =
        change.role === undefined
          ? account.role
          : await this.#grantableRole(context, change.role, account.policies);
      const isSameRole = role.id === account.role.id;
      if (isSameRole && isSame(account, change)) return account;
      await changeAccount(tx, userId, change);
      const event: NewEvent = { type: 'identity.user.updated', data: { user_id: userId } };
      if (isSameRole) await members.publish([event]);
      else await members.change(userId, role.id, account.policies, event);
      const changed = requireServiceAccount(await members.member(userId));
      const changes = changesBetween(contentOf(account), contentOf(changed));
      const details = { tenantId, subjectId: userId, changes };
      await noteOf(tx, caller, origin, 'service_account_updated', details);
      return changed;
    });
  }

  /**
   * Deletes an account and revokes its keys; 403 if it holds permissions that the caller does not.
   */
  remove(caller: Caller, { tenantId, userId }: ServiceAccountRef, origin: Origin): Promise<void> {
    return this.#members.changing(caller, tenantId, async (context) => {
      const { members, tx } = context;
      await this.#changeable(context, userId);
      await retireAccount(tx, userId);
      await noteOf(tx, caller, origin, 'service_account_deleted', { tenantId, subjectId: userId });
      const event: NewEvent = { type: 'identity.user.deactivated', data: { user_id: userId } };
      await members.remove(userId, 'service_account_deleted', event);
    });
  }

  /** An account's own policies count too: what they allow may be denied by its present role only. */
  async #grantableRole(
    { members, holder }: MemberContext<MembersWriter>,
    name: string,
    own: readonly Policy[] = [],
  ): Promise<Role> {
    const role = await members.role(name);
    if (!role) throw noRole(name);
    requireCallerHolds(holder, combinedRights(role, own));
    return role;
  }

  async #changeable(
    { members, holder }: MemberContext<MembersWriter>,
    userId: string,
  ): Promise<Member> {
    const account = requireServiceAccount(await members.member(userId));
    requireChangeable(holder, account);
    return account;
  }
}
