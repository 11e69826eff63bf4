import type { Logger } from '@tessera/http-kit';
import { startRounds } from '../../background/rounds.ts';
import type { AccountDeletion } from '../../generated/prisma/client.ts';
import type { AccountDeletionRepository, Outcome } from './account-deletion.repository.ts';

export interface SweepOptions {
  readonly repository: Pick<AccountDeletionRepository, 'remind' | 'due' | 'remove'>;
  readonly logger: Logger;
  /** Milliseconds between two rounds. */
  readonly everyMs?: number;
  /** Most accounts that are looked up at once. */
  readonly batch?: number;
}

export interface AccountDeletions {
  /** A round, now: gives how many accounts came to what. */
  sweep(): Promise<Readonly<Record<Outcome | 'failed', number>>>;
  /** No more rounds; waits for the account that is being deleted. */
  stop(): Promise<void>;
}

/**
 * Reminds people of the deletion of their account and deletes it when its time has come, one transaction
 * each. Replicas share the work, and what one does not finish is done in a later round.
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
            'an account was not deleted; a later round tries again',
          );
        }
      }
      if (due.length < batch) break;
      after = due.at(-1) ?? null;
    }
    return outcomes;
  };

  const rounds = startRounds({
    everyMs,
    logger,
    failure: 'the sweep of accounts failed; the next round tries again',
    async work(stopping) {
      logger.debug({ outcomes: await sweep(stopping) }, 'accounts swept');
    },
  });
  return { sweep: () => sweep(), stop: () => rounds.stop() };
};
