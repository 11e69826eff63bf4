import { HttpError } from '@tessera/http-kit';
import type { Pool } from 'pg';
import type { Db } from 'pg-boss';

/** The lowest place of a job that is no continuation. */
export const LAST_TURN = -999_999;
/** The place of continuations: after all other jobs, and among themselves in the order in which they were enqueued. */
export const CONTINUATION = LAST_TURN - 1;
/** How many turns a job that reached its time limit lets pass, of other tenants and of its own. */
const TURNS_AFTER_LIMIT = 100;
/** Up to this limit, the jobs that wait are counted each time. */
const COUNTED = 100;
const RETRY_AFTER_SECONDS = '60';

/** Where the jobs of a tenant are counted. */
export interface TenantJobs {
  readonly schema: string;
  readonly job: string;
  readonly tenant: string;
}

/** The tenant of a job: the field `tenant_id` of its payload, if it has one. */
export const tenantOf = (payload: unknown): string | undefined => {
  const { tenant_id: tenant } = Object(payload) as { readonly tenant_id?: unknown };
  return typeof tenant === 'string' ? tenant : undefined;
};

/** Jobs that wait, in the words of the indexes of pg-boss. */
const WAITS = `state < 'active'`;

/**
 * Creates the index that finds the jobs of a tenant. The parent of the partitions is indexed, so that partitions that pg-boss
 * adds have it, too.
 */
export const indexTurns = async (pool: Pick<Pool, 'query'>, schema: string): Promise<void> => {
  const { rows } = await pool.query<{ exists: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [`${schema}.job_turns`],
  );
  if (rows[0]?.exists) return;
  // Replicas that start together would create it at the same time. Several statements in one query are one transaction.
  await pool.query(`
    SELECT pg_advisory_xact_lock(hashtext('index turns of jobs'));
    CREATE INDEX IF NOT EXISTS job_turns ON ${schema}.job (name, group_id, priority)
      WHERE ${WAITS} AND group_id IS NOT NULL`);
};

/**
 * The place of a tenant's next job in the order of the queue: after the tenant's last one. The first jobs of all tenants run before
 * the second ones, and so on: whoever has few never waits for the many of another. Throws 429 if too many wait.
 */
export const nextTurn = async (
  db: Db,
  { schema, job, tenant }: TenantJobs,
  maxWaiting: number,
): Promise<number> => {
  const own = `FROM ${schema}.job WHERE name = $1 AND group_id = $2 AND ${WAITS}`;
  const { rows: lasts } = await db.executeSql(
    `SELECT min(priority) AS last ${own} AND priority >= $3`,
    [job, tenant, LAST_TURN],
  );
  const last = (lasts[0] as { readonly last: number | null } | undefined)?.last ?? 1;
  // Jobs that have run leave gaps, so there are at most as many as turns, and some continuations.
  if (maxWaiting <= COUNTED || 1 - last >= maxWaiting) {
    const { rows: counts } = await db.executeSql(
      `SELECT count(*)::int AS count FROM (SELECT ${own} LIMIT $3) AS waiting`,
      [job, tenant, maxWaiting],
    );
    if ((counts[0] as { readonly count: number }).count >= maxWaiting) {
      throw new HttpError(
        429,
        'too_many_jobs',
        `${maxWaiting} jobs of the kind ${job} wait: that is the most of one tenant. Repeat the request later.`,
        {
          headers: { 'Retry-After': RETRY_AFTER_SECONDS },
          details: { job, limit: maxWaiting },
        },
      );
    }
  }
  return Math.max(LAST_TURN, last - 1);
};

/** Lets others run before the next attempt of a job, which has reached its time limit. */
export const letOthersPass = async (
  pool: Pick<Pool, 'query'>,
  schema: string,
  { name, id }: { readonly name: string; readonly id: string },
): Promise<void> => {
  // pg-boss changes the priority of waiting jobs only. It copies that of an attempt to the next one.
  await pool.query(
    `UPDATE ${schema}.job SET priority = greatest(priority - $3, $4)
     WHERE name = $1 AND id = $2 AND state = 'active' AND priority > $4`,
    [name, id, TURNS_AFTER_LIMIT, LAST_TURN],
  );
};

/** See `JobRun.othersWait`. */
export const othersWait = async (
  pool: Pick<Pool, 'query'>,
  { schema, job, tenant }: TenantJobs,
): Promise<boolean> => {
  const { rows } = await pool.query<{ wait: boolean }>(
    `SELECT EXISTS (
       SELECT FROM ${schema}.job AS waiting
       WHERE name = $1 AND ${WAITS} AND NOT blocked AND start_after <= now() AND group_id <> $2
         AND NOT EXISTS (
           SELECT FROM ${schema}.job AS running
           WHERE running.name = $1 AND running.state = 'active' AND running.group_id IS NOT NULL
             AND running.group_id = waiting.group_id)
     ) AS wait`,
    [job, tenant],
  );
  return rows[0]?.wait ?? false;
};
