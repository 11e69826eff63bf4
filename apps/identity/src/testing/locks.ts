import type { Database } from '../database.ts';

/** Whether a statement in this database waits for a lock that another transaction holds. */
export const isWaitingForLock = async (database: Database): Promise<boolean> => {
  const [row] = await database.$queryRaw<{ waiting: bigint }[]>`
    SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  return Number(row?.waiting) > 0;
};
