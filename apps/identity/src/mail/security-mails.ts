import type { Transaction } from '../database.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Origin } from '../origin/origin.ts';
import { describeDevice } from '../origin/user-agent.ts';
import type { MailedFactor, Seen } from './mails.ts';
import type { MailOutbox } from './outbox.ts';

/** What has changed about the security of an account. */
export type SecurityNews =
  | { readonly kind: 'factor_added'; readonly factor: MailedFactor }
  | { readonly kind: 'factor_removed'; readonly factor: MailedFactor }
  | { readonly kind: 'recovery_code_used'; readonly left: number }
  | { readonly kind: 'pin_changed' }
  | { readonly kind: 'recovery_codes_replaced' }
  | { readonly kind: 'account_secured'; readonly by: 'password' | 'link' }
  | { readonly kind: 'tenant_left'; readonly tenant: string }
  | { readonly kind: 'data_exported' }
  | { readonly kind: 'account_deletion_requested'; readonly dueAt: Date };

/** Who is told. */
type Addressee = Pick<User, 'email' | 'firstName' | 'locale' | 'timezone'>;

/** From where, with what and when something was done: now. */
const seenFrom = ({ ipAddress, userAgent }: Origin, timeZone: string): Seen => {
  const { browser, os } = describeDevice(userAgent);
  return { device: { browser, os }, ipAddress, at: new Date(), timeZone };
};

/**
 * Tells people by mail what has changed about the security of their account. The mail leaves with the
 * transaction of the change.
 */
export class SecurityMails {
  readonly #mail: MailOutbox;

  constructor(mail: MailOutbox) {
    this.#mail = mail;
  }

  /** Tells the user, in their language; whoever has no address is told nothing. */
  async tell(tx: Transaction, userId: string, news: SecurityNews, origin: Origin): Promise<void> {
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    const { email: to, locale, firstName, timezone: timeZone } = user;
    if (to === null) return;
    const seen = seenFrom(origin, timeZone);
    const told = { firstName, ...seen };
    switch (news.kind) {
      case 'factor_added':
        return this.#mail.enqueue(tx, {
          kind: news.kind,
          to,
          locale,
          data: { ...told, factor: news.factor },
        });
      case 'factor_removed':
        return this.#mail.enqueue(tx, {
          kind: news.kind,
          to,
          locale,
          data: { firstName, factor: news.factor, seen },
        });
      case 'recovery_code_used':
        return this.#mail.enqueue(tx, {
          kind: news.kind,
          to,
          locale,
          data: { ...told, left: news.left },
        });
      case 'account_secured':
        return this.#mail.enqueue(tx, {
          kind: news.kind,
          to,
          locale,
          data: { ...told, by: news.by },
        });
      case 'tenant_left':
        return this.#mail.enqueue(tx, {
          kind: news.kind,
          to,
          locale,
          data: { ...told, tenant: news.tenant },
        });
      case 'account_deletion_requested':
        return this.#mail.enqueue(tx, {
          kind: news.kind,
          to,
          locale,
          data: { ...told, dueAt: news.dueAt },
        });
      case 'data_exported':
      case 'pin_changed':
      case 'recovery_codes_replaced':
        return this.#mail.enqueue(tx, { kind: news.kind, to, locale, data: told });
    }
  }

  /** Tells the user that an administrator took a factor from them. */
  async tellOfRemoval(tx: Transaction, userId: string, factor: MailedFactor): Promise<void> {
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    const { email: to, locale, firstName } = user;
    if (to === null) return;
    await this.#mail.enqueue(tx, {
      kind: 'factor_removed',
      to,
      locale,
      data: { firstName, factor, seen: null },
    });
  }

  /** Tells the owner, at the address that the account has, that another one was asked for. */
  async tellOfRequest(
    tx: Transaction,
    { email: to, firstName, locale, timezone: timeZone }: Addressee,
    newEmail: string,
    origin: Origin,
  ): Promise<void> {
    if (to === null) return;
    await this.#mail.enqueue(tx, {
      kind: 'email_change_requested',
      to,
      locale,
      data: { firstName, newEmail, ...seenFrom(origin, timeZone) },
    });
  }

  /** Tells the owner at the new address, and at the old one with the link that undoes the change. */
  async tellOfReplacement(
    tx: Transaction,
    { firstName, locale }: Pick<Addressee, 'firstName' | 'locale'>,
    { from, to: newEmail }: { readonly from: string; readonly to: string },
    undo: { readonly token: string; readonly lifetime: number },
  ): Promise<void> {
    await this.#mail.enqueue(tx, {
      kind: 'email_changed',
      to: newEmail,
      locale,
      data: { firstName, newEmail },
    });
    const { token, lifetime } = undo;
    await this.#mail.enqueue(tx, {
      kind: 'email_replaced',
      to: from,
      locale,
      data: { firstName, newEmail, token, lifetime },
    });
  }

  /** Tells the owner at the address that the account has again, and at the one that it had in between. */
  async tellOfUndo(
    tx: Transaction,
    { firstName, locale }: Pick<Addressee, 'firstName' | 'locale'>,
    { from, to: email }: { readonly from: string; readonly to: string },
  ): Promise<void> {
    for (const to of new Set([from, email])) {
      const data = { firstName, email };
      await this.#mail.enqueue(tx, { kind: 'email_restored', to, locale, data });
    }
  }

  /** Tells the owner of an account at the address that it had, and at the new one. */
  async tellOfAddress(
    tx: Transaction,
    user: { readonly firstName: string; readonly locale: string },
    { from, to: newEmail }: { readonly from: string; readonly to: string },
  ): Promise<void> {
    const { firstName, locale } = user;
    for (const to of [from, newEmail]) {
      const data = { firstName, newEmail };
      await this.#mail.enqueue(tx, { kind: 'email_changed', to, locale, data });
    }
  }
}
