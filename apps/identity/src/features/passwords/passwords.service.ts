import type { FieldErrors } from '@tessera/fields';
import { type Attempts, HttpError, validationFailed } from '@tessera/http-kit';
import { type Actor, actorOf } from '../../activity/activity.ts';
import type { Background } from '../../background/background.ts';
import type { Transaction } from '../../database.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { News } from '../../outbox/outbox.ts';
import { normalisedPassword } from '../../passwords/password-rules.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users/users.ts';
import type { PasswordConfirmation } from '../sign-in/password-confirmation.ts';
import type { PasswordsRepository, Person } from './passwords.repository.ts';

export type { Person };

interface Dependencies {
  readonly repository: PasswordsRepository;
  readonly passwords: Passwords;
  readonly confirmation: PasswordConfirmation;
  readonly quota: MailQuota;
  readonly background: Background;
  /** By account: how often its password may be changed, or tried to be. */
  readonly changes: Attempts;
  /** Seconds that the link of a reset is good for. */
  readonly resetLifetime: number;
}

const refuse = (errors: FieldErrors): void => {
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
};

const actorFor = ({ id: userId, tenantId }: Person, origin: Origin): Actor => ({
  userId,
  tenantId,
  ...origin,
});

/** Passwords that are forgotten, reset and changed (decision I6). */
export class PasswordsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Has a link sent to the address, where somebody has it; the caller learns neither that nor when. */
  forgot(email: string, origin: Origin): void {
    const { background, repository, quota, resetLifetime } = this.#use;
    background.run('a password reset was not sent', async () => {
      const person = await repository.person(email);
      if (!person || !(await quota.admits('password_reset', email))) return;
      await repository.sendReset(person, actorFor(person, origin), resetLifetime);
    });
  }

  /**
   * Replaces a password by the token of a mail, and signs its owner out everywhere. 422 names the token
   * and every rule that the new password breaks.
   */
  async reset(
    given: {
      readonly token: string;
      readonly email: string;
      readonly password: string;
      readonly confirmation: string;
    },
    origin: Origin,
  ): Promise<void> {
    const { repository, passwords } = this.#use;
    const tokenIsBad: FieldErrors = { token: ['the link is invalid or has expired'] };
    const reset = await repository.findReset(given.token, given.email);
    refuse({
      ...(!reset && tokenIsBad),
      ...passwords.errors('password', given, reset?.person ?? given),
    });
    if (!reset) return;
    const { person } = reset;
    const current = person.passwordHash ? [person.passwordHash] : [];
    // The passwords of who only claimed the address are nobody's to know of.
    const isClaim = person.emailVerifiedAt === null;
    const taken = isClaim ? [] : [...current, ...(await repository.previous(person))];
    const hash = await this.#hashOfNew('password', given.password, person, taken);
    const isDone = await repository
      .reset(reset, hash, actorFor(person, origin))
      .catch((error: unknown) => {
        // Another person has confirmed the address meanwhile.
        if (isAddressTaken(error)) return false;
        throw error;
      });
    if (!isDone) refuse(tokenIsBad);
  }

  /**
   * Replaces the caller's own password, and ends all their other sessions. 422 names the fields: a wrong
   * current password, and every rule that the new one breaks. 429 after too many attempts of the caller,
   * wherever they were made. `tell` runs in the transaction of the change, in the place of the mail that
   * tells of it.
   */
  async change(
    caller: UserCaller,
    given: { readonly current: string; readonly password: string; readonly confirmation: string },
    origin: Origin,
    tell?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { repository, passwords, changes } = this.#use;
    await changes.take(caller.id);
    const person = await repository.personById(caller.id);
    refuse({
      ...(await this.#errorsOfCurrent(caller.id, given.current)),
      ...passwords.errors('new_password', given, person),
    });
    // The current one has just been checked: its equal needs no hash to be found.
    if (normalisedPassword(given.password) === normalisedPassword(given.current)) {
      throw passwords.reused('new_password');
    }
    const previous = await repository.previous(person);
    const hash = await this.#hashOfNew('new_password', given.password, person, previous);
    await repository.change(person, hash, caller, actorOf(caller, origin), tell);
  }

  /**
   * Gives an account that nobody proved to own to who reads the mails of its address: with a password of
   * theirs, and without whatever else somebody may have set up to sign in with. Gives the events. The caller
   * holds the address (`lockAddress`).
   */
  takeOver(
    tx: Transaction,
    person: Person,
    hash: string,
    origin: Origin,
    options?: { readonly withTenant?: boolean },
  ): Promise<News[]> {
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

  /** `taken`: the hashes that it must not have. */
  async #hashOfNew(
    field: string,
    password: string,
    { id }: Person,
    taken: readonly string[],
  ): Promise<string> {
    const { passwords } = this.#use;
    if (await passwords.matchesAny(password, taken, id)) throw passwords.reused(field);
    return passwords.hash(password, id);
  }
}
