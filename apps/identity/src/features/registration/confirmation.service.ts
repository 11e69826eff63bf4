import type { FieldErrors } from '@tessera/fields';
import { invalidField, validationFailed } from '@tessera/http-kit';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { News } from '../../outbox/outbox.ts';
import type { PasswordOwner } from '../../passwords/password-rules.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users/users.ts';
import type { PasswordsService } from '../passwords/passwords.service.ts';
import type { AddressConfirmation } from './address-confirmation.ts';
import type { ConfirmationRepository, Details, Pending } from './confirmation.repository.ts';

/** Who opens a link, as far as the browser tells. */
export interface Opener {
  /** The value of the confirmation cookie. */
  readonly secret: string | null;
  /** Who is signed in. */
  readonly caller: UserCaller | null;
}

/** What somebody gives who cannot show that they are the one who registered. */
export interface NewOwner extends Details {
  readonly password?: string | undefined;
  readonly confirmation?: string | undefined;
}

/** What a link asks of its reader. */
export interface Question {
  /** Whose account the link is about. */
  readonly userId: string;
  readonly email: string;
  /** `nothing` also where the address is confirmed already. */
  readonly asks: 'nothing' | 'password';
  readonly isConfirmed: boolean;
  /** As registered; who registered may be somebody else. */
  readonly firstName: string;
  readonly lastName: string;
  /** Null where no tenant will be created. */
  readonly tenantName: string | null;
}

interface Dependencies {
  readonly repository: ConfirmationRepository;
  readonly addresses: AddressConfirmation;
  readonly accounts: Pick<PasswordsService, 'takeOver'>;
  readonly passwords: Passwords;
}

const invalidLink = () => invalidField('token', 'the link is invalid or has expired');

/** What the link of the mail does that asks whether an address is somebody's (decision I21). */
export class ConfirmationService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** What the link asks of who opens it, and changes nothing. 422 on `token` where it is good for nothing. */
  async show(token: string, opener: Opener): Promise<Question> {
    const pending = await this.#find(token);
    const { email, person, registration } = pending;
    const { firstName, lastName } = person;
    const isConfirmed = person.emailVerifiedAt !== null;
    const asks = isConfirmed || this.#isOwn(pending, opener) ? 'nothing' : 'password';
    const tenantName = registration?.tenantName ?? null;
    return { userId: person.id, email, asks, isConfirmed, firstName, lastName, tenantName };
  }

  /**
   * Confirms the address. In the browser that registered, and for who is signed in to the account, nothing
   * else changes. Anybody else may not be the one who registered: they choose a new password (422 until
   * then), and every session and every factor of the account ends. Confirmed already: nothing happens, and a
   * password is refused (422 on `token`).
   */
  async confirm(token: string, opener: Opener, given: NewOwner, origin: Origin): Promise<void> {
    const pending = await this.#find(token);
    const { person, email } = pending;
    if (person.emailVerifiedAt !== null) {
      // A password that is not saved must not look as if it were.
      if (given.password !== undefined) throw invalidLink();
      return;
    }
    if (this.#isOwn(pending, opener)) {
      const claimant = { id: person.id, email };
      await this.#using(pending, (tx) => this.#use.addresses.confirm(tx, claimant, origin));
      return;
    }
    const { password, confirmation = '', ...details } = given;
    const { firstName = person.firstName, lastName = person.lastName } = details;
    const owner = { email, firstName, lastName };
    const passwordHash = await this.#hashOf(owner, password, confirmation);
    await this.#using(pending, async (tx) => {
      await this.#use.repository.changeDetails(tx, person.id, details);
      return this.#use.accounts.takeOver(tx, person, passwordHash, origin);
    });
  }

  /**
   * Ends the account that somebody else registered with the reader's address. Gives `deleted`, or
   * `signed_out` for the account of a member of a tenant, which stays but is of no use with this address.
   * 422 on `token` where the link is good for nothing.
   */
  async disown(token: string, origin: Origin): Promise<'deleted' | 'signed_out'> {
    const pending = await this.#find(token);
    if (pending.person.emailVerifiedAt !== null) throw invalidLink();
    const { id } = pending.person;
    let outcome: 'deleted' | 'signed_out' = 'deleted';
    await this.#using(pending, async (tx) => {
      const { isDeleted, news } = await this.#use.addresses.disown(tx, id, origin);
      outcome = isDeleted ? 'deleted' : 'signed_out';
      return news;
    });
    return outcome;
  }

  async #find(token: string): Promise<Pending> {
    const pending = await this.#use.repository.find(token);
    if (!pending) throw invalidLink();
    return pending;
  }

  #isOwn(pending: Pending, { secret, caller }: Opener): boolean {
    if (secret !== null && this.#use.repository.isCookieOf(pending, secret)) return true;
    return caller?.id === pending.person.id && caller.impersonatorId === null;
  }

  async #using(
    pending: Pending,
    work: (tx: Transaction) => Promise<readonly News[]>,
  ): Promise<void> {
    const isDone = await this.#use.repository.use(pending, work).catch((error: unknown) => {
      // Another person has confirmed the address meanwhile.
      if (isAddressTaken(error)) return false;
      throw error;
    });
    if (!isDone) throw invalidLink();
  }

  async #hashOf(
    owner: PasswordOwner & { readonly email: string },
    password: string | undefined,
    confirmation: string,
  ): Promise<string> {
    const { passwords } = this.#use;
    const errors: FieldErrors =
      password === undefined
        ? { password: ['password is required: this browser did not register the account'] }
        : passwords.errors('password', { password, confirmation }, owner);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    return passwords.hash(password ?? '', owner.email);
  }
}
