import type { Database, Transaction } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { lockUser } from '../../users/users.ts';
import { type AdminUser, userRelations } from './admin-user.ts';
import { hasOtherAdministrator, isAdministrator, lockAdministrators } from './administrators.ts';

/** Page, filters and order of the user list. */
export interface UserQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly isActive: boolean | undefined;
  readonly isSystemAdmin: boolean | undefined;
  readonly isServiceAccount: boolean | undefined;
  /** Only members of this tenant. */
  readonly tenantId: string | undefined;
  readonly sort: {
    readonly by: 'name' | 'email' | 'created_at' | 'last_login_at';
    readonly order: 'asc' | 'desc';
  };
}

/** Each search word must occur in the name or email address, ignoring case and accents. */
const conditionsOf = (query: UserQuery): Prisma.Sql => {
  const words = query.search?.split(/\s+/) ?? [];
  const flags = [
    ['is_active', query.isActive],
    ['is_system_admin', query.isSystemAdmin],
    ['is_service_account', query.isServiceAccount],
  ] as const;
  return Prisma.join(
    [
      Prisma.sql`true`,
      ...words.map(
        (word) =>
          Prisma.sql`identity.user_search_text(u.email, u.first_name, u.last_name) LIKE identity.search_pattern(${word})`,
      ),
      ...flags.flatMap(([column, value]) =>
        value === undefined ? [] : [Prisma.sql`u.${Prisma.raw(column)} = ${value}`],
      ),
      ...(query.tenantId === undefined
        ? []
        : [
            Prisma.sql`EXISTS (SELECT FROM identity.memberships m
              WHERE m.user_id = u.id AND m.tenant_id = ${query.tenantId}::uuid)`,
          ]),
    ],
    ' AND ',
  );
};

const orderOf = ({ by, order }: UserQuery['sort']): Prisma.Sql => {
  const columns = { name: ['last_name', 'first_name'] }[by as 'name'] ?? [by];
  const terms = [...columns.map((column) => `u.${column} ${order} NULLS LAST`), `u.id ${order}`];
  return Prisma.raw(terms.join(', '));
};

export class AdminUsersRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** One page and its number. A page beyond the last one returns the last one. */
  async list(query: UserQuery): Promise<{ users: AdminUser[]; page: number; total: number }> {
    const where = conditionsOf(query);
    const { rows, ...at } = await readPage(this.#database, query, {
      async count(tx) {
        const [{ total } = { total: 0 }] = await tx.$queryRaw<{ total: number }[]>`
          SELECT count(*)::int AS total FROM identity.users u WHERE ${where}`;
        return total;
      },
      async rows(tx, { skip, take }) {
        const found = await tx.$queryRaw<{ id: string }[]>`
          SELECT u.id FROM identity.users u WHERE ${where} ORDER BY ${orderOf(query.sort)}
          LIMIT ${take} OFFSET ${skip}`;
        const ids = found.map(({ id }) => id);
        const users = await tx.user.findMany({
          where: { id: { in: ids } },
          include: userRelations,
        });
        const byId = new Map(users.map((user) => [user.id, user]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      },
    });
    return { users: rows, ...at };
  }

  find(id: string): Promise<AdminUser | null> {
    return this.#database.user.findUnique({ where: { id }, include: userRelations });
  }

  /**
   * Runs `work` in a transaction that holds the administrators lock, so that changes are serialized and each
   * one sees the remaining administrators.
   */
  changing<T>(work: (users: UsersInTransaction, tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await lockAdministrators(tx);
      return work(new UsersInTransaction(tx), tx);
    });
  }
}

/** Fields of a user that an administrator can change; undefined fields are left unchanged. */
export interface UserData {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly forcePasswordChange?: boolean | undefined;
}

/** Reads and changes users within a transaction. */
export class UsersInTransaction {
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  /** The user, locked until the transaction ends. */
  async find(id: string): Promise<AdminUser | null> {
    await lockUser(this.#tx, id);
    return this.#tx.user.findUnique({ where: { id }, include: userRelations });
  }

  isAdministrator(id: string): Promise<boolean> {
    return isAdministrator(this.#tx, id);
  }

  /** Whether another active administrator of the platform exists. */
  hasOtherAdministrator(id: string): Promise<boolean> {
    return hasOtherAdministrator(this.#tx, id);
  }

  change(id: string, change: UserData): Promise<AdminUser> {
    const { firstName, lastName, isActive, forcePasswordChange } = change;
    const data = {
      ...(firstName !== undefined && { firstName }),
      ...(lastName !== undefined && { lastName }),
      ...(isActive !== undefined && { isActive }),
      ...(forcePasswordChange !== undefined && { forcePasswordChange }),
    };
    return this.#tx.user.update({ where: { id }, data, include: userRelations });
  }

  /** The only place that grants or revokes system administrator rights. */
  setSystemAdmin(id: string, isSystemAdmin: boolean): Promise<AdminUser> {
    return this.#tx.user.update({ where: { id }, data: { isSystemAdmin }, include: userRelations });
  }
}
