import type { Database, Transaction } from '../../database.ts';
import type { Registration, User } from '../../generated/prisma/client.ts';
import { enqueue, type NewEvent } from '../../outbox/outbox.ts';
import { hasDigest } from '../../security/secrets.ts';
import { findOneTimeToken, spendOneTimeToken } from '../../tokens/one-time.ts';
import { lockAddress, lockUser } from '../../users/users.ts';

/** An account and the link that confirms its address. */
export interface PendingConfirmation {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
  readonly email: string;
  readonly person: User;
  /** Null if the user did not register themselves. */
  readonly registration: Registration | null;
}

/** AccountDetails entered by the person who opens the link; they replace the registered ones. */
export interface AccountDetails {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly tenantName?: string | undefined;
}

export class ConfirmationRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The account that a link belongs to; null if the link is unknown, expired, or used without having confirmed
   * anything.
   */
  find(token: string): Promise<PendingConfirmation | null> {
    // From one snapshot: a confirmation between two reads would show an unconfirmed account without its registration.
    return this.#database.$transaction(
      async (tx) => {
        const found = await findOneTimeToken(tx, 'email_verification', token);
        if (!found?.userId) return null;
        const { tokenHash, userId, email } = found;
        const person = await tx.user.findFirst({
          where: { id: userId, email, isActive: true },
          include: { registration: true },
        });
        if (!person || (found.usedAt !== null && person.emailVerifiedAt === null)) return null;
        return { tokenHash, email, person, registration: person.registration };
      },
      { isolationLevel: 'RepeatableRead' },
    );
  }

  /** Whether this is the cookie value of the browser that registered. */
  isCookieOf({ registration }: PendingConfirmation, secret: string): boolean {
    return registration !== null && hasDigest(secret, registration.cookieHash);
  }

  /**
   * Marks the link as used, runs `work` and publishes its events; false if the link has been used meanwhile.
   */
  use(
    { tokenHash, email, person }: PendingConfirmation,
    work: (tx: Transaction) => Promise<readonly NewEvent[]>,
  ): Promise<boolean> {
    return this.#database.$transaction(async (tx) => {
      await lockAddress(tx, email);
      await lockUser(tx, person.id);
      const where = { id: person.id, email, emailVerifiedAt: null, isActive: true };
      if ((await tx.user.count({ where })) === 0) return false;
      if (!(await spendOneTimeToken(tx, { tokenHash }))) return false;
      const events = await work(tx);
      if (events.length > 0) await enqueue(tx, ...events);
      return true;
    });
  }

  async changeDetails(tx: Transaction, userId: string, details: AccountDetails): Promise<void> {
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
