import { notFound } from '@tessera/http-kit';
import { noteOf } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { News } from '../../outbox/outbox.ts';
import type { Caller } from '../../tokens/caller.ts';
import { lockUser } from '../../users/users.ts';
import type { Member, MemberQuery, Role } from '../members/member.ts';
import { type MembersService, noRole, type Turn } from '../members/members.service.ts';
import type { MembersInTransaction, MembersToRead } from '../members/members.transaction.ts';
import { demandChangeable, demandHeld, rightsOf } from '../members/rights.ts';
import {
  type AccountChange,
  type AccountFields,
  addAccount,
  changeAccount,
  retireAccount,
} from './service-accounts.repository.ts';

/** The role by its name. */
export type NewServiceAccount = AccountFields & { readonly role: string };

/** What is not given stays as it is. */
export type ServiceAccountChange = AccountChange & { readonly role?: string | undefined };

/** Which account of which tenant. */
export interface OfAccount {
  readonly tenantId: string;
  readonly userId: string;
}

const isSame = (account: Member, { name = account.name, email = account.email }: AccountChange) =>
  account.name === name && account.email === email;

/** 404 for whoever is no service account of the tenant. */
const accountOf = (member: Member | null): Member => {
  if (!member?.isServiceAccount) throw notFound('The service account');
  return member;
};

/** Non-human members of a tenant (decision I11). They call with API keys and have no other way in. */
export class ServiceAccountsService {
  readonly #members: MembersService;

  constructor(members: MembersService) {
    this.#members = members;
  }

  list(tenantId: string, query: MemberQuery): ReturnType<MembersService['list']> {
    return this.#members.list(tenantId, { ...query, isServiceAccount: true });
  }

  /** 404 where the tenant has no such account. */
  async show({ tenantId, userId }: OfAccount): Promise<Member> {
    return accountOf(await this.#members.find(tenantId, userId));
  }

  /**
   * The account, locked for as long as the transaction lasts: whoever deletes it, or gives or takes its
   * keys, comes after. 404 where the tenant has no such account.
   */
  async locked(tx: Transaction, members: MembersToRead, userId: string): Promise<Member> {
    await lockUser(tx, userId);
    return accountOf(await members.member(userId));
  }

  /** 403 unless the caller holds all that the role gives; 422 for an unknown role. */
  create(
    caller: Caller,
    tenantId: string,
    given: NewServiceAccount,
    origin: Origin,
  ): Promise<Member> {
    return this.#members.changing(caller, tenantId, async (turn) => {
      const { members, tx } = turn;
      const role = await this.#givable(turn, given.role);
      const userId = await addAccount(tx, tenantId, given);
      await noteOf(tx, caller, origin, 'service_account_created', { tenantId, subjectId: userId });
      await members.add(userId, role.id);
      return accountOf(await members.member(userId));
    });
  }

  /** As creating; and 403 where the account holds more than the caller. What changes nothing is told to nobody. */
  change(
    caller: Caller,
    { tenantId, userId }: OfAccount,
    change: ServiceAccountChange,
    origin: Origin,
  ): Promise<Member> {
    return this.#members.changing(caller, tenantId, async (turn) => {
      const { members, tx } = turn;
      const account = await this.#changeable(turn, userId);
      const role =
        change.role === undefined ? account.role : await this.#givable(turn, change.role);
      const isSameRole = role.id === account.role.id;
      if (isSameRole && isSame(account, change)) return account;
      await changeAccount(tx, userId, change);
      await noteOf(tx, caller, origin, 'service_account_updated', { tenantId, subjectId: userId });
      const news: News = { type: 'identity.user.updated', data: { user_id: userId } };
      if (isSameRole) await members.tell([news]);
      else await members.change(userId, role.id, account.policies, news);
      return accountOf(await members.member(userId));
    });
  }

  /** Ends an account with all its keys; 403 where it holds more than the caller. */
  remove(caller: Caller, { tenantId, userId }: OfAccount, origin: Origin): Promise<void> {
    return this.#members.changing(caller, tenantId, async (turn) => {
      const { members, tx } = turn;
      await this.#changeable(turn, userId);
      await retireAccount(tx, userId);
      await noteOf(tx, caller, origin, 'service_account_deleted', { tenantId, subjectId: userId });
      const news: News = { type: 'identity.user.deactivated', data: { user_id: userId } };
      await members.remove(userId, 'service_account_deleted', news);
    });
  }

  async #givable({ members, holder }: Turn<MembersInTransaction>, name: string): Promise<Role> {
    const role = await members.role(name);
    if (!role) throw noRole(name);
    demandHeld(holder, rightsOf(role));
    return role;
  }

  async #changeable(
    { members, holder }: Turn<MembersInTransaction>,
    userId: string,
  ): Promise<Member> {
    const account = accountOf(await members.member(userId));
    demandChangeable(holder, account);
    return account;
  }
}
