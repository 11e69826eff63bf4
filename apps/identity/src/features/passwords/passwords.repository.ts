import type { Action } from '../../activity/actions.ts';
import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue, type NewEvent } from '../../outbox/outbox.ts';
import { RECOVERY_UNLOCKED } from '../../security/lockout.ts';
import { findOneTimeToken, spendOneTimeToken, voidOneTimeTokens } from '../../tokens/one-time.ts';
import { revokeOtherTokens, revokeUserTokens } from '../../tokens/revoke.ts';
import { lockAddress, lockUser } from '../../users/users.ts';
import type { DevicesService } from '../devices/devices.service.ts';
import type { AddressConfirmation } from '../registration/address-confirmation.ts';
import { passwordChanged } from '../sign-in/password-confirmation.ts';

/** A user who may have a password. */
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

/** A password reset token and its user. */
export interface PasswordReset {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
  readonly person: Person;
}

interface Dependencies {
  readonly database: Database;
  readonly mail: MailOutbox;
  readonly devices: Pick<DevicesService, 'endTrust'>;
  readonly addresses: AddressConfirmation;
  /** Number of passwords that cannot be reused, including the current one. */
  readonly history: number;
}

/**
 * The name in the salutation. Unconfirmed accounts get none: somebody else may have entered it (decision I21).
 */
export const nameFor = ({ emailVerifiedAt }: Person, firstName: string): string | null =>
  emailVerifiedAt === null ? null : firstName;

export class PasswordsRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  personById(id: string): Promise<Person> {
    return this.#use.database.user.findUniqueOrThrow({ where: { id } });
  }

  /** The reset that a token allows; null if the token is invalid, or was not sent to `expected`. */
  async findReset(token: string, expected?: string): Promise<PasswordReset | null> {
    const found = await findOneTimeToken(this.#use.database, 'password_reset', token);
    if (!found || found.usedAt !== null) return null;
    const { email } = found;
    if (expected !== undefined && email !== expected) return null;
    const person = await this.#use.database.user.findFirst({
      where: { id: found.userId ?? '', email, isActive: true, isServiceAccount: false },
    });
    return person && { tokenHash: found.tokenHash, person };
  }

  /** Hashes of earlier passwords that cannot be reused. */
  async previous({ id: userId }: Person): Promise<string[]> {
    const before = await this.#use.database.previousPassword.findMany({
      where: { userId },
      orderBy: { id: 'desc' },
      take: this.#use.history - 1,
    });
    return before.map(({ hash }) => hash);
  }

  /** Sets the new password; false if the token has been used meanwhile. */
  async reset({ tokenHash, person }: PasswordReset, hash: string, actor: Actor): Promise<boolean> {
    const userId = person.id;
    return this.#use.database.$transaction(async (tx) => {
      await lockAddress(tx, person.email ?? '');
      await lockUser(tx, userId);
      if (!(await spendOneTimeToken(tx, { tokenHash }))) return false;
      // The token proves access to the mailbox; somebody else may have registered the address.
      const isClaim = person.emailVerifiedAt === null;
      const events = isClaim ? await this.takeOver(tx, person, hash, actor) : [];
      if (!isClaim) {
        await this.replace(tx, person, hash);
        events.push(await revokeUserTokens(tx, { userId }, 'password_reset'));
      }
      await this.#recordChange(tx, person, actor, 'password_reset', events);
      return true;
    });
  }

  /**
   * Replaces the password and revokes all tokens except those of the caller's session. `notify`: see
   * `PasswordsService.change`.
   */
  async change(
    person: Person,
    hash: string,
    current: { readonly sessionId: string | null; readonly tokenId: string },
    actor: Actor,
    notify?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    await this.#use.database.$transaction(async (tx) => {
      await lockUser(tx, person.id);
      await this.replace(tx, person, hash);
      const ended = await revokeOtherTokens(
        tx,
        { userId: person.id, ...current },
        'password_changed',
      );
      await this.#recordChange(tx, person, actor, 'password_changed', ended, notify);
    });
  }

  /**
   * Replaces the password that was read and adds that to the history. Voids reset links, trust in devices and a
   * pending address change, which somebody else may have requested. 409 if the password has changed meanwhile.
   *
   * Also unlocks recovery codes: whoever locked them knew the old password, and they are too long to guess. One-time
   * passwords and the PIN stay locked, or each reset would allow further guesses.
   */
  async replace(tx: Transaction, person: Person, passwordHash: string): Promise<void> {
    const { id: userId, passwordHash: old } = person;
    const { count } = await tx.user.updateMany({
      where: { id: userId, passwordHash: old, isActive: true },
      data: { passwordHash, passwordChangedAt: new Date(), forcePasswordChange: false },
    });
    if (count === 0) throw passwordChanged();
    if (old) await this.#addToHistory(tx, userId, old);
    await voidOneTimeTokens(tx, 'password_reset', { userId });
    await voidOneTimeTokens(tx, 'email_change', { userId });
    await this.#use.devices.endTrust(tx, userId);
    await tx.twoFactor.updateMany({ where: { userId }, data: RECOVERY_UNLOCKED });
  }

  /**
   * See `PasswordsService.takeOver`. 409 if the address or password of the account has changed meanwhile or the
   * address is confirmed.
   */
  async takeOver(
    tx: Transaction,
    person: Person,
    hash: string,
    origin: Origin,
    options: { readonly withTenant?: boolean } = {},
  ): Promise<NewEvent[]> {
    const userId = person.id;
    await lockUser(tx, userId);
    const claim = { id: userId, email: person.email, emailVerifiedAt: null };
    if ((await tx.user.count({ where: claim })) === 0) throw passwordChanged();
    await this.replace(tx, person, hash);
    // The history must not contain the previous claimant's passwords either.
    await tx.previousPassword.deleteMany({ where: { userId } });
    await tx.twoFactor.deleteMany({ where: { userId } });
    await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.pin.deleteMany({ where: { userId } });
    const revocation = await revokeUserTokens(tx, { userId }, 'account_taken_over');
    await tx.device.deleteMany({ where: { userId } });
    await tx.consent.deleteMany({ where: { userId } });
    const { ipAddress, userAgent } = origin;
    const claimant = { id: userId, email: person.email ?? '' };
    const events = await this.#use.addresses.confirm(
      tx,
      claimant,
      { ipAddress, userAgent },
      options,
    );
    return [revocation, ...events];
  }

  async #addToHistory(tx: Transaction, userId: string, hash: string): Promise<void> {
    await tx.previousPassword.create({ data: { userId, hash } });
    const outdated = await tx.previousPassword.findMany({
      where: { userId },
      orderBy: { id: 'desc' },
      skip: this.#use.history - 1,
      select: { id: true },
    });
    await tx.previousPassword.deleteMany({ where: { id: { in: outdated.map(({ id }) => id) } } });
  }

  async #recordChange(
    tx: Transaction,
    person: Person,
    actor: Actor,
    action: Action,
    events: readonly NewEvent[],
    notify?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { email: to, firstName, locale } = person;
    await note(tx, actor, action);
    if (notify) await notify(tx);
    else if (to) {
      const data = { firstName: nameFor(person, firstName) };
      await this.#use.mail.enqueue(tx, { kind: 'password_changed', to, locale, data });
    }
    if (events.length > 0) await enqueue(tx, ...events);
  }
}
