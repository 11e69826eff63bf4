import type { StorageUsagePayload } from '@tessera/contracts';
import type { Database } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

interface TableUsage {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The number is the one that lists tell, the bytes are the tenant's part of its table by number: both
 * come without a look at a single record, so that asking costs the same for a million of them.
 */
const usage = (tenantId: string): Prisma.Sql => Prisma.sql`
  SELECT table_name AS name, own AS rows, ceil(own * size / greatest(whole, 1))::bigint AS bytes
  FROM (
    SELECT table_name,
      coalesce(sum(count) FILTER (WHERE tenant_id = ${tenantId}::uuid), 0)::bigint AS own,
      sum(count) AS whole,
      pg_total_relation_size(('tenant_crm.' || quote_ident(table_name))::regclass) AS size
    FROM tenant_crm.record_counts GROUP BY table_name
  ) AS counted WHERE own > 0 ORDER BY name`;

/** How much a tenant keeps, by table. */
export const storageUsage = async (
  database: Database,
  tenantId: string,
): Promise<StorageUsagePayload> => {
  const tables = await database.forTenant(tenantId).query<TableUsage>(usage(tenantId));
  const sum = (of: 'rows' | 'bytes') => tables.reduce((total, table) => total + table[of], 0);
  return { rows: sum('rows'), bytes: sum('bytes'), tables, measured_at: new Date() };
};
