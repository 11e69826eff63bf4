import { type Attempts, validationFailed } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Background } from '../../background/background.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type {
  Asker,
  Claimant,
  NewPerson,
  RegistrationRepository,
} from './registration.repository.ts';

/** A person as a form describes them. */
export interface Application extends Omit<NewPerson, 'passwordHash'> {
  readonly password: string;
  readonly confirmation: string;
  /** Of the tenant of their own, which is created when the address is confirmed. */
  readonly tenantName: string;
}

interface Dependencies {
  readonly repository: RegistrationRepository;
  readonly passwords: Passwords;
  readonly quota: MailQuota;
  /** By account: how often it may change its address. */
  readonly addressChanges: Attempts;
  readonly background: Background;
}

/** New people, and the mails that ask whether their addresses are theirs (decisions I8 and I21). */
export class RegistrationService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Makes a person who has to confirm their address, and tells whoever reads its mails. The caller learns
   * from neither the answer nor its time whether the address has an account: all of it happens beside the
   * answer. `secret` is the value of the confirmation cookie.
   */
  async register(application: Application, secret: string, origin: Origin): Promise<void> {
    const { repository, background, passwords } = this.#use;
    const { password, confirmation, tenantName, ...given } = application;
    const errors = passwords.errors('password', { password, confirmation }, given);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    const person = { ...given, passwordHash: await passwords.hash(password, given.email) };
    background.run('a registration was lost', async () => {
      await this.#sendLink(await repository.register({ person, tenantName, secret }, origin));
    });
  }

  /** Sends another link to an address that waits for its confirmation; the caller learns nothing. */
  resendVerification(email: string, asker: Asker): void {
    const { repository, background } = this.#use;
    background.run('a verification was not sent', async () => {
      const claimant = await repository.claimant(email, asker);
      if (claimant) await this.#sendLink(claimant);
    });
  }

  /**
   * Gives the caller another address before the old one is confirmed, and has a link sent there. The answer
   * is the same whether or not somebody has it. 409 once the address is confirmed.
   */
  async changeAddress(caller: UserCaller, email: string, origin: Origin): Promise<void> {
    const { repository, addressChanges, background } = this.#use;
    await addressChanges.take(caller.id);
    const claimant = await repository.changeAddress(actorOf(caller, origin), email);
    background.run('a verification was not sent', () => this.#sendLink(claimant));
  }

  /** To who has confirmed the address, that they have an account; else the link that confirms it. */
  async #sendLink(claimant: Claimant): Promise<void> {
    const { repository, quota } = this.#use;
    const { email } = claimant;
    const holder = await repository.holder(email);
    if (!holder) {
      if (await quota.admits('email_verification', email)) {
        await repository.sendVerification(claimant);
      }
    } else if (holder.isActive && (await quota.admits('address_taken', email))) {
      await repository.tellHolder(email, holder);
    }
  }
}
