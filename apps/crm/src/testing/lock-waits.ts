import type { Pool } from 'pg';
import { onCitus } from './distributed-tables.ts';

/** On Citus, a statement waits on the server with the rows, and the activity of all servers has an id for it. */
const activity = onCitus
  ? { view: 'citus_stat_activity', id: 'global_pid' }
  : { view: 'pg_stat_activity', id: 'pid' };

/** How many statements wait for a lock in the database of the pool; of all applications, or of the one with the name. */
export const countLockWaits = async (pool: Pool, application = '%'): Promise<number> => {
  const { rows } = await pool.query<{ waiting: number }>(
    `SELECT count(DISTINCT ${activity.id})::int AS waiting FROM ${activity.view}
     WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND ${activity.id} IN (SELECT ${activity.id} FROM ${activity.view} WHERE application_name LIKE $1)`,
    [application],
  );
  return rows[0]?.waiting ?? 0;
};
