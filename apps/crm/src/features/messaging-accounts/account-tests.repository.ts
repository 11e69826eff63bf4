import type { Channel } from '@tessera/contracts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { causeOf, recordChanges } from '../../records/record-changes.ts';
import type { Settings } from './accounts.rules.ts';

const { sql } = Prisma;

/** An account with what sending needs. */
export interface StoredAccount {
  readonly id: string;
  readonly name: string;
  readonly settings: Settings;
  readonly sealed_credentials: Buffer | null;
}

export const findAccount = async (
  db: TenantDb,
  channel: Channel,
  id: string,
): Promise<StoredAccount | undefined> => {
  const [account] = await db.query<StoredAccount>(sql`
    SELECT id, name, settings, sealed_credentials FROM tenant_crm.messaging_accounts
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND channel = ${channel}`);
  return account;
};

/** Adds a test to the history of an account, which may have been deleted meanwhile. */
export const recordTest = async (db: TenantDb, id: string): Promise<void> => {
  const from = sql`(SELECT id, version FROM tenant_crm.messaging_accounts
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid) AS tested`;
  const cause = causeOf({ tenantId: db.tenantId }, 'test');
  await db.query(recordChanges(db, cause, { table: 'messaging_accounts', from }));
};
