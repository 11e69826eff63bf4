import type { Pool, PoolClient } from 'pg';

/** The maintained counts and the actual numbers of rows, by tenant. */
export const readCounts = async (pool: Pool): Promise<{ kept: object; there: object }> => {
  const asObject = async (query: string): Promise<object> => {
    const { rows } = await pool.query(query);
    return Object.fromEntries(rows.map(({ tenant_id, count }) => [tenant_id, Number(count)]));
  };
  return {
    kept: await asObject(
      `SELECT tenant_id, sum(count) AS count FROM tenant_crm.record_counts
       WHERE table_name = 'contacts' AND scope_column = '' AND scope_id = tenant_id
       GROUP BY tenant_id HAVING sum(count) <> 0`,
    ),
    there: await asObject(
      `SELECT tenant_id, count(*) FROM tenant_crm.contacts
       WHERE deleted_at IS NULL GROUP BY tenant_id`,
    ),
  };
};

/** Runs `work` with this many connections and releases them. */
export const together = async (
  pool: Pool,
  clients: number,
  work: (clients: PoolClient[]) => Promise<unknown>,
): Promise<void> => {
  const connected = await Promise.all(Array.from({ length: clients }, () => pool.connect()));
  try {
    await work(connected);
  } finally {
    for (const client of connected) client.release();
  }
};

/** Inserts contacts of several tenants in turn, one in four of them deleted; takes the tenants and the number. */
export const INSERT = `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, deleted_at)
  SELECT gen_random_uuid(), ($1::uuid[])[1 + i % cardinality($1::uuid[])], 'A',
    CASE WHEN i % 4 = 0 THEN now() END
  FROM generate_series(1, $2::int) AS i`;
