import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** A bot with the hash of its token's secret; undefined if there is none, or if it is deleted. */
export const findBot = async (
  db: TenantDb,
  botId: string,
): Promise<{ readonly name: string; readonly token_hash: string } | undefined> => {
  const [bot] = await db.query<{ name: string; token_hash: string }>(sql`
    SELECT name, token_hash FROM tenant_crm.bots
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${botId}::uuid AND deleted_at IS NULL`);
  return bot;
};
