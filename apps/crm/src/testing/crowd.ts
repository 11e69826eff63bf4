import type { Pool } from 'pg';
import type { Caller } from '../http.ts';
import { callerIn } from './records.ts';

/** The sort keys of contacts and their columns. */
export const columns = {
  name: 'sort_name',
  email: 'email',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;

type Sort = keyof typeof columns;

/** Creates contacts in a new tenant with few distinct values, so that only their ids make the order total. */
export const crowd = async (pool: Pool, size: number): Promise<Caller> => {
  const caller = callerIn();
  await pool.query(
    `INSERT INTO tenant_crm.contacts
       (id, tenant_id, first_name, last_name, email, created_at, updated_at, tags)
     SELECT gen_random_uuid(), $1, 'Ada', chr(65 + i % 7), CASE WHEN i % 3 > 0 THEN i % 5 || '@x.y' END,
       timestamptz '2026-01-01Z' + i % 11 * interval '1 day', now() - i % 2 * interval '1 hour',
       CASE WHEN i % 2 = 0 THEN ARRAY['even'] ELSE '{}' END
     FROM generate_series(1, $2) AS i`,
    [caller.tenantId, size],
  );
  return caller;
};

/** The ids in the order that a plain query returns. */
export const inOrder = async (
  pool: Pool,
  tenantId: string,
  sort: Sort,
  descending: boolean,
  condition = 'true',
): Promise<string[]> => {
  const direction = descending ? 'DESC' : 'ASC';
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM tenant_crm.contacts
     WHERE tenant_id = $1 AND deleted_at IS NULL AND ${condition}
     ORDER BY ${columns[sort]} ${direction}, id ${direction}`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
};
