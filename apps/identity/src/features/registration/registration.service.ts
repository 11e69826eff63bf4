import { invalidField, validationFailed } from '@tessera/http-kit';
import type { Background } from '../../background.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin.ts';
import type { Passwords } from '../../passwords.ts';
import type { Caller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users.ts';
import type { MembersService } from '../members/members.service.ts';
import type { NewPerson, RegistrationRepository } from './registration.repository.ts';

/** A person as a form describes them. */
export interface Application extends Omit<NewPerson, 'passwordHash'> {
  readonly password: string;
  readonly confirmation: string;
}

interface Dependencies {
  readonly repository: RegistrationRepository;
  readonly members: MembersService;
  readonly passwords: Passwords;
  readonly quota: MailQuota;
  readonly background: Background;
}

/** The role of who is registered without one. */
const USUAL_ROLE = 'member';

/** New people, and whether their addresses are theirs (decision I8). */
export class RegistrationService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Makes a person and a member of the tenant; gives their id and their role. 422 on the address where
   * somebody has it, on the role where the caller could not give it.
   */
  async registerMember(
    caller: Caller,
    tenantId: string,
    { role = USUAL_ROLE, ...application }: Application & { readonly role?: string | undefined },
    origin: Origin,
  ): Promise<{ id: string; role: string }> {
    const { repository, members } = this.#use;
    const person = await this.#personOf(application);
    try {
      const id = await members.add(caller, tenantId, role, origin, (tx) =>
        repository.addPerson(tx, person),
      );
      return { id, role };
    } catch (error) {
      if (!isAddressTaken(error)) throw error;
      throw invalidField('email', 'there is an account with this address: invite them');
    }
  }

  /**
   * Makes a person with a tenant of their own, or tells the holder of the address. Which of the two, the
   * caller learns neither from the answer nor from its time: it happens beside the answer.
   */
  async registerOwner(application: Application, tenantName: string, origin: Origin): Promise<void> {
    const { repository, background } = this.#use;
    const person = await this.#personOf(application);
    background.run('a registration was lost', async () => {
      const isMade = await repository.addOwner(person, tenantName, origin);
      if (!isMade) await this.#tellHolder(person.email);
    });
  }

  /** Has another link sent to an address that waits for its confirmation; the caller learns nothing. */
  resendVerification(email: string): void {
    const { repository, quota, background } = this.#use;
    background.run('a verification was not sent', async () => {
      const holder = await repository.holder(email);
      if (!holder || holder.isVerified) return;
      if (await quota.admits('email_verification', email)) {
        await repository.resendVerification({ ...holder, email });
      }
    });
  }

  /** Confirms an address by the token of the mail; 422 on `token` where it is good for nothing. */
  async verifyEmail(token: string, origin: Origin): Promise<void> {
    const isDone = await this.#use.repository.verify(token, origin);
    if (!isDone) throw invalidField('token', 'the link is invalid or has expired');
  }

  async #tellHolder(email: string): Promise<void> {
    const { repository, quota } = this.#use;
    const holder = await repository.holder(email);
    if (holder && (await quota.admits('address_taken', email))) {
      await repository.tellHolder(email, holder);
    }
  }

  async #personOf({ password, confirmation, ...person }: Application): Promise<NewPerson> {
    const { passwords } = this.#use;
    const errors = passwords.errors('password', { password, confirmation }, person);
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    return { ...person, passwordHash: await passwords.hash(password, person.email) };
  }
}
