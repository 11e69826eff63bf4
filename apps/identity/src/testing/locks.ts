import { until } from '@tessera/local-stack';
import type { Response } from 'supertest';
import type { Database, Transaction } from '../database.ts';
import { lockUser } from '../users/users.ts';

/** Whether a statement in this database waits for a lock that another transaction holds. */
export const isWaitingForLock = async (database: Database): Promise<boolean> => {
  const [row] = await database.$queryRaw<{ waiting: bigint }[]>`
    SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  return Number(row?.waiting) > 0;
};

/** The answer to a request that waits for the lock of a user while `change` commits. */
export const answerAfter = async (
  database: Database,
  userId: string,
  send: () => PromiseLike<Response>,
  change: (tx: Transaction) => PromiseLike<unknown>,
): Promise<Response> => {
  // A transaction must not return the promise itself, which it would wait for.
  const { running } = await database.$transaction(async (tx) => {
    await lockUser(tx, userId);
    const running = Promise.resolve(send());
    await until(() => isWaitingForLock(database));
    await change(tx);
    return { running };
  });
  return running;
};
