import { createPool, createTenantDb, type TenantDb } from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';
import { TENANT_ROLE } from './row-level-security.ts';

export type { TenantDb };

/** The tenants' rows. */
export interface Database {
  /** The rows of one tenant. */
  forTenant(tenantId: string): TenantDb;
  /** For what concerns no tenant, or all of them. It connects with the first query. */
  readonly pool: Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Whether the statements of a tenant run under row-level security. */
  readonly rowSecurity: boolean;
}

export const migrations = new URL('../prisma/migrations', import.meta.url);

const SCHEMA = 'tenant_crm';

/** Gives access to the database; nothing connects before the first query. */
export const createDatabase = (
  { url, poolSize, rowSecurity }: DatabaseOptions,
  logger: Logger,
): Database => {
  const pool = createPool(url, {
    applicationName: 'crm',
    size: poolSize,
    schema: SCHEMA,
    // A plan that suits every term is a bad one for the rare ones: seconds instead of a millisecond.
    planCacheMode: 'force_custom_plan',
    onConnectionLost: (err) => logger.warn({ err }, 'an idle database connection was lost'),
  });
  const options = rowSecurity
    ? { role: TENANT_ROLE, readSchema: 'tenant_rows' }
    : { readSchema: SCHEMA };
  return {
    pool,
    forTenant: (tenantId) => createTenantDb(pool, tenantId, options),
    close: () => pool.end(),
  };
};
