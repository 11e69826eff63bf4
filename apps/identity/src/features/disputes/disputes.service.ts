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

/** The passwords of a password change. */
type NewPassword = Parameters<PasswordsService['change']>[1];

/**
 * Handles "This was not me": ends all other sessions and trust in devices, and replaces the password. `entryId`
 * is the disputed entry, null for activity in general; 404 if the caller has no such entry.
 */
export class DisputesService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Secures the account with a new password; fails as `PasswordsService.change` does. */
  async byPassword(
    caller: UserCaller,
    entryId: string | null,
    given: NewPassword,
    origin: Origin,
  ): Promise<void> {
    const { repository, passwords } = this.#use;
    await this.#requireOwnInvitation(caller, entryId);
    const actor = actorOf(caller, origin);
    await passwords.change(caller, given, origin, (tx) =>
      repository.record(tx, actor, entryId, 'password'),
    );
  }

  /**
   * Ends all other sessions and mails a password reset link, for users who do not know their password.
   */
  async byLink(caller: UserCaller, entryId: string | null, origin: Origin): Promise<void> {
    const { repository, passwords } = this.#use;
    await this.#requireOwnInvitation(caller, entryId);
    await repository.endOthers(actorOf(caller, origin), caller, entryId);
    if (caller.email !== null) passwords.forgot(caller.email, origin);
  }

  async #requireOwnInvitation({ id }: UserCaller, entryId: string | null): Promise<void> {
    if (entryId === null || (await this.#use.repository.isEntryOf(id, entryId))) return;
    throw notFound('The activity entry');
  }
}
