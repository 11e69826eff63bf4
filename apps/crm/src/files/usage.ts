import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** The bytes of a tenant's files, and their limit; null if it is the default one. */
export interface Usage {
  readonly bytes: number;
  readonly quota_bytes: number | null;
}

/** The bytes of the tenant's files. */
export const readUsage = async (db: TenantDb): Promise<Usage> => {
  const [row] = await db.query<Usage>(sql`
    SELECT bytes, quota_bytes FROM tenant_crm.file_usage WHERE tenant_id = ${db.tenantId}::uuid`);
  return row ?? { bytes: 0, quota_bytes: null };
};

/** Adds to the bytes of the tenant's files, and returns what they are then. */
export const addUsage = async (db: TenantDb, bytes: number): Promise<Usage> => {
  const [row] = await db.query<Usage>(sql`
    INSERT INTO tenant_crm.file_usage AS usage (tenant_id, bytes)
    VALUES (${db.tenantId}::uuid, ${bytes}::bigint)
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = usage.bytes + excluded.bytes
    RETURNING bytes, quota_bytes`);
  return row ?? { bytes, quota_bytes: null };
};

/** Sets the limit of the bytes of the tenant's files; null for the default. */
export const writeQuota = async (db: TenantDb, quota: number | null): Promise<Usage> => {
  const [row] = await db.query<Usage>(sql`
    INSERT INTO tenant_crm.file_usage (tenant_id, quota_bytes)
    VALUES (${db.tenantId}::uuid, ${quota}::bigint)
    ON CONFLICT (tenant_id) DO UPDATE SET quota_bytes = excluded.quota_bytes
    RETURNING bytes, quota_bytes`);
  return row ?? { bytes: 0, quota_bytes: quota };
};
