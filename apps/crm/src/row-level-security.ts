import type { Pool } from 'pg';

/** The role that runs the statements of one tenant; its policies make only that tenant's rows visible. */
export const TENANT_ROLE = 'tessera_tenant';

const NOT_ALLOWED = '42501';

/** Whether the pool's user may act as the role, and the user's name as SQL. */
const findUser = async (pool: Pool): Promise<{ name: string; hasRole: boolean }> => {
  const { rows } = await pool.query<{ name: string; hasRole: boolean }>(
    `SELECT quote_ident(current_user) AS name, EXISTS (
       SELECT FROM pg_roles WHERE rolname = $1 AND pg_has_role(oid, 'USAGE')
     ) AS "hasRole"`,
    [TENANT_ROLE],
  );
  return rows[0] as { name: string; hasRole: boolean };
};

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
    const { name, hasRole } = await findUser(pool);
    const remedy = hasRole
      ? [
          `DATABASE_ROW_SECURITY needs privileges that ${name} cannot grant to ${TENANT_ROLE}`,
          `(${(error as Error).message}).`,
          'As the owner of the tables: SELECT tenant_crm.prepare_tenant_role().',
        ]
      : [
          `DATABASE_ROW_SECURITY needs the role ${TENANT_ROLE}, which ${name} may not use.`,
          `As an administrator of the server: CREATE ROLE ${TENANT_ROLE} NOLOGIN (unless it exists);`,
          `GRANT ${TENANT_ROLE} TO ${name}.`,
        ];
    throw new Error(remedy.join(' '), { cause: error });
  }
};
