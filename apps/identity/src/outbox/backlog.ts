import type { Backlog } from '@tessera/telemetry/metrics';
import type { Pool } from 'pg';

/** Reads how many events wait for the broker, and for how long. */
export const readBacklog = async (pool: Pick<Pool, 'query'>): Promise<readonly Backlog[]> => {
  const { rows } = await pool.query<Backlog>(
    `SELECT 'kafka' AS sink, count(*)::int AS pending,
       coalesce(greatest(extract(epoch FROM now() - min(created_at)), 0), 0)::float8 AS age
     FROM identity.outbox WHERE published_at IS NULL`,
  );
  return rows;
};
