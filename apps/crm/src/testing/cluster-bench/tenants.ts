import { crmPermissions } from '@tessera/contracts';
import { createPool } from '@tessera/database-kit';
import { type IdentityStandIn, newTenant } from '@tessera/resource-server/testing';
import type { Policy } from '@tessera/scope-matcher';

const TENANTS = 64;
const CONTACTS_PER_TENANT = 500;

export interface BenchTenant {
  readonly id: string;
  /** The headers of a user with every permission. */
  readonly headers: Readonly<Record<string, string>>;
}

const policies = Object.keys(crmPermissions).map(
  (name): Policy => ({ action: `tenant.*.crm.${name}`, effect: 'allow' }),
);

export const signInTenants = (identity: IdentityStandIn): readonly BenchTenant[] =>
  Array.from({ length: TENANTS }, () => {
    const tenant = newTenant('acme');
    return { id: tenant.id, headers: identity.signIn({ tenants: [tenant], policies }).headers };
  });

/** Gives each tenant as many contacts. */
export const fillTenants = async (url: string, tenants: readonly BenchTenant[]): Promise<void> => {
  const pool = createPool(url, { applicationName: 'bench', statementTimeout: 0 });
  try {
    await pool.query(
      `INSERT INTO tenant_crm.contacts (tenant_id, id, first_name, last_name)
       SELECT tenant_id, gen_random_uuid(), 'Ada', number::text
       FROM unnest($1::uuid[]) AS tenant_id, generate_series(1, $2) AS number`,
      [tenants.map(({ id }) => id), CONTACTS_PER_TENANT],
    );
    await pool.query('VACUUM ANALYZE tenant_crm.contacts');
  } finally {
    await pool.end();
  }
};
