import { HttpError } from '@tessera/http-kit';
import type { Action } from '../../activity/actions.ts';
import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue, type News } from '../../outbox/outbox.ts';
import {
  findOneTimeToken,
  issueOneTimeToken,
  spendOneTimeToken,
  voidOneTimeTokens,
} from '../../tokens/one-time.ts';
import { revokeOtherTokens, revokeUserTokens } from '../../tokens/revoke.ts';
import { findPerson, lockAddress, lockUser } from '../../users/users.ts';
import type { DevicesService } from '../devices/devices.service.ts';
import type { AddressConfirmation } from '../registration/address-confirmation.ts';

/** Somebody who has a password, or could have one. */
export type Person = Pick<
  User,
  | 'id'
  | 'email'
  | 'firstName'
  | 'lastName'
  | 'locale'
  | 'tenantId'
  | 'passwordHash'
  | 'emailVerifiedAt'
>;

/** A token of the mail, and whose password it replaces. */
export interface Reset {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
  readonly person: Person;
}

interface Dependencies {
  readonly database: Database;
  readonly mail: MailOutbox;
  readonly devices: Pick<DevicesService, 'endTrust'>;
  readonly addresses: AddressConfirmation;
  /** How many passwords are remembered, the current one included. */
  readonly history: number;
}

/** How a mail addresses somebody: what was written by who may be another is sent to nobody (decision I21). */
const nameFor = ({ emailVerifiedAt }: Person, firstName: string): string | null =>
  emailVerifiedAt === null ? null : firstName;

const conflict = (): HttpError =>
  new HttpError(409, 'conflict', 'The password was changed at the same time. Try again.');

