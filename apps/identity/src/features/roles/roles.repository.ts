import type { Policy } from '@tessera/scope-matcher';
import { requireTenant } from '../../access/tenants.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { containsText, equalsText } from '../../lists/search.ts';
import { pendingInvitation } from '../../tokens/one-time.ts';
import { policiesOf } from '../members/member.ts';
import { roleRelations, type TenantRole, tenantRoleOf } from './role.ts';

/** Page, filter and order of a role list. */
export interface RoleQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly sort: { readonly by: 'name' | 'created_at'; readonly order: 'asc' | 'desc' };
}

/** The changeable fields of a role. */
export interface RoleContent {
  readonly name: string;
  readonly description: string;
  readonly policies: readonly Policy[];
}

/** The members with a role. */
export interface RoleHolders {
  readonly userIds: readonly string[];
  /**
   * Their own policies, in one set for all members with the same denies, and always one without denies: what one of
   * these members is allowed, the set allows, and nothing else.
   */
  readonly ownPolicies: readonly (readonly Policy[])[];
}

/** Matches the tenant's own roles and the built-in ones. */
const inTenant = (tenantId: string) =>
  ({ OR: [{ tenantId }, { tenantId: null }] }) satisfies Prisma.RoleWhereInput;

export class RolesRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * One page and its number. A page beyond the last one returns the last one. 404 if the tenant does not exist.
   */
  async list(
    tenantId: string,
    { search, sort, ...page }: RoleQuery,
  ): Promise<{ roles: TenantRole[]; page: number; total: number }> {
    await requireTenant(this.#database, tenantId);
    const where = { ...inTenant(tenantId), ...(search && { name: containsText(search) }) };
    const { order } = sort;
    const orderBy = [sort.by === 'name' ? { name: order } : { createdAt: order }, { id: order }];
    const include = roleRelations(tenantId);
    const { rows, ...at } = await readPage(this.#database, page, {
      count: (tx) => tx.role.count({ where }),
      rows: (tx, part) => tx.role.findMany({ where, include, orderBy, ...part }),
    });
    return { roles: rows.map(tenantRoleOf), ...at };
  }

  /** Null if the tenant has no such role; 404 if the tenant does not exist. */
  async find(tenantId: string, id: string): Promise<TenantRole | null> {
    await requireTenant(this.#database, tenantId);
    return new RolesInTransaction(this.#database, tenantId).find(id);
  }
}

/** Changes roles of a tenant within a transaction. */
export class RolesInTransaction {
  readonly #tx: Transaction;
  readonly #tenantId: string;

  constructor(tx: Transaction, tenantId: string) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  async find(id: string): Promise<TenantRole | null> {
    const row = await this.#tx.role.findUnique({
      where: { id, ...inTenant(this.#tenantId) },
      include: roleRelations(this.#tenantId),
    });
    return row && tenantRoleOf(row);
  }

  /** How many roles the tenant has besides the built-in ones. */
  count(): Promise<number> {
    return this.#tx.role.count({ where: { tenantId: this.#tenantId } });
  }

  /** Whether another role has this name, in any case. */
  async isTaken(name: string, except?: string): Promise<boolean> {
    const other = await this.#tx.role.findFirst({
      where: {
        name: equalsText(name),
        tenantId: this.#tenantId,
        ...(except && { id: { not: except } }),
      },
    });
    return other !== null;
  }

  async holdersOf(roleId: string): Promise<RoleHolders> {
    const where = { tenantId: this.#tenantId, roleId };
    const members = await this.#tx.membership.findMany({ where, select: { userId: true } });
    const own = await this.#tx.membershipPolicy.findMany({
      where: { membership: where },
      orderBy: [{ userId: 'asc' }, { action: 'asc' }, { effect: 'asc' }],
    });
    const byMember = new Map<string, Policy[]>();
    for (const row of own) {
      const policies = byMember.get(row.userId) ?? [];
      byMember.set(row.userId, policies);
      policies.push(...policiesOf([row]));
    }
    const byDenies = new Map<string, Policy[]>([['[]', []]]);
    for (const policies of byMember.values()) {
      const denies = policies.filter(({ effect }) => effect === 'deny');
      const key = JSON.stringify(denies);
      const combined = byDenies.get(key) ?? [];
      byDenies.set(key, combined);
      combined.push(...policies);
    }
    return {
      userIds: members.map(({ userId }) => userId),
      ownPolicies: [...byDenies.values()].map(distinct),
    };
  }

  async create({ policies, ...role }: RoleContent): Promise<TenantRole> {
    const row = await this.#tx.role.create({
      data: { ...role, tenantId: this.#tenantId, policies: { create: distinct(policies) } },
      include: roleRelations(this.#tenantId),
    });
    return tenantRoleOf(row);
  }

  async change(id: string, { policies, ...role }: RoleContent): Promise<TenantRole> {
    const row = await this.#tx.role.update({
      where: { id },
      data: { ...role, policies: { deleteMany: {}, create: distinct(policies) } },
      include: roleRelations(this.#tenantId),
    });
    return tenantRoleOf(row);
  }

  /** Locks a role, so that nobody else is invited to it, and returns the number of its pending invitations. */
  async lockInvitations(roleId: string): Promise<number> {
    await this.#tx.$queryRaw`SELECT 1 FROM identity.roles WHERE id = ${roleId}::uuid FOR UPDATE`;
    return this.#tx.oneTimeToken.count({
      where: { ...pendingInvitation(), tenantId: this.#tenantId, roleId },
    });
  }

  /** Deletes a role with all invitations to it. */
  async remove(id: string): Promise<void> {
    await this.#tx.role.delete({ where: { id } });
  }
}

/** Removes duplicate policies. */
const distinct = (policies: readonly Policy[]): Policy[] => [
  ...new Map(policies.map((policy) => [`${policy.effect} ${policy.action}`, policy])).values(),
];
