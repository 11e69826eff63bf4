import type { Channel } from '@tessera/contracts';
import type { Db } from '../../database.ts';
import { type MessagingAccount, Prisma } from '../../generated/prisma/client.ts';

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

  find(tenantId: string, id: string): Promise<Account | null> {
    return this.#db.tables.messagingAccount.findFirst({
      where: { tenantId, channel: this.#channel, id },
    });
  }

  /** Undefined where the tenant has `most` already. */
  insert(
    tenantId: string,
    id: string,
    columns: AccountColumns,
    most: number,
  ): Promise<Account | undefined> {
    const channel = this.#channel;
    return this.#db.transaction(async (db) => {
      // One at a time per tenant and channel: two that count at once would both find room.
      const counted = `messaging_accounts ${tenantId} ${channel}`;
      await db.read(
        Prisma.sql`SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtextextended(${counted}, 0))`,
      );
      const count = await db.tables.messagingAccount.count({ where: { tenantId, channel } });
      if (count >= most) return undefined;
      return db.tables.messagingAccount.create({ data: { ...columns, id, tenantId, channel } });
    });
  }

  /** Writes these columns and no others; undefined where there is no such account in this version. */
  async update(
    tenantId: string,
    id: string,
    version: number,
    columns: Partial<AccountColumns>,
  ): Promise<Account | undefined> {
    const [row] = await this.#db.tables.messagingAccount.updateManyAndReturn({
      where: { tenantId, channel: this.#channel, id, version },
      data: { ...columns, version: { increment: 1 } },
    });
    return row;
  }

  /** Whether there was one, in one of the versions if they are given. */
  async delete(tenantId: string, id: string, versions?: readonly number[]): Promise<boolean> {
    const { count } = await this.#db.tables.messagingAccount.deleteMany({
      where: {
        tenantId,
        channel: this.#channel,
        id,
        ...(versions && { version: { in: [...versions] } }),
      },
    });
    return count > 0;
  }
}
