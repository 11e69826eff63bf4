import { note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { Origin } from '../../origin/origin.ts';
import { issueOneTimeToken } from '../../tokens/one-time.ts';
import { findClaimant, findPerson, lockUsers } from '../../users/users.ts';
import { nameFor } from './passwords.repository.ts';

interface Dependencies {
  readonly database: Database;
  readonly mail: MailOutbox;
  /** Lifetime of the reset link in seconds. */
  readonly lifetime: number;
}

/** Requests for links that reset a password. Anybody can make them for any address. */
export class ResetRequests {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Whether an account has the address, confirmed or not. */
  async concern(email: string): Promise<boolean> {
    return (await findPerson(this.#use.database, email)) !== null;
  }

  /**
   * Mails a reset link to the person with the address if their account is active. A link of the unconfirmed account is
   * also issued if another account has confirmed the address, but then nobody gets it: claims with a link are kept
   * before others (`limitClaims`), which must not show whether there is such an account.
   */
  async send(email: string, origin: Origin): Promise<void> {
    const { database, lifetime } = this.#use;
    await database.$transaction(async (tx) => {
      const person = await findPerson(tx, email);
      const claimant = await findClaimant(tx, email, { isActive: true });
      const ids = [person, claimant].flatMap((user) => (user ? [user.id] : []));
      // A change of the address invalidates its links; none may be added after that.
      await lockUsers(tx, ids);
      const users = await tx.user.findMany({ where: { id: { in: ids }, email, isActive: true } });
      for (const user of users) {
        const grant = { purpose: 'password_reset', userId: user.id, email, lifetime } as const;
        const token = await issueOneTimeToken(tx, grant);
        if (user.id === person?.id) await this.#mail(tx, user, token, origin);
      }
    });
  }

  async #mail(tx: Transaction, user: User, token: string, origin: Origin): Promise<void> {
    const { mail, lifetime } = this.#use;
    const { id: userId, tenantId, email: to, firstName, locale } = user;
    if (to === null) return;
    const data = { firstName: nameFor(user, firstName), token, lifetime };
    await mail.enqueue(tx, { kind: 'password_reset', to, locale, data });
    // The log of an unconfirmed account must not show whether another one has confirmed the address.
    if (user.emailVerifiedAt === null) return;
    await note(tx, { userId, tenantId, ...origin }, 'password_reset_requested');
  }
}
