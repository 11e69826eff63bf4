import { notFound } from '@tessera/http-kit';
import type { Policy } from '@tessera/scope-matcher';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { bumpPolicyVersion, enqueue, type News } from '../../outbox/outbox.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly isBuiltIn: boolean;
  readonly policies: readonly Policy[];
}

export interface Member {
  readonly userId: string;
  readonly email: string | null;
  readonly name: string;
  readonly isActive: boolean;
  readonly role: Role;
  /** Their own, besides the role's. */
  readonly policies: readonly Policy[];
}

/** What is asked of a list of members. */
export interface MemberQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly sort: { readonly by: 'name' | 'email' | 'created_at'; readonly order: 'asc' | 'desc' };
}

const whole = {
  user: true,
  policies: { orderBy: [{ action: 'asc' }, { effect: 'asc' }] },
  role: { include: { policies: true } },
} as const satisfies Prisma.MembershipInclude;

type Row = Prisma.MembershipGetPayload<{ include: typeof whole }>;
type RoleRow = Row['role'];

/** A check constraint holds the effect to the two. */
const policiesOf = (rows: readonly { action: string; effect: string }[]): Policy[] =>
  rows.map(({ action, effect }) => ({ action, effect: effect === 'allow' ? 'allow' : 'deny' }));

const roleOf = ({ id, name, tenantId, policies }: RoleRow): Role => ({
  id,
  name,
  isBuiltIn: tenantId === null,
  policies: policiesOf(policies),
});

const memberOf = ({ user, role, policies }: Row): Member => ({
  userId: user.id,
  email: user.email,
  name: `${user.firstName} ${user.lastName}`.trim(),
  isActive: user.isActive,
  role: roleOf(role),
  policies: policiesOf(policies),
});

/** Prisma hands `%`, `_` and `\` of a term to LIKE as they are. */
const literally = (term: string) =>
  ({ contains: term.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }) as const;

const matching = (search: string | undefined): Prisma.MembershipWhereInput =>
  search === undefined
    ? {}
    : {
        AND: search.split(/\s+/).map((word) => ({
          user: {
            OR: [
              { email: literally(word) },
              { firstName: literally(word) },
              { lastName: literally(word) },
            ],
          },
        })),
      };

const orderOf = ({
  by,
  order,
}: MemberQuery['sort']): Prisma.MembershipOrderByWithRelationInput[] => {
  if (by === 'created_at') return [{ createdAt: order }];
  if (by === 'email') return [{ user: { email: order } }];
  return [{ user: { lastName: order } }, { user: { firstName: order } }];
};

/** Members of a tenant and their roles, as a transaction sees them. */
export class MembersToRead {
  readonly #tx: Transaction;
  readonly #tenantId: string;

