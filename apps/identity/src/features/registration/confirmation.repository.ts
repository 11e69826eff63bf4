import type { Database, Transaction } from '../../database.ts';
import type { Registration, User } from '../../generated/prisma/client.ts';
import { enqueue, type News } from '../../outbox/outbox.ts';
import { digest } from '../../security/secrets.ts';
import { findOneTimeToken, spendOneTimeToken } from '../../tokens/one-time.ts';
import { lockAddress, lockUser } from '../../users/users.ts';

/** An account whose address a link is about. */
export interface Pending {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
  readonly email: string;
  readonly person: User;
  /** Null where they did not register themselves. */
  readonly registration: Registration | null;
}

/** What whoever opens the link says of themselves, in the place of what was registered. */
export interface Details {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly tenantName?: string | undefined;
}

export class ConfirmationRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** What a link is about; null where it is unknown, has expired, or was used without confirming anything. */
  async find(token: string): Promise<Pending | null> {
    const found = await findOneTimeToken(this.#database, 'email_verification', token);
    if (!found?.userId) return null;
    const { tokenHash, userId, email } = found;
    const person = await this.#database.user.findFirst({
      where: { id: userId, email, isActive: true },
      include: { registration: true },
    });
    if (!person || (found.usedAt !== null && person.emailVerifiedAt === null)) return null;
    return { tokenHash, email, person, registration: person.registration };
  }

  /** Whether this is the value of the cookie of the browser that registered. */
  isCookieOf({ registration }: Pending, secret: string): boolean {
    return registration !== null && digest(secret).equals(Buffer.from(registration.cookieHash));
  }

  /** Uses the link up and does the work, which publishes what it gives; false where somebody was faster. */
  use(
    { tokenHash, email, person }: Pending,
    work: (tx: Transaction) => Promise<readonly News[]>,
  ): Promise<boolean> {
    return this.#database.$transaction(async (tx) => {
      await lockAddress(tx, email);
      await lockUser(tx, person.id);
      const where = { id: person.id, email, emailVerifiedAt: null, isActive: true };
      if ((await tx.user.count({ where })) === 0) return false;
      if (!(await spendOneTimeToken(tx, { tokenHash }))) return false;
      const news = await work(tx);
      if (news.length > 0) await enqueue(tx, ...news);
      return true;
    });
  }

  async changeDetails(tx: Transaction, userId: string, details: Details): Promise<void> {
    const { firstName, lastName, tenantName } = details;
    await tx.user.update({
      where: { id: userId },
      data: {
        ...(firstName !== undefined && { firstName }),
        ...(lastName !== undefined && { lastName }),
      },
    });
    if (tenantName === undefined) return;
    await tx.registration.updateMany({ where: { userId }, data: { tenantName } });
  }
}
