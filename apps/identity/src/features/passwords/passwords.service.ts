import type { BackgroundTasks } from '@tessera/background-work';
import type { FieldErrors } from '@tessera/fields';
import { type Attempts, HttpError, validationFailed } from '@tessera/http-kit';
import { type Actor, actorOf } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import { type HashingFor, signedIn, visitorOf } from '../../passwords/hashing-for.ts';
import { normalisedPassword } from '../../passwords/password-rules.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users/users.ts';
import type { PasswordConfirmation } from '../sign-in/password-confirmation.ts';
import type { PasswordsRepository, Person } from './passwords.repository.ts';
import type { ResetRequests } from './reset-requests.ts';

export type { Person };

interface Dependencies {
  readonly repository: PasswordsRepository;
  readonly requests: ResetRequests;
  readonly passwords: Passwords;
  readonly confirmation: PasswordConfirmation;
  readonly quota: MailQuota;
  readonly background: BackgroundTasks;
  /** Rate limit of password changes per account, including failed attempts. */
  readonly changes: Attempts;
}

const throwIfInvalid = (errors: FieldErrors): void => {
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
};

const actorFor = ({ id: userId, tenantId }: Person, origin: Origin): Actor => ({
  userId,
  tenantId,
  ...origin,
});

/** Password resets and changes (decision I6). */
export class PasswordsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Mails a reset link if the address has an account. Runs in the background, so that neither the response nor
   * its timing reveals this.
   */
  forgot(email: string, origin: Origin): void {
    const { background, requests, quota } = this.#use;
    background.run('a password reset mail could not be sent', async () => {
      if (!(await requests.concern(email))) return;
      if (await quota.allows('password_reset', email)) await requests.send(email, origin);
    });
  }

  /** The address of the account that a reset token is for, for a page; null if the token is invalid. */
  async addressOfReset(token: string): Promise<string | null> {
    const reset = await this.#use.repository.findReset(token);
    return reset?.person.email ?? null;
  }

  /**
   * Sets a new password with a reset token and signs the user out everywhere. Returns the id of the user. 422 names the
   * token and every rule that the new password breaks.
   */
  async reset(
    given: {
      readonly token: string;
      readonly email: string;
      readonly password: string;
      readonly confirmation: string;
    },
    origin: Origin,
  ): Promise<string> {
    const { repository, passwords } = this.#use;
    const invalidToken: FieldErrors = { token: ['the link is invalid or has expired'] };
    const reset = await repository.findReset(given.token, given.email);
    const broken = passwords.errors('password', given, reset?.person ?? given);
    if (!reset) throw validationFailed({ ...invalidToken, ...broken });
    throwIfInvalid(broken);
    const { person } = reset;
    const current = person.passwordHash ? [person.passwordHash] : [];
    // Do not reveal passwords of somebody who only claimed the address.
    const isClaim = person.emailVerifiedAt === null;
    const unusable = isClaim ? [] : [...current, ...(await repository.previous(person))];
    const hash = await this.#hashOfNew(
      'password',
      given.password,
      unusable,
      visitorOf(person.id, origin),
    );
    const isDone = await repository
      .reset(reset, hash, actorFor(person, origin))
      .catch((error: unknown) => {
        // Another user has confirmed the address meanwhile.
        if (isAddressTaken(error)) return false;
        throw error;
      });
    if (!isDone) throw validationFailed(invalidToken);
    return person.id;
  }

  /**
   * Changes the caller's password and ends all their other sessions. 422 names a wrong current password and
   * every rule that the new one breaks; 429 after too many attempts by any client. `notify` replaces the mail
   * about the change and runs in the same transaction.
   */
  async change(
    caller: UserCaller,
    given: { readonly current: string; readonly password: string; readonly confirmation: string },
    origin: Origin,
    notify?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { repository, passwords, changes } = this.#use;
    await changes.take(caller.id);
    const person = await repository.personById(caller.id);
    throwIfInvalid({
      ...(await this.#errorsOfCurrent(caller.id, given.current)),
      ...passwords.errors('new_password', given, person),
    });
    // The current password was just verified, so comparing texts is enough.
    if (normalisedPassword(given.password) === normalisedPassword(given.current)) {
      throw passwords.reused('new_password');
    }
    const previous = await repository.previous(person);
    const hash = await this.#hashOfNew(
      'new_password',
      given.password,
      previous,
      signedIn(caller.id),
    );
    await repository.change(person, hash, caller, actorOf(caller, origin), notify);
  }

  /**
   * Gives an unconfirmed account to the owner of the mailbox: sets a new password and removes everything that
   * somebody else may have set up to sign in. Returns the events to publish. The caller has locked the address
   * (`lockAddress`).
   */
  takeOver(
    tx: Transaction,
    person: Person,
    hash: string,
    origin: Origin,
    options?: { readonly withTenant?: boolean },
  ): Promise<NewEvent[]> {
    return this.#use.repository.takeOver(tx, person, hash, origin, options);
  }

  async #errorsOfCurrent(userId: string, password: string): Promise<FieldErrors> {
    try {
      await this.#use.confirmation.demand(userId, password, 'current_password');
      return {};
    } catch (error) {
      if (error instanceof HttpError && error.errors) return error.errors;
      throw error;
    }
  }

  /** `unusable`: hashes of passwords that must not be reused. */
  async #hashOfNew(
    field: string,
    password: string,
    unusable: readonly string[],
    who: HashingFor,
  ): Promise<string> {
    const { passwords } = this.#use;
    if (await passwords.matchesAny(password, unusable, who)) throw passwords.reused(field);
    return passwords.hash(password, who);
  }
}
