import type { StorageUsagePayload } from '@tessera/contracts';
import type { Database } from '../../database.ts';
import { readUsage } from '../../files/usage.ts';
import { Prisma } from '../../generated/prisma/client.ts';

interface TableUsage {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Uses maintained counts and table statistics; reads no record, so the cost does not depend on their number.
 */
const usage = (tenantId: string): Prisma.Sql => Prisma.sql`
  SELECT name, rows, tenant_crm.size_of_rows(name, ${tenantId}::uuid, rows) AS bytes
  FROM (
    SELECT table_name AS name, sum(count)::bigint AS rows FROM tenant_crm.record_counts
    WHERE tenant_id = ${tenantId}::uuid AND scope_column = '' GROUP BY table_name
  ) AS counted WHERE rows > 0 ORDER BY name`;

/** The number of a tenant's records and their estimated size in bytes, by table. */
export const storageUsage = async (
  database: Database,
  tenantId: string,
): Promise<StorageUsagePayload> => {
  const db = database.forTenant(tenantId);
  const tables = await db.query<TableUsage>(usage(tenantId));
  const sum = (of: 'rows' | 'bytes') => tables.reduce((total, table) => total + table[of], 0);
  const files = await readUsage(db);
  return { rows: sum('rows'), bytes: sum('bytes'), tables, files, measured_at: new Date() };
};
