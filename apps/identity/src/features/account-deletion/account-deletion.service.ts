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
  readonly reauthentication: Pick<ReauthenticationService, 'demandRecent'>;
  /** Seconds between the request and the deletion. */
  readonly delay: number;
}

export interface DeletionState {
  /** Null where nothing is scheduled. */
  readonly deletion: AccountDeletion | null;
  readonly blockers: Blockers;
  /** When an account would be deleted that is asked for now. */
  readonly wouldBeDueAt: Date;
}

/** 409: the account is the only one that can administer something. */
const blocked = ({ tenants, isLastAdministrator }: Blockers): HttpError => {
  const names = tenants.map(({ name }) => name).join(', ');
  return tenants.length > 0
    ? new HttpError(
        409,
        'last_owner',
        `You are the last owner of ${names}. Make another member an owner, or have the tenant deleted, first.`,
        { details: { tenants } },
      )
    : new HttpError(
        409,
        isLastAdministrator ? 'last_administrator' : 'conflict',
        'You are the last active administrator of the system. Make somebody else one first.',
      );
};

/** The deletion of an account by its owner, after a time in which they can change their mind. */
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

  /** When the account of a user is deleted; null where nothing is scheduled. */
  async dueAt({ id }: Pick<UserCaller, 'id'>): Promise<Date | null> {
    return (await this.#use.repository.find(id))?.dueAt ?? null;
  }

  /**
   * Schedules the deletion; the account works until then. One that is scheduled stays as it is. 403
   * `reauthentication_required` without a recent authentication; 409 `last_owner` or `last_administrator`.
   */
  async request(caller: UserCaller, origin: Origin): Promise<AccountDeletion> {
    const { repository, reauthentication, delay } = this.#use;
    await reauthentication.demandRecent(caller);
    const blockers = await repository.blockers(caller.id);
    if (isBlocked(blockers)) throw blocked(blockers);
    return repository.request(actorOf(caller, origin), delay);
  }

  /** Keeps the account. 404 where no deletion is scheduled. */
  async cancel(caller: UserCaller, origin: Origin): Promise<void> {
    const isCanceled = await this.#use.repository.cancel(actorOf(caller, origin));
    if (!isCanceled) throw notFound('A scheduled deletion');
  }
}
