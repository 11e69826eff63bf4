import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { causeOf, recordChanges } from '../../records/record-changes.ts';

const { sql } = Prisma;

/** Adds a test to the history of an account, which may have been deleted meanwhile. */
export const recordTest = async (db: TenantDb, id: string): Promise<void> => {
  const from = sql`(SELECT id, version FROM tenant_crm.messaging_accounts
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid) AS tested`;
  const cause = causeOf({ tenantId: db.tenantId }, 'test');
  await db.query(recordChanges(db, cause, { table: 'messaging_accounts', from }));
};
