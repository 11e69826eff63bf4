import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { startRounds } from './rounds.ts';

export interface HousekeepingOptions {
  readonly pool: Pick<Pool, 'query'>;
  readonly logger: Logger;
  /** Milliseconds between two rounds. */
  readonly everyMs?: number;
  /** Most rows that one statement deletes. */
  readonly batch?: number;
}

export interface Housekeeping {
  /** A round, now: gives how many rows went, by table. None where another replica is at it. */
  sweep(): Promise<Readonly<Record<string, number>>>;
  /** No more rounds; waits for the statement that is under way. */
  stop(): Promise<void>;
}

/** What nobody will ask for again: rows of a table, called `gone`, and what finds them by an index. */
interface Rubbish {
  readonly table: string;
  readonly from: string;
  readonly where: string;
}

const plainly = (table: string, where: string): Rubbish => ({
  table,
  from: `identity.${table} gone`,
  where,
});

/**
 * Sessions that are over, and before them their tokens: there may be hundreds to one. Until then an expired
 * token can be renewed, and one that was replaced must be known when it comes back.
 */
const chains = (where: string): readonly Rubbish[] => [
  {
    table: 'tokens',
    from: 'identity.sessions s JOIN identity.tokens gone ON gone.session_id = s.id',
    where: `s.${where}`,
  },
  plainly('sessions', `gone.${where}`),
];

const rubbish: readonly Rubbish[] = [
  plainly('oauth_artifacts', "gone.expires_at < now() - interval '1 hour'"),
  ...chains("expires_at < now() - interval '1 day'"),
  ...chains("ended_at < now() - interval '1 day'"),
  plainly('tokens', "gone.session_id IS NULL AND gone.expires_at < now() - interval '30 days'"),
  plainly(
    'devices',
    `gone.last_used_at < now() - interval '180 days'
      AND (gone.trusted_until IS NULL OR gone.trusted_until < now())`,
  ),
  // Who never confirmed their address; whoever is a member somewhere keeps the account.
  {
    table: 'users',
    from: 'identity.registrations r JOIN identity.users gone ON gone.id = r.user_id',
    where: `r.expires_at < now() AND gone.email_verified_at IS NULL
      AND NOT EXISTS (SELECT FROM identity.memberships m WHERE m.user_id = gone.id)`,
  },
  plainly('one_time_tokens', "gone.expires_at < now() - interval '1 day'"),
  // Where nothing sends them: a mail that is being sent looks ahead.
  plainly('outbox_mails', "gone.next_attempt_at < now() - interval '7 days'"),
  plainly('signing_keys', "gone.removed_at < now() - interval '1 day'"),
  // No index tells when a row was published: only the oldest are looked at.
  {
    table: 'outbox',
    from: `(SELECT id FROM identity.outbox ORDER BY id LIMIT $1) oldest
      JOIN identity.outbox gone USING (id)`,
    where: "gone.published_at < now() - interval '7 days'",
  },
];

/** The first of two numbers of an advisory lock; nothing else in this database uses it. */
const LOCK = 0x0c1e;

/** Waits for nobody: neither for another replica nor for a row that somebody holds. */
const statement = ({ table, from, where }: Rubbish): string => `
  WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${LOCK}, 0) AS is_ours),
  doomed AS MATERIALIZED (
    SELECT gone.ctid AS row FROM turn, ${from}
    WHERE turn.is_ours AND ${where} LIMIT $1 FOR UPDATE OF gone SKIP LOCKED)
  DELETE FROM identity.${table} WHERE ctid = ANY (ARRAY(SELECT row FROM doomed))`;

/** Deletes what has outlived its use, in small statements and round after round. */
export const startHousekeeping = (options: HousekeepingOptions): Housekeeping => {
  const { pool, logger, everyMs = 300_000, batch = 500 } = options;
  const sweepUntil = async (stopping?: AbortSignal): Promise<Readonly<Record<string, number>>> => {
    const gone: Record<string, number> = {};
    for (const kind of rubbish) {
      let deleted = batch;
      while (deleted === batch && !stopping?.aborted) {
        const { rowCount } = await pool.query(statement(kind), [batch]);
        deleted = rowCount ?? 0;
        gone[kind.table] = (gone[kind.table] ?? 0) + deleted;
      }
    }
    return gone;
  };

  const rounds = startRounds({
    everyMs,
    logger,
    failure: 'sweeping failed; the next round tries again',
    async work(stopping) {
      logger.debug({ gone: await sweepUntil(stopping) }, 'swept');
    },
  });
  return { sweep: () => sweepUntil(), stop: () => rounds.stop() };
};
