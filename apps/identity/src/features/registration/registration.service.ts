import type { BackgroundTasks } from '@tessera/background-work';
import { type Attempts, validationFailed } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import { visitorOf } from '../../passwords/hashing-for.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type {
  Claimant,
  LinkRequester,
  NewPerson,
  RegistrationRepository,
} from './registration.repository.ts';

export type { LinkRequester } from './registration.repository.ts';

/** The input of a registration. */
export interface RegistrationInput extends Omit<NewPerson, 'passwordHash'> {
  readonly password: string;
  readonly confirmation: string;
  /** Name of the tenant to create when the address is confirmed. */
  readonly tenantName: string;
}

interface Dependencies {
  readonly repository: RegistrationRepository;
  readonly passwords: Passwords;
  readonly quota: MailQuota;
  /** Rate limit of address changes per account. */
  readonly addressChanges: Attempts;
  readonly background: BackgroundTasks;
}

/** Registration and confirmation mails (decisions I8 and I21). */
export class RegistrationService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Creates an unconfirmed account and mails the address. Works in the background, so that neither the response
   * nor its timing reveals whether the address has an account. `secret` is the value of the confirmation
   * cookie.
   */
  async register(input: RegistrationInput, secret: string, origin: Origin): Promise<void> {
    const { repository, background, passwords } = this.#use;
    const { password, confirmation, tenantName, ...given } = input;
    const errors = passwords.errors('password', { password, confirmation }, given);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    const passwordHash = await passwords.hash(password, visitorOf(given.email, origin));
    const person = { ...given, passwordHash };
    background.run('a registration could not be stored', async () => {
      await this.#sendLink(await repository.register({ person, tenantName, secret }, origin));
    });
  }

  /** Resends the link to an unconfirmed address; reveals nothing to the caller. */
  resendVerification(email: string, requester: LinkRequester): void {
    const { repository, background } = this.#use;
    background.run('a confirmation mail could not be sent', async () => {
      const claimant = await repository.claimant(email, requester);
      if (claimant) await this.#sendLink(claimant);
    });
  }

  /**
   * Changes the caller's unconfirmed address and mails a confirmation link to it. Reveals nothing about other
   * accounts. 409 if the address is already confirmed.
   */
  async changeAddress(caller: UserCaller, email: string, origin: Origin): Promise<void> {
    const { repository, addressChanges, background } = this.#use;
    await addressChanges.take(caller.id);
    const claimant = await repository.changeAddress(actorOf(caller, origin), email);
    background.run('a confirmation mail could not be sent', () => this.#sendLink(claimant));
  }

  /** Under the same limit whether or not another account has the address. */
  async #sendLink(claimant: Claimant): Promise<void> {
    const { repository, quota } = this.#use;
    if (await quota.allows('email_verification', claimant.email)) {
      await repository.sendLink(claimant);
    }
  }
}
