import { HttpError, notFound } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { AccountDeletion } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import type { AccountDeletionRepository } from './account-deletion.repository.ts';
import { type Blockers, isBlocked } from './blockers.ts';

interface Dependencies {
  readonly repository: AccountDeletionRepository;
  readonly reauthentication: Pick<ReauthenticationService, 'requireRecent'>;
  /** Seconds between the request and the deletion. */
  readonly delay: number;
}

export interface DeletionState {
  /** Null if no deletion is scheduled. */
  readonly deletion: AccountDeletion | null;
  readonly blockers: Blockers;
  /** When the account would be deleted if the user requested the deletion now. */
  readonly wouldBeDueAt: Date;
}

/** 409: the user is the only owner or administrator of something. */
const blocked = ({ tenants, isLastAdministrator }: Blockers): HttpError => {
  const names = tenants.map(({ name }) => name).join(', ');
  return tenants.length > 0
    ? new HttpError(
        409,
        'last_owner',
        `You are the last owner of ${names}. Make another member an owner or delete the tenant first.`,
        { details: { tenants } },
      )
    : new HttpError(
        409,
        isLastAdministrator ? 'last_administrator' : 'conflict',
        'You are the last active administrator of the system. Make another user an administrator first.',
      );
};

/** Lets users delete their own account, after a delay in which they can change their mind. */
export class AccountDeletionService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  async state({ id }: UserCaller): Promise<DeletionState> {
    const { repository, delay } = this.#use;
    const [deletion, blockers] = [await repository.find(id), await repository.blockers(id)];
    return { deletion, blockers, wouldBeDueAt: new Date(Date.now() + delay * 1000) };
  }

  /** When the user's account will be deleted; null if no deletion is scheduled. */
  async dueAt({ id }: Pick<UserCaller, 'id'>): Promise<Date | null> {
    return (await this.#use.repository.find(id))?.dueAt ?? null;
  }

  /**
   * Schedules the deletion; the account remains usable until then. An already scheduled deletion is returned
   * unchanged. 403 `reauthentication_required` without a recent authentication; 409 `last_owner` or
   * `last_administrator`.
   */
  async request(caller: UserCaller, origin: Origin): Promise<AccountDeletion> {
    const { repository, reauthentication, delay } = this.#use;
    await reauthentication.requireRecent(caller);
    const blockers = await repository.blockers(caller.id);
    if (isBlocked(blockers)) throw blocked(blockers);
    return repository.request(caller, origin, delay);
  }

  /** Cancels the deletion. 404 if none is scheduled. */
  async cancel(caller: UserCaller, origin: Origin): Promise<void> {
    const isCanceled = await this.#use.repository.cancel(actorOf(caller, origin));
    if (!isCanceled) throw notFound('A scheduled deletion');
  }
}
