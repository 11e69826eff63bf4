import type { Database, Transaction } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { lockUser } from '../../users/users.ts';
import { type AdminUser, wholeUser } from './admin-user.ts';
import {
  hasOtherAdministrator,
  isAdministrator,
  takeAdministratorsTurn,
} from './administrators.ts';

/** What is asked of the list of users. */
export interface UserQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly isActive: boolean | undefined;
  readonly isSystemAdmin: boolean | undefined;
  readonly isServiceAccount: boolean | undefined;
  /** Id of a tenant that they are members of. */
  readonly tenantId: string | undefined;
  readonly sort: {
    readonly by: 'name' | 'email' | 'created_at' | 'last_login_at';
    readonly order: 'asc' | 'desc';
  };
}

/** Every word of the search is somewhere in the name or the address, whatever its case and its accents. */
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

  /** One page, and the number of it: a page beyond the last one is the last one. */
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
        const users = await tx.user.findMany({ where: { id: { in: ids } }, include: wholeUser });
        const byId = new Map(users.map((user) => [user.id, user]));
        return ids.flatMap((id) => byId.get(id) ?? []);
      },
    });
    return { users: rows, ...at };
  }

  find(id: string): Promise<AdminUser | null> {
    return this.#database.user.findUnique({ where: { id }, include: wholeUser });
  }

  /** Runs a change of a user, one after the other: each sees which administrators are left. */
  changing<T>(work: (users: UsersInTransaction, tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await takeAdministratorsTurn(tx);
      return work(new UsersInTransaction(tx), tx);
    });
  }
}

/** What an administrator changes of a user; what is undefined stays as it is. */
export interface UserData {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly forcePasswordChange?: boolean | undefined;
}

/** Users, inside the transaction that changes one. */
export class UsersInTransaction {
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  /** The user as they are now, and stay until the transaction ends. */
  async find(id: string): Promise<AdminUser | null> {
    await lockUser(this.#tx, id);
    return this.#tx.user.findUnique({ where: { id }, include: wholeUser });
  }

  isAdministrator(id: string): Promise<boolean> {
    return isAdministrator(this.#tx, id);
  }

  /** Whether somebody else can still administer the platform. */
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
    return this.#tx.user.update({ where: { id }, data, include: wholeUser });
  }

  /** The only statement of the service that makes somebody an administrator. */
  setSystemAdmin(id: string, isSystemAdmin: boolean): Promise<AdminUser> {
    return this.#tx.user.update({ where: { id }, data: { isSystemAdmin }, include: wholeUser });
  }
}
