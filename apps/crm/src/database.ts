import { createPool, createTenantDb, type TenantDb } from '@tessera/database-kit';
import type { Logger } from '@tessera/http-kit';
import type { Pool } from 'pg';

export type { TenantDb };

/** The tenants' rows. */
export interface Database {
  /** The rows of one tenant. */
  forTenant(tenantId: string): TenantDb;
  /** The pool of connections, which connects with the first query. */
  readonly pool: Pool;
  close(): Promise<void>;
}

export const migrations = new URL('../prisma/migrations', import.meta.url);

/** Gives access to the database; nothing connects before the first query. */
export const createDatabase = (
  { url, poolSize }: { readonly url: string; readonly poolSize: number },
  logger: Logger,
): Database => {
  const pool = createPool(url, {
    applicationName: 'crm',
    size: poolSize,
    schema: 'tenant_crm',
    // A plan that suits every term is a bad one for the rare ones: seconds instead of a millisecond.
    planCacheMode: 'force_custom_plan',
    onConnectionLost: (err) => logger.warn({ err }, 'an idle database connection was lost'),
  });
  return {
    pool,
    forTenant: (tenantId) => createTenantDb(pool, tenantId),
    close: () => pool.end(),
  };
};
