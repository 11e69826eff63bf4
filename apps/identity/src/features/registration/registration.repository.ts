import { HttpError, unauthenticated } from '@tessera/http-kit';
import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue, type NewEvent } from '../../outbox/outbox.ts';
import { digest } from '../../security/secrets.ts';
import { deleteOneTimeTokens, issueOneTimeToken } from '../../tokens/one-time.ts';
import { removeUsers } from '../../users/user-removal.ts';
import { findClaimant, findHolder, lockAddress, lockUser } from '../../users/users.ts';
import { limitClaims } from './claims.ts';

export interface NewPerson {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly passwordHash: string;
  readonly locale: string;
}

/** A registration to store. */
export interface NewRegistration {
  readonly person: NewPerson;
  readonly tenantName: string;
  /** Value of the confirmation cookie. */
  readonly secret: string;
}

/** A user whose address is not confirmed yet. */
export interface Claimant {
  readonly id: string;
  readonly email: string;
  readonly locale: string;
}

/** What is known about the person who requests another link. */
export interface LinkRequester {
  /** Value of the confirmation cookie. */
  readonly secret: string | null;
  /** Id of the signed-in user, if any. */
  readonly userId: string | null;
}

interface Dependencies {
  readonly database: Database;
  readonly mail: MailOutbox;
  /** Lifetime of the confirmation link in seconds. */
  readonly verificationLifetime: number;
  /** Seconds after which an unconfirmed account is deleted. */
  readonly registrationLifetime: number;
}

const unconfirmed = { isServiceAccount: false, emailVerifiedAt: null } as const;

export class RegistrationRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Creates an unconfirmed account. A few may exist with the same address (`limitClaims`); an earlier one of the
   * same browser is replaced.
   */
  async register(
    { person, tenantName, secret }: NewRegistration,
    origin: Origin,
  ): Promise<Claimant> {
    const { email, locale } = person;
    const cookieHash = digest(secret);
    const expiresAt = new Date(Date.now() + this.#use.registrationLifetime * 1000);
    return this.#use.database.$transaction(async (tx) => {
      await lockAddress(tx, email);
      const earlier = await tx.user.findMany({
        where: { ...unconfirmed, email, memberships: { none: {} }, registration: { cookieHash } },
        select: { id: true },
      });
      const removals = await removeUsers(
        tx,
        earlier.map((user) => user.id),
      );
      const { id } = await tx.user.create({
        data: {
          email,
          locale,
          firstName: person.firstName,
          lastName: person.lastName,
          passwordHash: person.passwordHash,
          passwordChangedAt: new Date(),
          registration: { create: { cookieHash, tenantName, expiresAt } },
        },
      });
      await note(tx, { userId: id, tenantId: null, ...origin }, 'registered');
      await this.#limitClaims(tx, { id, email }, removals);
      return { id, email, locale };
    });
  }

  /**
   * The unconfirmed account to send a link to: the caller's, else the browser's, else that of `findClaimant`.
   */
  async claimant(email: string, { secret, userId }: LinkRequester): Promise<Claimant | null> {
    const { database } = this.#use;
    const where = { isActive: true };
    const byPreference = [
      ...(userId === null ? [] : [{ id: userId }]),
      ...(secret === null ? [] : [{ registration: { cookieHash: digest(secret) } }]),
      {},
    ];
    for (const each of byPreference) {
      const found = await findClaimant(database, email, { ...where, ...each });
      if (found) return { id: found.id, email, locale: found.locale };
    }
    return null;
  }

  /**
   * Enqueues the mail with the confirmation link. If another account has confirmed the address, its holder is notified
   * instead. The link is issued nevertheless, although nobody gets it: claims with a link are kept before others
   * (`limitClaims`), which must not show whether there is such an account.
   */
  async sendLink({ id: userId, email, locale }: Claimant): Promise<void> {
    const { database, mail, verificationLifetime: lifetime } = this.#use;
    const purpose = 'email_verification';
    await database.$transaction(async (tx) => {
      // A change of the address deletes its links; none may be added after that.
      await lockUser(tx, userId);
      const user = await tx.user.findFirst({ where: { ...unconfirmed, id: userId, email } });
      if (!user) return;
      const token = await issueOneTimeToken(tx, { purpose, userId, email, lifetime });
      const holder = await findHolder(tx, email);
      if (!holder) {
        await mail.enqueue(tx, { kind: purpose, to: email, locale, data: { token, lifetime } });
      } else if (holder.isActive) {
        const data = { firstName: holder.firstName };
        await mail.enqueue(tx, { kind: 'address_taken', to: email, locale: holder.locale, data });
      }
    });
  }

  /** Changes the address of an unconfirmed account. 409 if the address is already confirmed. */
  async changeAddress(actor: Actor, email: string): Promise<Claimant> {
    const { userId } = actor;
    return this.#use.database.$transaction(async (tx) => {
      await lockAddress(tx, email);
      await lockUser(tx, userId);
      const user = await tx.user.findUnique({ where: { id: userId } });
      // The account was deleted after the token was checked.
      if (!user) throw unauthenticated();
      const { locale } = user;
      if (user.emailVerifiedAt !== null) {
        throw new HttpError(409, 'conflict', 'The email address is already confirmed.');
      }
      await tx.user.update({ where: { id: userId }, data: { email } });
      // They prove nothing about the new address, and would show whether the old one has an account, which gets the
      // reset links.
      await deleteOneTimeTokens(tx, userId, ['email_verification', 'password_reset']);
      await note(tx, actor, 'address_changed');
      await this.#limitClaims(tx, { id: userId, email });
      return { id: userId, email, locale };
    });
  }

  /** Publishes the given events as well. */
  async #limitClaims(
    tx: Transaction,
    claimant: Pick<Claimant, 'id' | 'email'>,
    given: readonly NewEvent[] = [],
  ): Promise<void> {
    const events = [...given, ...(await limitClaims(tx, claimant))];
    if (events.length > 0) await enqueue(tx, ...events);
  }
}
