import { builtInRoles, type PermissionRegistry } from '@tessera/contracts';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { requireEffectivePolicies } from '../../access/known-policy.ts';
import { noteOf } from '../../activity/activity.ts';
import { changesBetween, created, deleted } from '../../activity/changes.ts';
import { MAX_ROLES, requireBelow } from '../../lists/maximum.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Caller } from '../../tokens/caller.ts';
import type { MemberContext, MembersService } from '../members/members.service.ts';
import type { MembersWriter } from '../members/members.transaction.ts';
import {
  areSamePolicies,
  combinedRights,
  type Holder,
  missingRight,
  newEffort,
  recorded,
} from '../members/rights.ts';
import type { TenantRole } from './role.ts';
import {
  type RoleContent,
  type RoleHolders,
  type RoleQuery,
  RolesInTransaction,
  type RolesRepository,
} from './roles.repository.ts';

/** Absent fields are left unchanged. */
export type RoleChange = { readonly [K in keyof RoleContent]?: RoleContent[K] | undefined };

interface RoleContext extends MemberContext<MembersWriter> {
  readonly roles: RolesInTransaction;
}

/** 409: built-in roles cannot be changed. */
export const roleBuiltIn = (): HttpError =>
  new HttpError(
    409,
    'role_built_in',
    'Built-in roles cannot be changed. Create a role of your own instead.',
  );

/** 409: a role with members cannot be deleted. */
export const roleInUse = (): HttpError =>
  new HttpError(409, 'role_in_use', 'Members have this role. Assign them another role first.');

const noRole = (): HttpError => notFound('The role');

/** Roles of a tenant (decision I10). */
export class RolesService {
  readonly #roles: RolesRepository;
  readonly #members: MembersService;
  readonly #permissions: PermissionRegistry;

  constructor(roles: RolesRepository, members: MembersService, permissions: PermissionRegistry) {
    this.#roles = roles;
    this.#members = members;
    this.#permissions = permissions;
  }

  list(
    tenantId: string,
    query: RoleQuery,
  ): Promise<{ roles: TenantRole[]; page: number; total: number }> {
    return this.#roles.list(tenantId, query);
  }

  /** 404 if the tenant has no such role. */
  async show(tenantId: string, id: string): Promise<TenantRole> {
    const role = await this.#roles.find(tenantId, id);
    if (!role) throw noRole();
    return role;
  }

