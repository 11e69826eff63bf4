import type { Policy } from '@tessera/scope-matcher';
import { demandTenant } from '../../access/tenants.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { literally } from '../../lists/search.ts';
import { policiesOf } from '../members/member.ts';
import { type TenantRole, tenantRoleOf, wholeRole } from './role.ts';

/** What is asked of a list of roles. */
export interface RoleQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly sort: { readonly by: 'name' | 'created_at'; readonly order: 'asc' | 'desc' };
}

/** What makes a role. */
export interface RoleContent {
  readonly name: string;
  readonly description: string;
  readonly policies: readonly Policy[];
}

/** Who has a role. */
export interface RoleHolders {
  readonly userIds: readonly string[];
  /** What they carry besides the role: each set of policies once, the empty one among them. */
  readonly ownPolicies: readonly (readonly Policy[])[];
}

/** The roles of a tenant: its own, and the built-in ones. */
const inTenant = (tenantId: string) =>
  ({ OR: [{ tenantId }, { tenantId: null }] }) satisfies Prisma.RoleWhereInput;

export class RolesRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. 404 without the tenant. */
  async list(
    tenantId: string,
    { search, sort, ...asked }: RoleQuery,
  ): Promise<{ roles: TenantRole[]; page: number; total: number }> {
    await demandTenant(this.#database, tenantId);
    const where = { ...inTenant(tenantId), ...(search && { name: literally(search) }) };
    const { order } = sort;
    const orderBy = [sort.by === 'name' ? { name: order } : { createdAt: order }, { id: order }];
    const include = wholeRole(tenantId);
    const { rows, ...at } = await readPage(this.#database, asked, {
      count: (tx) => tx.role.count({ where }),
      rows: (tx, part) => tx.role.findMany({ where, include, orderBy, ...part }),
    });
    return { roles: rows.map(tenantRoleOf), ...at };
  }

  /** Null where the tenant has no such role; 404 without the tenant. */
  async find(tenantId: string, id: string): Promise<TenantRole | null> {
    await demandTenant(this.#database, tenantId);
    return new RolesInTransaction(this.#database, tenantId).find(id);
  }
}

/** The roles of a tenant, inside the transaction that changes one. */
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
      include: wholeRole(this.#tenantId),
    });
    return row && tenantRoleOf(row);
  }

  /** Whether another role than this one has the name. */
  async isTaken(name: string, except?: string): Promise<boolean> {
    const other = await this.#tx.role.findFirst({
      where: { name, tenantId: this.#tenantId, ...(except && { id: { not: except } }) },
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
      byMember.set(row.userId, [...(byMember.get(row.userId) ?? []), ...policiesOf([row])]);
    }
    const sets = new Map([[], ...byMember.values()].map((set) => [JSON.stringify(set), set]));
    return { userIds: members.map(({ userId }) => userId), ownPolicies: [...sets.values()] };
  }

  async create({ policies, ...role }: RoleContent): Promise<TenantRole> {
    const row = await this.#tx.role.create({
      data: { ...role, tenantId: this.#tenantId, policies: { create: distinct(policies) } },
      include: wholeRole(this.#tenantId),
    });
    return tenantRoleOf(row);
  }

  async change(id: string, { policies, ...role }: RoleContent): Promise<TenantRole> {
    const row = await this.#tx.role.update({
      where: { id },
      data: { ...role, policies: { deleteMany: {}, create: distinct(policies) } },
      include: wholeRole(this.#tenantId),
    });
    return tenantRoleOf(row);
  }

  async remove(id: string): Promise<void> {
    await this.#tx.role.delete({ where: { id } });
  }
}

/** The same policy twice says no more than once. */
const distinct = (policies: readonly Policy[]): Policy[] => [
  ...new Map(policies.map((policy) => [`${policy.effect} ${policy.action}`, policy])).values(),
];
