import { startPeriodicWork } from '@tessera/background-work';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { advisoryLocks } from '../database.ts';

/** How long rows are kept, in seconds. */
export interface Retention {
  readonly activityRetention: number;
  readonly slugReservation: number;
}

export interface HousekeepingOptions {
  readonly pool: Pick<Pool, 'query'>;
  readonly logger: Logger;
  readonly retention: Retention;
  /** The average time between two runs, in milliseconds. */
  readonly everyMs?: number;
  /** The largest number of rows that one statement deletes. */
  readonly batch?: number;
  /** Called with the number of mails that were deleted because their time was over. */
  readonly onExpiredMails?: (mails: number) => void;
}

export interface Housekeeping {
  /** Runs once, now; returns the number of deleted rows by table: 0 where another replica is deleting. */
  sweep(): Promise<Readonly<Record<string, number>>>;
  /** Starts no further run and waits for the current statement. */
  stop(): Promise<void>;
}

/** Rows of a table that nothing reads any more. `from` names the table `expired`; an index serves `where`. */
interface ExpiredRows {
  readonly table: string;
  readonly from: string;
  readonly where: string;
}

const rowsOf = (table: string, where: string): ExpiredRows => ({
  table,
  from: `identity.${table} expired`,
  where,
});

const seconds = (count: number): string => `make_interval(secs => ${count})`;

/**
 * Sessions that are over. Their tokens go first: a session may have hundreds. Until then an expired token can
 * be renewed, and a replaced one must be recognised when it is presented again.
 */
const sessionsWithTokens = (where: string): readonly ExpiredRows[] => [
  {
    table: 'tokens',
    from: 'identity.sessions s JOIN identity.tokens expired ON expired.session_id = s.id',
    where: `s.${where}`,
  },
  rowsOf('sessions', `expired.${where}`),
];

const expiredRows = ({ activityRetention, slugReservation }: Retention): readonly ExpiredRows[] => [
  rowsOf('oauth_artifacts', "expired.expires_at < now() - interval '1 hour'"),
  ...sessionsWithTokens("expires_at < now() - interval '1 day'"),
  ...sessionsWithTokens("ended_at < now() - interval '1 day'"),
  rowsOf(
    'tokens',
    "expired.session_id IS NULL AND expired.expires_at < now() - interval '30 days'",
  ),
  rowsOf(
    'devices',
    `expired.last_used_at < now() - interval '180 days'
      AND (expired.trusted_until IS NULL OR expired.trusted_until < now())`,
  ),
  // Users who never confirmed their address, except members of a tenant.
  {
    table: 'users',
    from: 'identity.registrations r JOIN identity.users expired ON expired.id = r.user_id',
    where: `r.expires_at < now() AND expired.email_verified_at IS NULL
      AND NOT EXISTS (SELECT FROM identity.memberships m WHERE m.user_id = expired.id)`,
  },
  rowsOf('one_time_tokens', "expired.expires_at < now() - interval '1 day'"),
  rowsOf('outbox_mails', 'expired.expires_at < now()'),
  rowsOf('activity_entries', `expired.created_at < now() - ${seconds(activityRetention)}`),
  rowsOf('reserved_slugs', `expired.deleted_at < now() - ${seconds(slugReservation)}`),
  rowsOf('signing_keys', "expired.removed_at < now() - interval '1 day'"),
  // No index covers published_at, so only the oldest rows are considered.
  {
    table: 'outbox',
    from: `(SELECT id FROM identity.outbox ORDER BY id LIMIT $1) oldest
      JOIN identity.outbox expired USING (id)`,
    where: "expired.published_at < now() - interval '7 days'",
  },
];

/** Waits neither for another replica nor for a locked row. */
const statement = ({ table, from, where }: ExpiredRows): string => `
  WITH lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${advisoryLocks.housekeeping}, 0) AS is_held),
  batch AS MATERIALIZED (
    SELECT expired.ctid AS row FROM lock, ${from}
    WHERE lock.is_held AND ${where} LIMIT $1 FOR UPDATE OF expired SKIP LOCKED)
  DELETE FROM identity.${table} WHERE ctid = ANY (ARRAY(SELECT row FROM batch))`;

/** Deletes expired rows periodically, in small statements. */
export const startHousekeeping = (options: HousekeepingOptions): Housekeeping => {
  const { pool, logger, retention, everyMs = 300_000, batch = 500, onExpiredMails } = options;
  const sweepUntil = async (stopping?: AbortSignal): Promise<Readonly<Record<string, number>>> => {
    const deletedRows: Record<string, number> = {};
    for (const rows of expiredRows(retention)) {
      let deleted = batch;
      while (deleted === batch && !stopping?.aborted) {
        const { rowCount } = await pool.query(statement(rows), [batch]);
        deleted = rowCount ?? 0;
        deletedRows[rows.table] = (deletedRows[rows.table] ?? 0) + deleted;
        if (rows.table === 'outbox_mails') onExpiredMails?.(deleted);
      }
    }
    return deletedRows;
  };

  const periodic = startPeriodicWork({
    everyMs,
    logger,
    failure: 'deleting expired rows failed; the next run tries again',
    async work(stopping) {
      logger.debug({ deleted: await sweepUntil(stopping) }, 'expired rows deleted');
    },
  });
  return { sweep: () => sweepUntil(), stop: () => periodic.stop() };
};
