import { until } from '@tessera/local-stack';
import type { Database, Transaction } from '../database.ts';
import { lockUser } from '../users/users.ts';

type Work = (tx: Transaction) => PromiseLike<unknown>;

/** How many statements in this database wait for a lock that another transaction holds. */
export const waitingForLocks = async (database: Database): Promise<number> => {
  const [row] = await database.$queryRaw<{ waiting: bigint }[]>`
    SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  return Number(row?.waiting);
};

/** Whether a statement in this database waits for a lock that another transaction holds. */
export const isWaitingForLock = async (database: Database): Promise<boolean> =>
  (await waitingForLocks(database)) > 0;

/** A transaction that waits for a condition may take longer than others. */
export const WAITING = { timeout: 60_000 };

/** What becomes of something that waits for the locks of `hold` while `change` is done and commits. */
export const collide = async <T>(
  database: Database,
  start: () => PromiseLike<T>,
  { hold, change }: { readonly hold: Work; readonly change: Work },
): Promise<T> => {
  // A transaction must not return the promise itself, which it would wait for.
  const { running } = await database.$transaction(async (tx) => {
    await hold(tx);
    const running = Promise.resolve(start());
    await until(() => isWaitingForLock(database));
    await change(tx);
    return { running };
  }, WAITING);
  return running;
};

/** What becomes of something that waits for the lock of a user while `change` commits. */
export const answerAfter = <T>(
  database: Database,
  userId: string,
  start: () => PromiseLike<T>,
  change: Work,
): Promise<T> => collide(database, start, { hold: (tx) => lockUser(tx, userId), change });

/** Fails a transaction that has to wait for another one from now on, which would be a deadlock. */
export const mustNotWait = async (tx: Transaction): Promise<void> => {
  await tx.$executeRaw`SET LOCAL lock_timeout = '1ms'`;
};

/** The steps of a renewal of a user's only token: it holds the session and the token, and then adds another token. */
export const renewalOf = (userId: string): { readonly hold: Work; readonly change: Work } => ({
  async hold(tx) {
    await tx.$queryRaw`SELECT 1 FROM identity.sessions WHERE user_id = ${userId}::uuid FOR NO KEY UPDATE`;
    await tx.token.updateMany({ where: { userId }, data: { revokedAt: new Date() } });
  },
  async change(tx) {
    await mustNotWait(tx);
    await tx.$executeRaw`
      INSERT INTO identity.tokens (id, user_id, tenant_id, session_id, client_id, use, name, kid, expires_at)
      SELECT gen_random_uuid(), user_id, tenant_id, session_id, client_id, use, name, kid, expires_at
      FROM identity.tokens WHERE user_id = ${userId}::uuid`;
  },
});
