import type { Channel } from '@tessera/contracts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Settings } from './accounts.rules.ts';

const { sql } = Prisma;

/** An account with what sending needs. */
export interface StoredAccount {
  readonly id: string;
  readonly name: string;
  readonly settings: Settings;
  readonly sealed_credentials: Buffer | null;
}

/** An account of a channel; undefined if there is none. */
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

/** The tenant's first active account of a channel, by name; undefined if there is none. */
export const findActiveAccount = async (
  db: TenantDb,
  channel: Channel,
): Promise<StoredAccount | undefined> => {
  const [account] = await db.query<StoredAccount>(sql`
    SELECT id, name, settings, sealed_credentials FROM tenant_crm.messaging_accounts
    WHERE tenant_id = ${db.tenantId}::uuid AND channel = ${channel} AND is_active
    ORDER BY name LIMIT 1`);
  return account;
};
