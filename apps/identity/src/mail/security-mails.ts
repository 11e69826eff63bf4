import type { Transaction } from '../database.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Origin } from '../origin/origin.ts';
import { describeDevice } from '../origin/user-agent.ts';
import type { MailedFactor, Seen } from './mails.ts';
import type { MailOutbox } from './outbox.ts';

/** A security-relevant change of an account. */
export type SecurityNotice =
  | { readonly kind: 'factor_added'; readonly factor: MailedFactor }
  | { readonly kind: 'factor_removed'; readonly factor: MailedFactor }
  | { readonly kind: 'recovery_code_used'; readonly left: number }
  | { readonly kind: 'pin_changed' }
  | { readonly kind: 'recovery_codes_replaced' }
  | { readonly kind: 'account_secured'; readonly by: 'password' | 'link' }
  | { readonly kind: 'tenant_left'; readonly tenant: string }
  | { readonly kind: 'data_exported' }
  | { readonly kind: 'account_deletion_requested'; readonly dueAt: Date };

/** The recipient of a notification. */
type Addressee = Pick<User, 'email' | 'firstName' | 'locale' | 'timezone'>;

/** Device, address and time of the current action. */
const circumstances = ({ ipAddress, userAgent }: Origin, timeZone: string): Seen => {
  const { browser, os } = describeDevice(userAgent);
  return { device: { browser, os }, ipAddress, at: new Date(), timeZone };
};

/**
 * Notifies users by mail of security-relevant changes. The mail is enqueued in the transaction of the change.
 */
export class SecurityMails {
  readonly #mail: MailOutbox;

  constructor(mail: MailOutbox) {
    this.#mail = mail;
  }

  /** Notifies the user in their language; no effect without an email address. */
  async notify(
    tx: Transaction,
    userId: string,
    notice: SecurityNotice,
    origin: Origin,
  ): Promise<void> {
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    const { email: to, locale, firstName, timezone: timeZone } = user;
    if (to === null) return;
    const seen = circumstances(origin, timeZone);
    const common = { firstName, ...seen };
    switch (notice.kind) {
      case 'factor_added':
        return this.#mail.enqueue(tx, {
          kind: notice.kind,
          to,
          locale,
          data: { ...common, factor: notice.factor },
        });
      case 'factor_removed':
        return this.#mail.enqueue(tx, {
          kind: notice.kind,
          to,
          locale,
          data: { firstName, factor: notice.factor, seen },
        });
      case 'recovery_code_used':
        return this.#mail.enqueue(tx, {
          kind: notice.kind,
          to,
          locale,
          data: { ...common, left: notice.left },
        });
      case 'account_secured':
        return this.#mail.enqueue(tx, {
          kind: notice.kind,
          to,
          locale,
          data: { ...common, by: notice.by },
        });
      case 'tenant_left':
        return this.#mail.enqueue(tx, {
          kind: notice.kind,
          to,
          locale,
          data: { ...common, tenant: notice.tenant },
        });
      case 'account_deletion_requested':
        return this.#mail.enqueue(tx, {
          kind: notice.kind,
          to,
          locale,
          data: { ...common, dueAt: notice.dueAt },
        });
      case 'data_exported':
      case 'pin_changed':
      case 'recovery_codes_replaced':
        return this.#mail.enqueue(tx, { kind: notice.kind, to, locale, data: common });
    }
  }

  /** Notifies the user that an administrator removed a factor. */
  async notifyFactorRemoved(tx: Transaction, userId: string, factor: MailedFactor): Promise<void> {
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

  /** Notifies the user at the current address that a change was requested. */
  async notifyChangeRequested(
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
      data: { firstName, newEmail, ...circumstances(origin, timeZone) },
    });
  }

  /**
   * Notifies the user at the new address, and at the old one with a link that undoes the change.
   */
  async notifyAddressReplaced(
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

  /** Notifies the user at the restored address and at the replaced one. */
  async notifyAddressRestored(
    tx: Transaction,
    { firstName, locale }: Pick<Addressee, 'firstName' | 'locale'>,
    { from, to: email }: { readonly from: string; readonly to: string },
  ): Promise<void> {
    for (const to of new Set([from, email])) {
      const data = { firstName, email };
      await this.#mail.enqueue(tx, { kind: 'email_restored', to, locale, data });
    }
  }

  /** Notifies the user at the old and the new address. */
  async notifyAddressChanged(
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
