import { startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { AccountDeletion } from '../../generated/prisma/client.ts';
import type { AccountDeletionRepository, Outcome } from './account-deletion.repository.ts';

export interface SweepOptions {
  readonly repository: Pick<AccountDeletionRepository, 'remind' | 'due' | 'remove'>;
  readonly logger: Logger;
  /** Milliseconds between two rounds. */
  readonly everyMs?: number;
  /** Maximum number of accounts fetched at once. */
  readonly batch?: number;
}

export interface AccountDeletions {
  /** Runs one round now; returns the number of accounts by outcome. */
  sweep(): Promise<Readonly<Record<Outcome | 'failed', number>>>;
  /** Stops the rounds; waits for the account that is being deleted. */
  stop(): Promise<void>;
}

/**
 * Sends reminders before accounts are deleted and deletes accounts that are due, one transaction per account.
 * Replicas share the work; what one replica does not finish is done in a later round.
 */
export const startAccountDeletions = (options: SweepOptions): AccountDeletions => {
  const { repository, logger, everyMs = 10_000, batch = 50 } = options;

  const remind = async (stopping?: AbortSignal): Promise<void> => {
    let reminded = batch;
    while (reminded === batch && !stopping?.aborted) reminded = await repository.remind(batch);
  };

  const sweep = async (stopping?: AbortSignal) => {
    const outcomes = { deleted: 0, kept: 0, not_due: 0, failed: 0 };
    await remind(stopping);
    for (let after: AccountDeletion | null = null; !stopping?.aborted; ) {
      const due: readonly AccountDeletion[] = await repository.due(batch, after);
      for (const { userId } of due) {
        if (stopping?.aborted) break;
        try {
          outcomes[await repository.remove(userId)] += 1;
        } catch (err) {
          outcomes.failed += 1;
          logger.warn(
            { err, user_id: userId },
            'an account could not be deleted; the next round retries',
          );
        }
      }
      if (due.length < batch) break;
      after = due.at(-1) ?? null;
    }
    return outcomes;
  };

  const periodic = startPeriodicWork({
    everyMs,
    logger,
    failure: 'the account deletion sweep failed; the next round retries',
    async work(stopping) {
      logger.debug({ outcomes: await sweep(stopping) }, 'account deletion sweep finished');
    },
  });
  return { sweep: () => sweep(), stop: () => periodic.stop() };
};
