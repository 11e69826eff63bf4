import { builtInRoles } from '@tessera/contracts';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { grantsBeyond, type Rights } from '@tessera/scope-matcher';
import { noteOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Caller } from '../../tokens/caller.ts';
import type { MembersService, Turn } from '../members/members.service.ts';
import type { MembersInTransaction } from '../members/members.transaction.ts';
import { areSamePolicies, beyond, grantedBy, rightsOf } from '../members/rights.ts';
import type { TenantRole } from './role.ts';
import {
  type RoleContent,
  type RoleHolders,
  type RoleQuery,
  RolesInTransaction,
  type RolesRepository,
} from './roles.repository.ts';

/** What is absent stays as it is. */
export type RoleChange = { readonly [K in keyof RoleContent]?: RoleContent[K] | undefined };

interface RoleTurn extends Turn<MembersInTransaction> {
  readonly roles: RolesInTransaction;
}

/** 409: built-in roles are the same everywhere. */
export const roleBuiltIn = (): HttpError =>
  new HttpError(
    409,
    'role_built_in',
    'This role is the same in every tenant. Create a role of your own instead.',
  );

/** 409: a role goes when nobody has it any more. */
export const roleInUse = (): HttpError =>
  new HttpError(409, 'role_in_use', 'Members have this role. Give them another one first.');

const noRole = (): HttpError => notFound('The role');

/** The roles of a tenant (decision I10). */
export class RolesService {
  readonly #roles: RolesRepository;
  readonly #members: MembersService;

  constructor(roles: RolesRepository, members: MembersService) {
    this.#roles = roles;
    this.#members = members;
  }

  list(
    tenantId: string,
    query: RoleQuery,
  ): Promise<{ roles: TenantRole[]; page: number; total: number }> {
    return this.#roles.list(tenantId, query);
  }

  /** 404 where the tenant has no such role. */
  async show(tenantId: string, id: string): Promise<TenantRole> {
    const role = await this.#roles.find(tenantId, id);
    if (!role) throw noRole();
    return role;
  }

  /** Makes a role, of nothing that the caller does not hold (422 on `policies`). */
  create(
    caller: Caller,
    tenantId: string,
    content: RoleContent,
    origin: Origin,
  ): Promise<TenantRole> {
    return this.#changing(caller, tenantId, async ({ roles, members, holder, tx }) => {
      await this.#demandFreeName(roles, content.name);
      demandNoGrant(beyond(holder, rightsOf(content)));
      const role = await roles.create(content);
      await noteOf(tx, caller, origin, 'role_created', { tenantId, subjectId: role.id });
      await members.tellPolicies([]);
      return role;
    });
  }

  /**
   * Changes a role for all who have it. Nobody raises any of them above what they hold themselves (422),
   * or changes a role by which somebody holds more (403). 409 for a built-in one. What changes nothing is
   * told to nobody.
   */
  change(
    caller: Caller,
    tenantId: string,
    id: string,
    change: RoleChange,
    origin: Origin,
  ): Promise<TenantRole> {
    return this.#changing(caller, tenantId, async ({ roles, members, holder, tx }) => {
      const role = await this.#own(roles, id);
      const { name = role.name, description = role.description, policies = role.policies } = change;
      await this.#demandFreeName(roles, name, id);
      const holders = await roles.holdersOf(id);
      demandNoMore(holder, role, holders);
      if (isSame(role, { name, description, policies })) return role;
      for (const own of holders.ownPolicies) {
        const before = rightsOf(role, own);
        demandNoGrant(grantsBeyond({ holder, before, after: rightsOf({ policies }, own) }));
      }
      const changed = await roles.change(id, { name, description, policies });
      await noteOf(tx, caller, origin, 'role_updated', { tenantId, subjectId: id });
      await members.tellPolicies(holders.userIds);
      return changed;
    });
  }

  /** 409 for a built-in role, and for one that members have. */
  remove(caller: Caller, tenantId: string, id: string, origin: Origin): Promise<void> {
    return this.#changing(caller, tenantId, async ({ roles, members, holder, tx }) => {
      const role = await this.#own(roles, id);
      if (role.memberCount > 0) {
        throw roleInUse();
      }
      demandNoMore(holder, role, { userIds: [], ownPolicies: [[]] });
      await roles.remove(id);
      await noteOf(tx, caller, origin, 'role_deleted', { tenantId, subjectId: id });
      await members.tellPolicies([]);
    });
  }

  #changing<T>(caller: Caller, tenantId: string, work: (turn: RoleTurn) => Promise<T>): Promise<T> {
    return this.#members.changing(caller, tenantId, (turn) =>
      work({ ...turn, roles: new RolesInTransaction(turn.tx, tenantId) }),
    );
  }

  async #own(roles: RolesInTransaction, id: string): Promise<TenantRole> {
    const role = await roles.find(id);
    if (!role) throw noRole();
    if (!role.isBuiltIn) return role;
    throw roleBuiltIn();
  }

  /** A built-in role would be hidden by one of its name: members are given roles by name. */
  async #demandFreeName(roles: RolesInTransaction, name: string, except?: string): Promise<void> {
    const isBuiltIn = Object.hasOwn(builtInRoles, name.toLowerCase());
    if (!isBuiltIn && !(await roles.isTaken(name, except))) return;
    throw invalidField('name', `there is a role "${name}" already`);
  }
}

const isSame = (role: TenantRole, { name, description, policies }: RoleContent): boolean =>
  role.name === name &&
  role.description === description &&
  areSamePolicies(role.policies, policies);

const demandNoGrant = ([given]: readonly string[]): void => {
  if (given === undefined) return;
  throw invalidField('policies', `this gives ${given}, which you do not hold yourself`);
};

/** 403 where the role, by itself or with what one of its holders has besides, is more than the caller holds. */
const demandNoMore = (holder: Rights, role: TenantRole, { ownPolicies }: RoleHolders): void => {
  const [more] = [
    ...grantedBy(role, holder),
    ...ownPolicies.flatMap((own) => beyond(holder, rightsOf(role, own))),
  ];
  if (more === undefined) return;
  const message = `With this role somebody holds ${more}, which you do not hold yourself.`;
  throw new HttpError(403, 'role_holds_more', message);
};