  constructor(tx: Transaction, tenantId: string) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  async member(userId: string): Promise<Member | null> {
    const where = { tenantId_userId: { tenantId: this.#tenantId, userId } };
    const row = await this.#tx.membership.findUnique({ where, include: whole });
    return row && memberOf(row);
  }

  /** The tenant's own role of this name, or the built-in one. */
  async role(name: string): Promise<Role | null> {
    const rows = await this.#tx.role.findMany({
      where: { name, OR: [{ tenantId: this.#tenantId }, { tenantId: null }] },
      include: { policies: true },
    });
    const row = rows.find(({ tenantId }) => tenantId !== null) ?? rows[0];
    return row ? roleOf(row) : null;
  }

  /** The tenant's own role of this id, or the built-in one. */
  async roleById(id: string): Promise<Role | null> {
    const row = await this.#tx.role.findUnique({
      where: { id, OR: [{ tenantId: this.#tenantId }, { tenantId: null }] },
      include: { policies: true },
    });
    return row && roleOf(row);
  }

  /** Whether an active user holds everything, in this tenant as in all. */
  async isSystemAdmin(userId: string): Promise<boolean> {
    const where = { id: userId, isSystemAdmin: true, isActive: true };
    return (await this.#tx.user.count({ where })) > 0;
  }

  /** Whether somebody else can still do everything here: an active owner whom no policy denies anything. */
  async hasOtherOwner(userId: string): Promise<boolean> {
    const other = await this.#tx.membership.findFirst({
      where: {
        tenantId: this.#tenantId,
        userId: { not: userId },
        role: { name: 'owner', tenantId: null },
        user: { isActive: true, isServiceAccount: false },
        policies: { none: { effect: 'deny' } },
      },
    });
    return other !== null;
  }
}

/** Members of a tenant, inside a transaction that changes one of them. */
export class MembersInTransaction extends MembersToRead {
  readonly #tx: Transaction;
  readonly #tenantId: string;
  readonly #version: number;

  constructor(tx: Transaction, tenantId: string, version: number) {
    super(tx, tenantId);
    this.#tx = tx;
    this.#tenantId = tenantId;
    this.#version = version;
  }

  /** Makes a user a member. The next sign-in of somebody who was in no tenant starts here. */
  async add(userId: string, roleId: string, ...more: News[]): Promise<void> {
    const tenantId = this.#tenantId;
    await this.#tx.membership.create({ data: { tenantId, userId, roleId } });
    await this.#tx.user.updateMany({ where: { id: userId, tenantId: null }, data: { tenantId } });
    await this.#tell(userId, ...more);
  }

  /** Tells what changed besides the members; instead of what a change of theirs tells, not after it. */
  async tell(news: readonly News[]): Promise<void> {
    if (news.length > 0) await enqueue(this.#tx, ...news);
  }

  async change(userId: string, roleId: string, policies: readonly Policy[]): Promise<void> {
    const where = { tenantId: this.#tenantId, userId };
    await this.#tx.membership.update({ where: { tenantId_userId: where }, data: { roleId } });
    await this.#tx.membershipPolicy.deleteMany({ where });
    await this.#tx.membershipPolicy.createMany({
      data: policies.map((policy) => ({ ...where, ...policy })),
      skipDuplicates: true,
    });
    await this.#tell(userId);
  }

  /** Ends the membership, and every token of the user in the tenant with it. */
  async remove(userId: string): Promise<void> {
    const where = { tenantId: this.#tenantId, userId };
    await this.#tx.membership.delete({ where: { tenantId_userId: where } });
    await this.#tx.user.updateMany({
      where: { id: userId, tenantId: this.#tenantId },
      data: { tenantId: null },
    });
    await this.#tell(userId, await revokeUserTokens(this.#tx, where, 'membership_removed'));
  }

  async note(userId: string, action: string): Promise<void> {
    await this.#tx.activityEntry.create({ data: { userId, tenantId: this.#tenantId, action } });
  }

  async #tell(userId: string, ...more: News[]): Promise<void> {
    const data = { tenant_id: this.#tenantId, version: this.#version, user_ids: [userId] };
    await enqueue(this.#tx, { type: 'identity.policy.updated', data }, ...more);
  }
}

export class MembersRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. */
  async list(
    tenantId: string,
    query: MemberQuery,
  ): Promise<{ members: Member[]; page: number; total: number }> {
    const where = { tenantId, ...matching(query.search) };
    const { perPage, sort } = query;
    return this.#database.$transaction(
      async (tx) => {
        const total = await tx.membership.count({ where });
        const page = Math.min(query.page, Math.max(1, Math.ceil(total / perPage)));
        const rows = await tx.membership.findMany({
          where,
          include: whole,
          orderBy: [...orderOf(sort), { userId: sort.order }],
          skip: (page - 1) * perPage,
          take: perPage,
        });
        return { members: rows.map(memberOf), page, total };
      },
      { isolationLevel: 'RepeatableRead' },
    );
  }

  async find(tenantId: string, userId: string): Promise<Member | null> {
    const where = { tenantId_userId: { tenantId, userId } };
    const row = await this.#database.membership.findUnique({ where, include: whole });
    return row && memberOf(row);
  }

  /** Runs what reads several things of the tenant's members, and may write what is none of theirs. */
  reading<T>(
    tenantId: string,
    work: (members: MembersToRead, tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#database.$transaction((tx) => work(new MembersToRead(tx, tenantId), tx));
  }

  /**
   * Runs a change of the tenant's members. It holds the tenant's version from the first statement on, so
   * that changes come one after the other and each sees what the one before it left.
   */
  changing<T>(
    tenantId: string,
    work: (members: MembersInTransaction, tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      const isThere = await tx.tenant.findUnique({ where: { id: tenantId }, select: { id: true } });
      if (!isThere) throw notFound('The tenant');
      const version = await bumpPolicyVersion(tx, tenantId);
      return work(new MembersInTransaction(tx, tenantId, version), tx);
    });
  }
}
