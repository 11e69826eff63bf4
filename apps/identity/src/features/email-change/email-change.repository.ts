import { HttpError } from '@tessera/http-kit';
import { actorOf, note } from '../../activity/activity.ts';
import { changesBetween } from '../../activity/changes.ts';
import type { Database, Transaction } from '../../database.ts';
import type { OneTimeToken, User } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import {
  findOneTimeToken,
  issueOneTimeToken,
  type Purpose,
  spendOneTimeToken,
  voidOneTimeTokens,
} from '../../tokens/one-time.ts';
import { whileSignedIn } from '../../tokens/origin.ts';
import { findHolder, lockAddress, lockUser } from '../../users/users.ts';
import type { Recovery } from './account-recovery.ts';
import { setAddress } from './address-change.ts';

/** A change that is not confirmed yet. */
export interface PendingChange {
  readonly email: string;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
}

/** A mailed link and the user whose address it changes. */
export interface MailedLink {
  readonly token: Pick<OneTimeToken, 'tokenHash' | 'createdAt' | 'usedAt'>;
  /** The address it was sent to. */
  readonly email: string;
  readonly user: User;
}

/** The confirmation mail of a change. */
export interface ConfirmationMail {
  readonly email: string;
  readonly token: string;
  readonly locale: string;
}

interface Dependencies {
  readonly database: Database;
  readonly mail: MailOutbox;
  readonly securityMails: SecurityMails;
  /** Lifetime of the confirmation link in seconds. */
  readonly lifetime: number;
  /** Lifetime of the undo link in seconds. */
  readonly undoLifetime: number;
}

const changeable = { isActive: true, isServiceAccount: false, emailVerifiedAt: { not: null } };

