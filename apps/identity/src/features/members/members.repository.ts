import { demandTenant } from '../../access/tenants.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { literally } from '../../lists/search.ts';
import { lockPolicyVersion } from '../../outbox/outbox.ts';
import { type Member, type MemberQuery, memberOf, whole } from './member.ts';
import { MembersInTransaction, MembersToRead } from './members.transaction.ts';

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

export class MembersRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** One page, and the number of it: a page beyond the last one is the last one. 404 without the tenant. */
  async list(
    tenantId: string,
    query: MemberQuery,
  ): Promise<{ members: Member[]; page: number; total: number }> {
    await demandTenant(this.#database, tenantId);
    const { sort, search, isServiceAccount } = query;
    const where = {
      tenantId,
      ...matching(search),
      ...(isServiceAccount && { user: { isServiceAccount } }),
    };
    const orderBy = [...orderOf(sort), { userId: sort.order }];
    const { rows, ...at } = await readPage(this.#database, query, {
      count: (tx) => tx.membership.count({ where }),
      rows: (tx, part) => tx.membership.findMany({ where, include: whole, orderBy, ...part }),
    });
    return { members: rows.map(memberOf), ...at };
  }

  async find(tenantId: string, userId: string): Promise<Member | null> {
    const where = { tenantId_userId: { tenantId, userId } };
    const row = await this.#database.membership.findUnique({ where, include: whole });
    return row && memberOf(row);
  }

  /**
   * Runs what reads several things of the tenant's members, and may write what is none of theirs. 404
   * without the tenant.
   */
  reading<T>(
    tenantId: string,
    work: (members: MembersToRead, tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await demandTenant(tx, tenantId);
      return work(new MembersToRead(tx, tenantId), tx);
    });
  }

  /**
   * Runs a change of the tenant's members. It holds the tenant's version from the first statement on, so
   * that changes come one after the other and each sees what the one before it left. 404 without the tenant.
   */
  changing<T>(
    tenantId: string,
    work: (members: MembersInTransaction, tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await demandTenant(tx, tenantId);
      await lockPolicyVersion(tx, tenantId);
      return work(new MembersInTransaction(tx, tenantId), tx);
    });
  }
}
