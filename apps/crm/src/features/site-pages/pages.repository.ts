import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** The position of the last page below a parent; null if there is none. */
export const lastPosition = async (
  db: TenantDb,
  parentId: string | null,
): Promise<string | null> => {
  const below = parentId === null ? sql`IS NULL` : sql`= ${parentId}::uuid`;
  const [row] = await db.query<{ position: string }>(sql`
    SELECT position FROM tenant_crm.pages
    WHERE tenant_id = ${db.tenantId}::uuid AND parent_id ${below} AND deleted_at IS NULL
    ORDER BY parent_id DESC, position DESC LIMIT 1`);
  return row?.position ?? null;
};