export class PasswordsRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Who has this address and may sign in; null where nobody does. */
  async person(email: string): Promise<Person | null> {
    const found = await findPerson(this.#use.database, email);
    return found?.isActive ? found : null;
  }

  personById(id: string): Promise<Person> {
    return this.#use.database.user.findUniqueOrThrow({ where: { id } });
  }

  /** Writes the mail with the link. */
  async sendReset(person: Person, actor: Actor, lifetime: number): Promise<void> {
    const { id: userId, email: to, firstName, locale } = person;
    if (to === null) return;
    await this.#use.database.$transaction(async (tx) => {
      const purpose = 'password_reset';
      const token = await issueOneTimeToken(tx, { purpose, userId, email: to, lifetime });
      const data = { firstName: nameFor(person, firstName), token, lifetime };
      await this.#use.mail.enqueue(tx, { kind: 'password_reset', to, locale, data });
      await note(tx, actor, 'password_reset_requested');
    });
  }

  /** What a token of a mail is good for; null where it is not, or not for this address. */
  async findReset(token: string, email: string): Promise<Reset | null> {
    const found = await findOneTimeToken(this.#use.database, 'password_reset', token);
    if (!found || found.usedAt !== null || found.email !== email) return null;
    const person = await this.#use.database.user.findFirst({
      where: { id: found.userId ?? '', email, isActive: true, isServiceAccount: false },
    });
    return person && { tokenHash: found.tokenHash, person };
  }

  /** The hashes of the passwords before the current one that may not come back. */
  async previous({ id: userId }: Person): Promise<string[]> {
    const before = await this.#use.database.previousPassword.findMany({
      where: { userId },
      orderBy: { id: 'desc' },
      take: this.#use.history - 1,
    });
    return before.map(({ hash }) => hash);
  }

  /** Replaces the password by that of a mail; false where the token was used in the meantime. */
  async reset({ tokenHash, person }: Reset, hash: string, actor: Actor): Promise<boolean> {
    const userId = person.id;
    return this.#use.database.$transaction(async (tx) => {
      await lockAddress(tx, person.email ?? '');
      await lockUser(tx, userId);
      if (!(await spendOneTimeToken(tx, { tokenHash }))) return false;
      // Whoever has the token reads the mails of the address; who registered with it may be another.
      const isClaim = person.emailVerifiedAt === null;
      const news = isClaim ? await this.takeOver(tx, person, hash, actor) : [];
      if (!isClaim) {
        await this.replace(tx, person, hash);
        news.push(await revokeUserTokens(tx, { userId }, 'password_reset'));
      }
      await this.#conclude(tx, person, actor, 'password_reset', news);
      return true;
    });
  }

  /** Replaces the password; only the session of the caller's token goes on. `tell`: see `PasswordsService.change`. */
  async change(
    person: Person,
    hash: string,
    kept: { readonly sessionId: string | null; readonly tokenId: string },
    actor: Actor,
    tell?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    await this.#use.database.$transaction(async (tx) => {
      await lockUser(tx, person.id);
      await this.replace(tx, person, hash);
      const ended = await revokeOtherTokens(tx, { userId: person.id, ...kept }, 'password_changed');
      await this.#conclude(tx, person, actor, 'password_changed', ended, tell);
    });
  }

  /**
   * Puts a password in the place of the one that was read, which is remembered. Ends what was good
   * because of the old one: links to reset it, the trust in devices, and a change of the address that waits,
   * which somebody else may have asked for. 409 where it was another.
   */
  async replace(tx: Transaction, person: Person, passwordHash: string): Promise<void> {
    const { id: userId, passwordHash: old } = person;
    const { count } = await tx.user.updateMany({
      where: { id: userId, passwordHash: old, isActive: true },
      data: { passwordHash, passwordChangedAt: new Date(), forcePasswordChange: false },
    });
    if (count === 0) throw conflict();
    if (old) await this.#remember(tx, userId, old);
    await voidOneTimeTokens(tx, 'password_reset', { userId });
    await voidOneTimeTokens(tx, 'email_change', { userId });
    await this.#use.devices.endTrust(tx, userId);
  }

  /**
   * The caller holds the address (`lockAddress`). 409 where the account is no longer the one that was read: its
   * address, or its password, is another one, or the address is confirmed.
   */
  async takeOver(
    tx: Transaction,
    person: Person,
    hash: string,
    origin: Origin,
    options: { readonly withTenant?: boolean } = {},
  ): Promise<News[]> {
    const userId = person.id;
    await lockUser(tx, userId);
    const claim = { id: userId, email: person.email, emailVerifiedAt: null };
    if ((await tx.user.count({ where: claim })) === 0) throw conflict();
    await this.replace(tx, person, hash);
    // Not even the password of who was there before is remembered.
    await tx.previousPassword.deleteMany({ where: { userId } });
    await tx.twoFactor.deleteMany({ where: { userId } });
    await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.pin.deleteMany({ where: { userId } });
    const gone = await revokeUserTokens(tx, { userId }, 'account_taken_over');
    await tx.device.deleteMany({ where: { userId } });
    await tx.consent.deleteMany({ where: { userId } });
    const { ipAddress, userAgent } = origin;
    const claimant = { id: userId, email: person.email ?? '' };
    const news = await this.#use.addresses.confirm(tx, claimant, { ipAddress, userAgent }, options);
    return [gone, ...news];
  }

  async #remember(tx: Transaction, userId: string, hash: string): Promise<void> {
    await tx.previousPassword.create({ data: { userId, hash } });
    const forgotten = await tx.previousPassword.findMany({
      where: { userId },
      orderBy: { id: 'desc' },
      skip: this.#use.history - 1,
      select: { id: true },
    });
    await tx.previousPassword.deleteMany({ where: { id: { in: forgotten.map(({ id }) => id) } } });
  }

  async #conclude(
    tx: Transaction,
    person: Person,
    actor: Actor,
    action: Action,
    news: readonly News[],
    tell?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { email: to, firstName, locale } = person;
    await note(tx, actor, action);
    if (tell) await tell(tx);
    else if (to) {
      const data = { firstName: nameFor(person, firstName) };
      await this.#use.mail.enqueue(tx, { kind: 'password_changed', to, locale, data });
    }
    if (news.length > 0) await enqueue(tx, ...news);
  }
}
