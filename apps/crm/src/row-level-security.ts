import type { Pool } from 'pg';

/** The role that runs the statements of one tenant; its policies make only that tenant's rows visible. */
export const TENANT_ROLE = 'tessera_tenant';

const NOT_ALLOWED = '42501';

/**
 * Creates the role if it is missing and grants it access to the tables. If the service's user lacks the
 * privileges, throws an error that tells what an administrator must do.
 */
export const prepareTenantRole = async (pool: Pool): Promise<void> => {
  try {
    await pool.query('SELECT tenant_crm.prepare_tenant_role()');
    await pool.query(`BEGIN; SET LOCAL ROLE ${TENANT_ROLE}; COMMIT`);
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_ALLOWED) throw error;
    const { rows } = await pool.query<{ name: string }>('SELECT quote_ident(current_user) AS name');
    throw new Error(
      [
        `DATABASE_ROW_SECURITY needs the role ${TENANT_ROLE}, which ${rows[0]?.name} may not use.`,
        `As an administrator of the server: CREATE ROLE ${TENANT_ROLE} NOLOGIN (unless it exists);`,
        `GRANT ${TENANT_ROLE} TO ${rows[0]?.name}.`,
      ].join(' '),
      { cause: error },
    );
  }
};
