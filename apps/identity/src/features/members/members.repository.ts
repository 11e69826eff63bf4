import { requireTenant } from '../../access/tenants.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { containsWords } from '../../lists/search.ts';
import { lockPolicyVersion } from '../../outbox/outbox.ts';
import { type Member, type MemberQuery, memberOf, whole } from './member.ts';
import { MembersReader, MembersWriter } from './members.transaction.ts';

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

  /**
   * One page and its number. A page beyond the last one returns the last one. 404 if the tenant does not exist.
   */
  async list(
    tenantId: string,
    query: MemberQuery,
  ): Promise<{ members: Member[]; page: number; total: number }> {
    await requireTenant(this.#database, tenantId);
    const { sort, search, isServiceAccount } = query;
    const where = {
      tenantId,
      AND: containsWords(search).map((user) => ({ user })),
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
   * Runs `work` in a transaction that reads members but does not change them; it may write other things. 404 if
   * the tenant does not exist.
   */
  reading<T>(
    tenantId: string,
    work: (members: MembersReader, tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await requireTenant(tx, tenantId);
      return work(new MembersReader(tx, tenantId), tx);
    });
  }

  /**
   * Runs a change of the tenant's members. Locks the tenant's policy version first, so that changes are
   * serialized, also with the removal of the tenant. 404 if the tenant does not exist.
   */
  changing<T>(
    tenantId: string,
    work: (members: MembersWriter, tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await lockPolicyVersion(tx, tenantId);
      await requireTenant(tx, tenantId);
      return work(new MembersWriter(tx, tenantId), tx);
    });
  }
}
