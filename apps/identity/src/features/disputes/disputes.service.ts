import { notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { PasswordsService } from '../passwords/passwords.service.ts';
import type { DisputesRepository } from './disputes.repository.ts';

interface Dependencies {
  readonly repository: DisputesRepository;
  readonly passwords: Pick<PasswordsService, 'change' | 'forgot'>;
}

/** The passwords that a person types to change theirs. */
type NewPassword = Parameters<PasswordsService['change']>[1];

/**
 * What a person does about activity that was not theirs ("This was not me"): everybody else is signed out, no
 * device is trusted any more, and the password is replaced. `entryId`: the entry in question, null for
 * activity in general; 404 where the caller has no such entry.
 */
export class DisputesService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Secures the account with a new password; refuses as `PasswordsService.change` does. */
  async byPassword(
    caller: UserCaller,
    entryId: string | null,
    given: NewPassword,
    origin: Origin,
  ): Promise<void> {
    const { repository, passwords } = this.#use;
    await this.#demandOwn(caller, entryId);
    const actor = actorOf(caller, origin);
    await passwords.change(caller, given, origin, (tx) =>
      repository.record(tx, actor, entryId, 'password'),
    );
  }

  /** Signs everybody else out and mails a link to choose a new password, for people who do not know the current one. */
  async byLink(caller: UserCaller, entryId: string | null, origin: Origin): Promise<void> {
    const { repository, passwords } = this.#use;
    await this.#demandOwn(caller, entryId);
    await repository.endOthers(actorOf(caller, origin), caller, entryId);
    if (caller.email !== null) passwords.forgot(caller.email, origin);
  }

  async #demandOwn({ id }: UserCaller, entryId: string | null): Promise<void> {
    if (entryId === null || (await this.#use.repository.isEntryOf(id, entryId))) return;
    throw notFound('The activity entry');
  }
}
