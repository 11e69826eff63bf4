import type { Channel } from '@tessera/contracts';
import type { Db } from '../../database.ts';
import type { MessagingAccount } from '../../generated/prisma/client.ts';

export type Account = MessagingAccount;

/** What is written of an account. */
export interface AccountColumns {
  readonly name: string;
  readonly settings: Record<string, string | number | boolean | null>;
  readonly isActive: boolean;
  readonly sealedCredentials: Uint8Array<ArrayBuffer> | null;
}

/** The accounts of one channel. */
export class AccountsRepository {
  readonly #db: Db;
  readonly #channel: Channel;

  constructor(db: Db, channel: Channel) {
    this.#db = db;
    this.#channel = channel;
  }

  /** All of them, by name: a tenant has a few. */
  list(tenantId: string): Promise<Account[]> {
    return this.#db.tables.messagingAccount.findMany({
      where: { tenantId, channel: this.#channel },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    });
  }

  count(tenantId: string): Promise<number> {
    return this.#db.tables.messagingAccount.count({
      where: { tenantId, channel: this.#channel },
    });
  }

  find(tenantId: string, id: string): Promise<Account | null> {
    return this.#db.tables.messagingAccount.findFirst({
      where: { tenantId, channel: this.#channel, id },
    });
  }

  insert(tenantId: string, id: string, columns: AccountColumns): Promise<Account> {
    return this.#db.tables.messagingAccount.create({
      data: { ...columns, id, tenantId, channel: this.#channel },
    });
  }

  /** Undefined where there is no such account. */
  async update(
    tenantId: string,
    id: string,
    columns: AccountColumns,
  ): Promise<Account | undefined> {
    const [row] = await this.#db.tables.messagingAccount.updateManyAndReturn({
      where: { tenantId, channel: this.#channel, id },
      data: columns,
    });
    return row;
  }

  /** Whether there was one. */
  async delete(tenantId: string, id: string): Promise<boolean> {
    const { count } = await this.#db.tables.messagingAccount.deleteMany({
      where: { tenantId, channel: this.#channel, id },
    });
    return count > 0;
  }
}
