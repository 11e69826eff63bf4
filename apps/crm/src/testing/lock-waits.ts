import type { ClientBase, Pool } from 'pg';
import { onCitus } from './distributed-tables.ts';

/** On Citus, a statement waits on the server with the rows, and the activity of all servers has an id for it. */
const activity = onCitus
  ? { view: 'citus_stat_activity', id: 'global_pid' }
  : { view: 'pg_stat_activity', id: 'pid' };

/** How many statements wait for a lock in the database of the pool. */
export const countLockWaits = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ waiting: number }>(
    `SELECT count(DISTINCT ${activity.id})::int AS waiting FROM ${activity.view}
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
};

/** Whether a statement of the application waits for a lock that the client holds. Not for databases on Citus. */
export const isWaitedFor = async (
  pool: Pool,
  client: ClientBase,
  application: string,
): Promise<boolean> => {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const waiting = await pool.query(
    'SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)) AND application_name = $2',
    [rows[0]?.pid, application],
  );
  return waiting.rowCount !== 0;
};
