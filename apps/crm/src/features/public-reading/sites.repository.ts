import type { Pool } from 'pg';

/** The tenants that stored a slug when they switched public reading on. */
export const tenantsWithSlug = async (
  pool: Pick<Pool, 'query'>,
  slug: string,
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ tenant_id: string }>(
    'SELECT tenant_id FROM tenant_crm.tenants_with_public_slug($1)',
    [slug],
  );
  return rows.map(({ tenant_id }) => tenant_id);
};
