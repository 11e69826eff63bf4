import type { Pool } from 'pg';

/**
 * The GRANT statements for the privileges that a role ($2) lacks to enqueue jobs in a schema ($1); null if it lacks none.
 * A migration of pg-boss, or a new queue, may add partitions of the job table.
 */
const MISSING_GRANTS = `
  SELECT string_agg(format('GRANT %s ON %s TO %I', privileges, object, $2::text), '; ') AS grants
  FROM (
    SELECT 'USAGE' AS privileges, format('SCHEMA %I', $1::text) AS object
    WHERE NOT has_schema_privilege($2, $1, 'USAGE')
    UNION ALL
    SELECT 'SELECT', format('%I.queue', $1::text)
    WHERE NOT has_table_privilege($2, format('%I.queue', $1::text), 'SELECT')
    UNION ALL
    SELECT 'SELECT, INSERT', relid::regclass::text
    FROM pg_partition_tree(format('%I.job', $1::text)::regclass)
    WHERE NOT has_table_privilege($2, relid, 'SELECT') OR NOT has_table_privilege($2, relid, 'INSERT')
  ) AS missing`;

/** Grants a role what it lacks to enqueue jobs in a schema. */
export const grantEnqueuing = async (
  pool: Pick<Pool, 'query'>,
  schema: string,
  role: string,
): Promise<void> => {
  // Replicas that start together would update the same catalog rows, so only the first one grants.
  const { rows } = await pool.query<{ grants: string | null }>(MISSING_GRANTS, [schema, role]);
  const grants = rows[0]?.grants;
  if (!grants) return;
  // Several statements in one query are one transaction.
  await pool.query(`SELECT pg_advisory_xact_lock(hashtext('grant enqueuing')); ${grants}`);
};