  /** Creates a role. 422 on `policies` if it grants permissions that the caller does not hold. */
  create(
    caller: Caller,
    tenantId: string,
    content: RoleContent,
    origin: Origin,
  ): Promise<TenantRole> {
    return this.#changing(caller, tenantId, async ({ roles, members, holder, tx }) => {
      requireEffectivePolicies(this.#permissions, holder.slug, content.policies);
      await this.#requireFreeName(roles, content.name);
      requireNoGrant(missingRight(holder, combinedRights(content)));
      requireBelow(MAX_ROLES, await roles.count());
      const role = await roles.create(content);
      const changes = created(contentOf(role));
      await noteOf(tx, caller, origin, 'role_created', { tenantId, subjectId: role.id, changes });
      await members.publishPolicyUpdate([]);
      return role;
    });
  }

  /**
   * Changes a role for all its members. 422 if a member would gain permissions that the caller does not hold,
   * 403 if a member with the role already holds more than the caller, 409 for a built-in role. A change without
   * effect publishes no event.
   */
  change(
    caller: Caller,
    tenantId: string,
    id: string,
    change: RoleChange,
    origin: Origin,
  ): Promise<TenantRole> {
    return this.#changing(caller, tenantId, async ({ roles, members, holder, tx }) => {
      requireEffectivePolicies(this.#permissions, holder.slug, change.policies);
      const role = await this.#own(roles, id);
      const { name = role.name, description = role.description, policies = role.policies } = change;
      if (name !== role.name) await this.#requireFreeName(roles, name, id);
      const holders = await roles.holdersOf(id);
      requireWithinCallerRights(holder, role, holders);
      if (isSame(role, { name, description, policies })) return role;
      // The caller holds all that the members have had, so that a removed deny counts as a grant here.
      requireNoGrant(missingRightOfMembers(holder, { policies }, holders));
      const changed = await roles.change(id, { name, description, policies });
      const changes = changesBetween(contentOf(role), contentOf(changed));
      await noteOf(tx, caller, origin, 'role_updated', { tenantId, subjectId: id, changes });
      await members.publishPolicyUpdate(holders.userIds);
      return changed;
    });
  }

  /**
   * Deletes a role and the pending invitations to it, of which it returns the number. 409 for a built-in role or a role
   * with members.
   */
  remove(caller: Caller, tenantId: string, id: string, origin: Origin): Promise<number> {
    return this.#changing(caller, tenantId, async ({ roles, members, holder, tx }) => {
      const role = await this.#own(roles, id);
      if (role.memberCount > 0) {
        throw roleInUse();
      }
      requireWithinCallerRights(holder, role, { userIds: [], ownPolicies: [[]] });
      const invitations = await roles.lockInvitations(id);
      const changes = {
        ...deleted(contentOf(role)),
        ...changesBetween({ pending_invitations: invitations }, { pending_invitations: 0 }),
      };
      // First, because it locks the caller: the deletion of an account also locks it before its invitations.
      await noteOf(tx, caller, origin, 'role_deleted', { tenantId, subjectId: id, changes });
      await roles.remove(id);
      await members.publishPolicyUpdate([]);
      return invitations;
    });
  }

  #changing<T>(
    caller: Caller,
    tenantId: string,
    work: (context: RoleContext) => Promise<T>,
  ): Promise<T> {
    return this.#members.changing(caller, tenantId, (context) =>
      work({ ...context, roles: new RolesInTransaction(context.tx, tenantId) }),
    );
  }

  async #own(roles: RolesInTransaction, id: string): Promise<TenantRole> {
    const role = await roles.find(id);
    if (!role) throw noRole();
    if (!role.isBuiltIn) return role;
    throw roleBuiltIn();
  }

  /**
   * Names are unique, also among built-in roles, because members are assigned roles by name. Those that differ only in case
   * would be mistaken for each other.
   */
  async #requireFreeName(roles: RolesInTransaction, name: string, except?: string): Promise<void> {
    const isBuiltIn = Object.hasOwn(builtInRoles, name.toLowerCase());
    if (!isBuiltIn && !(await roles.isTaken(name, except))) return;
    throw invalidField('name', `a role named "${name}" already exists`);
  }
}

/** What the activity log records of a role. */
const contentOf = ({ name, description, policies }: RoleContent) => ({
  name,
  description,
  policies: recorded(policies),
});

const isSame = (role: TenantRole, { name, description, policies }: RoleContent): boolean =>
  role.name === name &&
  role.description === description &&
  areSamePolicies(role.policies, policies);

const requireNoGrant = (given: string | undefined): void => {
  if (given === undefined) return;
  throw invalidField('policies', `this grants ${given}, which you do not hold yourself`);
};

/**
 * The first permission that the role, alone or combined with the own policies of one of its members, grants and the
 * caller does not hold.
 */
const missingRightOfMembers = (
  holder: Holder,
  role: Pick<TenantRole, 'policies'>,
  { ownPolicies }: RoleHolders,
): string | undefined => {
  // Denies only take away. Without them there is one set, however many members there are.
  const allows = ownPolicies.flat().filter(({ effect }) => effect === 'allow');
  if (missingRight(holder, combinedRights(role, allows)) === undefined) return undefined;
  const effort = newEffort();
  for (const own of ownPolicies) {
    const missing = missingRight(holder, combinedRights(role, own), effort);
    if (missing !== undefined) return missing;
  }
  return undefined;
};

/** 403 if a member already holds more by the role than the caller. */
const requireWithinCallerRights = (
  holder: Holder,
  role: TenantRole,
  holders: RoleHolders,
): void => {
  const more = missingRightOfMembers(holder, role, holders);
  if (more === undefined) return;
  const message = `A member with this role holds ${more}, which you do not hold yourself.`;
  throw new HttpError(403, 'role_holds_more', message);
};