export class EmailChangeRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** The pending change; null if there is none. */
  async pending(userId: string): Promise<PendingChange | null> {
    const found = await this.#pending(this.#use.database, userId);
    if (!found) return null;
    const { email, createdAt: requestedAt, expiresAt } = found;
    return { email, requestedAt, expiresAt };
  }

  /**
   * Records a requested change, replacing a pending one, and notifies the user at the current address. As the other
   * changes of the caller, 401 if they have been signed out meanwhile.
   */
  request(caller: UserCaller, origin: Origin, email: string): Promise<ConfirmationMail> {
    const actor = actorOf(caller, origin);
    const { userId } = actor;
    const { database, securityMails } = this.#use;
    return whileSignedIn(database, caller, async (tx) => {
      const user = await this.#owner(tx, userId);
      const before = await this.#pending(tx, userId);
      const token = await this.#issue(tx, userId, email, before);
      if (before?.email !== email) {
        await note(tx, actor, 'email_change_requested');
        await securityMails.notifyChangeRequested(tx, user, email, actor);
      }
      return { email, token, locale: user.locale };
    });
  }

  /** A new link for the pending change; null if there is none. */
  renew(caller: UserCaller): Promise<ConfirmationMail | null> {
    const { id: userId } = caller;
    return whileSignedIn(this.#use.database, caller, async (tx) => {
      const { locale } = await this.#owner(tx, userId);
      const before = await this.#pending(tx, userId);
      if (!before) return null;
      const { email } = before;
      return { email, token: await this.#issue(tx, userId, email, before), locale };
    });
  }

  /** Cancels the pending change; no effect if there is none. */
  async cancel(caller: UserCaller, origin: Origin): Promise<void> {
    const actor = actorOf(caller, origin);
    const { userId } = actor;
    await whileSignedIn(this.#use.database, caller, async (tx) => {
      if (!(await this.#pending(tx, userId))) return;
      await voidOneTimeTokens(tx, 'email_change', { userId });
      await note(tx, actor, 'email_change_canceled');
    });
  }

  /** The user who has confirmed this address, active or not. */
  holder(email: string): Promise<User | null> {
    return findHolder(this.#use.database, email);
  }

  /** Enqueues the mail with the confirmation link. */
  async sendLink({ email: to, token, locale }: ConfirmationMail): Promise<void> {
    const { database, mail, lifetime } = this.#use;
    const data = { token, lifetime };
    await database.$transaction((tx) =>
      mail.enqueue(tx, { kind: 'email_change', to, locale, data }),
    );
  }

  async notifyHolder({ email: to, firstName, locale }: User): Promise<void> {
    if (to === null) return;
    const { database, mail } = this.#use;
    const data = { firstName };
    await database.$transaction((tx) =>
      mail.enqueue(tx, { kind: 'email_change_taken', to, locale, data }),
    );
  }

  /** The link of a token, used or not; null if unknown or expired. */
  async find(
    purpose: Extract<Purpose, 'email_change' | 'email_change_undo'>,
    token: string,
  ): Promise<MailedLink | null> {
    const { database } = this.#use;
    const found = await findOneTimeToken(database, purpose, token);
    if (!found?.userId) return null;
    const user = await database.user.findFirst({ where: { ...changeable, id: found.userId } });
    return user && { token: found, email: found.email, user };
  }

  /** Changes the address; false if the link has been used or revoked meanwhile. */
  confirm({ token, email, user: { id: userId } }: MailedLink, origin: Origin): Promise<boolean> {
    const { database, securityMails, undoLifetime: lifetime } = this.#use;
    return database.$transaction(async (tx) => {
      const user = await this.#lockForChange(tx, userId, email);
      if (!user?.email || !(await spendOneTimeToken(tx, token))) return false;
      const { email: from, tenantId } = user;
      const events = await setAddress(tx, user, email);
      const undo = await issueOneTimeToken(tx, {
        purpose: 'email_change_undo',
        userId,
        email: from,
        lifetime,
        // Undoing removes what was set up since the request: who requested it may have prepared for that.
        createdAt: token.createdAt,
      });
      const changes = changesBetween({ email: from }, { email });
      await note(tx, { userId, tenantId, ...origin }, 'email_changed', { changes });
      await securityMails.notifyAddressReplaced(
        tx,
        user,
        { from, to: email },
        { token: undo, lifetime },
      );
      await enqueue(tx, ...events);
      return true;
    });
  }

  /**
   * Restores the address the link was sent to and revokes undo links to later addresses. `recover` runs in the
   * same transaction. Returns the token of a password reset; undefined if the link has been used or revoked
   * meanwhile.
   */
  undo(
    { token, email, user: { id: userId } }: MailedLink,
    origin: Origin,
    recover: (tx: Transaction, user: User) => Promise<Recovery>,
  ): Promise<string | undefined> {
    const { database, securityMails } = this.#use;
    return database.$transaction(async (tx) => {
      const user = await this.#lockForChange(tx, userId, email);
      if (!user?.email || !(await spendOneTimeToken(tx, token))) return undefined;
      await tx.oneTimeToken.updateMany({
        where: {
          userId,
          purpose: 'email_change_undo',
          usedAt: null,
          createdAt: { gte: token.createdAt },
        },
        data: { usedAt: new Date() },
      });
      const events = await setAddress(tx, user, email);
      const { resetToken, revocation } = await recover(tx, user);
      const { tenantId } = user;
      const changes = changesBetween({ email: user.email }, { email });
      await note(tx, { userId, tenantId, ...origin }, 'email_restored', { changes });
      await securityMails.notifyAddressRestored(tx, user, { from: user.email, to: email });
      await enqueue(tx, revocation, ...events);
      return resetToken;
    });
  }

  /** Locks the address and the user. Null if the user may not change the address. */
  async #lockForChange(tx: Transaction, userId: string, email: string): Promise<User | null> {
    await lockAddress(tx, email);
    await lockUser(tx, userId);
    return tx.user.findFirst({ where: { ...changeable, id: userId } });
  }

  /** 409 for an address that is not confirmed yet, which is changed in another way. */
  async #owner(tx: Transaction, userId: string): Promise<User> {
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    if (user.emailVerifiedAt !== null) return user;
    throw new HttpError(409, 'conflict', 'The email address is not confirmed yet.');
  }

  #pending(tx: Pick<Transaction, 'oneTimeToken'>, userId: string): Promise<OneTimeToken | null> {
    return tx.oneTimeToken.findFirst({
      where: { userId, purpose: 'email_change', usedAt: null, expiresAt: { gt: new Date() } },
      orderBy: { expiresAt: 'desc' },
    });
  }

  /**
   * Issues a link, which counts as requested when that of a pending change was, and replaces links to another
   * address. An earlier link to the same address stays valid until the change: the limit of mails to the address
   * may prevent that this one is sent.
   */
  async #issue(
    tx: Transaction,
    userId: string,
    email: string,
    before: OneTimeToken | null,
  ): Promise<string> {
    const { lifetime } = this.#use;
    if (before?.email !== email) await voidOneTimeTokens(tx, 'email_change', { userId });
    const purpose = 'email_change';
    const createdAt = before?.createdAt;
    return issueOneTimeToken(tx, { purpose, userId, email, lifetime, createdAt });
  }
}
