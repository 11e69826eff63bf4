import type { Pool } from 'pg';

/**
 * Throws unless DATABASE_DISTRIBUTED says whether Citus distributes the tables. Settings that triggers read would
 * otherwise not reach the servers with the rows.
 */
export const requireDistribution = async (
  pool: Pick<Pool, 'query'>,
  isExpected: boolean,
): Promise<void> => {
  const { rows: catalogues } = await pool.query(
    "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists",
  );
  const { rowCount } = catalogues[0].exists
    ? await pool.query(
        "SELECT FROM pg_dist_partition WHERE logicalrelid = 'tenant_crm.contacts'::regclass AND partmethod = 'h'",
      )
    : { rowCount: 0 };
  if (Boolean(rowCount) === isExpected) return;
  throw new Error(
    isExpected
      ? 'DATABASE_DISTRIBUTED is set, but the tables are not distributed. Run `crm-admin distribute`.'
      : 'The tables are distributed. Set DATABASE_DISTRIBUTED=true and DATABASE_ROW_SECURITY=false.',
  );
};
