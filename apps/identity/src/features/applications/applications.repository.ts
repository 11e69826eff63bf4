import { type Actor, note } from '../../activity.ts';
import type { Database } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { revokeClientTokens } from '../../tokens/revoke.ts';
import { lockUser } from '../../users.ts';

/** A client that a user allowed to act for them. */
export interface Application {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly client: { readonly name: string };
  /** Where it may act; null where the user had no tenant. */
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string } | null;
}

export class ApplicationsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Those that a user allowed, by name; at most `limit`. */
  list(userId: string, limit: number): Promise<Application[]> {
    return this.#database.consent.findMany({
      where: { userId },
      include: { client: true, tenant: true },
      orderBy: [{ client: { name: 'asc' } }, { clientId: 'asc' }],
      take: limit,
    });
  }

  /**
   * Withdraws what a user allowed a client and ends all that it holds for them. False where they allowed it
   * nothing.
   */
  withdraw(actor: Actor, clientId: string): Promise<boolean> {
    const { userId } = actor;
    return this.#database.$transaction(async (tx) => {
      // Whoever exchanges a code or a refresh token of the user holds this lock too, and finds no consent.
      await lockUser(tx, userId);
      const { count } = await tx.consent.deleteMany({ where: { userId, clientId } });
      if (count === 0) return false;
      const news = await revokeClientTokens(tx, { userId, clientId }, 'consent_withdrawn');
      await note(tx, actor, 'application_withdrawn');
      if (news.length > 0) await enqueue(tx, ...news);
      return true;
    });
  }
}
