import type { FieldErrors } from '@tessera/fields';
import { invalidField, validationFailed } from '@tessera/http-kit';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { NewEvent } from '../../outbox/outbox.ts';
import { visitorOf } from '../../passwords/hashing-for.ts';
import type { PasswordOwner } from '../../passwords/password-rules.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users/users.ts';
import type { PasswordsService } from '../passwords/passwords.service.ts';
import type { AddressConfirmation } from './address-confirmation.ts';
import type {
  AccountDetails,
  ConfirmationRepository,
  PendingConfirmation,
} from './confirmation.repository.ts';

/** What is known about the person who opens a link. */
export interface LinkOpener {
  /** Value of the confirmation cookie. */
  readonly secret: string | null;
  /** The signed-in user, if any. */
  readonly caller: UserCaller | null;
}

/** Input of a person who cannot show that they registered the account. */
export interface TakeoverInput extends AccountDetails {
  readonly password?: string | undefined;
  readonly confirmation?: string | undefined;
}

/** What confirming an address requires. */
export interface ConfirmationRequirements {
  /** The user whose address the link confirms. */
  readonly userId: string;
  readonly email: string;
  /** `nothing` also if the address is already confirmed. */
  readonly asks: 'nothing' | 'password';
  readonly isConfirmed: boolean;
  /** As registered; somebody else may have registered the account. */
  readonly firstName: string;
  readonly lastName: string;
  /** Null if no tenant will be created. */
  readonly tenantName: string | null;
}

interface Dependencies {
  readonly repository: ConfirmationRepository;
  readonly addresses: AddressConfirmation;
  readonly accounts: Pick<PasswordsService, 'takeOver'>;
  readonly passwords: Passwords;
}

const invalidLink = () => invalidField('token', 'the link is invalid or has expired');

/** Confirms email addresses with the link of the mail (decision I21). */
export class ConfirmationService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * What the link requires of the person who opens it; changes nothing. 422 on `token` if the link is invalid.
   */
  async show(token: string, opener: LinkOpener): Promise<ConfirmationRequirements> {
    const pending = await this.#find(token);
    const { email, person, registration } = pending;
    const { firstName, lastName } = person;
    const isConfirmed = person.emailVerifiedAt !== null;
    const asks = isConfirmed || this.#isOwn(pending, opener) ? 'nothing' : 'password';
    const tenantName = registration?.tenantName ?? null;
    return { userId: person.id, email, asks, isConfirmed, firstName, lastName, tenantName };
  }

  /**
   * Confirms the address. In the browser that registered, or signed in to the account, nothing else changes.
   * Otherwise the person must choose a new password (422 without one), and all sessions and factors of the
   * account are removed. If the address is already confirmed, nothing happens, and a password is rejected (422
   * on `token`).
   */
  async confirm(
    token: string,
    opener: LinkOpener,
    given: TakeoverInput,
    origin: Origin,
  ): Promise<void> {
    const pending = await this.#find(token);
    const { person, email } = pending;
    if (person.emailVerifiedAt !== null) {
      // Accepting the password would suggest that it was saved.
      if (given.password !== undefined) throw invalidLink();
      return;
    }
    if (this.#isOwn(pending, opener)) {
      const claimant = { id: person.id, email };
      const isDone = await this.#using(pending, (tx) =>
        this.#use.addresses.confirm(tx, claimant, origin),
      );
      // A second click has come first.
      if (!isDone && (await this.#find(token)).person.emailVerifiedAt === null) throw invalidLink();
      return;
    }
    const { password, confirmation, ...details } = given;
    const { firstName = person.firstName, lastName = person.lastName } = details;
    const owner = { email, firstName, lastName };
    const passwordHash = await this.#hashOf(owner, { password, confirmation }, origin);
    const isDone = await this.#using(pending, async (tx) => {
      await this.#use.repository.changeDetails(tx, person.id, details);
      return this.#use.accounts.takeOver(tx, person, passwordHash, origin);
    });
    if (!isDone) throw invalidLink();
  }

  /**
   * Ends an account that somebody else registered with the recipient's address. Returns `deleted`, or
   * `signed_out` for a tenant member, whose account is kept but unusable with this address. 422 on `token` if
   * the link is invalid.
   */
  async disown(token: string, origin: Origin): Promise<'deleted' | 'signed_out'> {
    const pending = await this.#find(token);
    if (pending.person.emailVerifiedAt !== null) throw invalidLink();
    const { id } = pending.person;
    let outcome: 'deleted' | 'signed_out' = 'deleted';
    const isDone = await this.#using(pending, async (tx) => {
      const { isDeleted, events } = await this.#use.addresses.disown(tx, id, origin);
      outcome = isDeleted ? 'deleted' : 'signed_out';
      return events;
    });
    if (!isDone) throw invalidLink();
    return outcome;
  }

  async #find(token: string): Promise<PendingConfirmation> {
    const pending = await this.#use.repository.find(token);
    if (!pending) throw invalidLink();
    return pending;
  }

  #isOwn(pending: PendingConfirmation, { secret, caller }: LinkOpener): boolean {
    if (secret !== null && this.#use.repository.isCookieOf(pending, secret)) return true;
    return caller?.id === pending.person.id && caller.impersonatorId === null;
  }

  /** Whether the link could be used, and the work is done. */
  #using(
    pending: PendingConfirmation,
    work: (tx: Transaction) => Promise<readonly NewEvent[]>,
  ): Promise<boolean> {
    return this.#use.repository.use(pending, work).catch((error: unknown) => {
      // Another user has confirmed the address meanwhile.
      if (isAddressTaken(error)) return false;
      throw error;
    });
  }

  async #hashOf(
    owner: PasswordOwner & { readonly email: string },
    { password, confirmation = '' }: Pick<TakeoverInput, 'password' | 'confirmation'>,
    origin: Origin,
  ): Promise<string> {
    const { passwords } = this.#use;
    const errors: FieldErrors =
      password === undefined
        ? { password: ['password is required because another browser registered the account'] }
        : passwords.errors('password', { password, confirmation }, owner);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    return passwords.hash(password ?? '', visitorOf(owner.email, origin));
  }
}
