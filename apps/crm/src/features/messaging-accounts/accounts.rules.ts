import type { Channel } from '@tessera/contracts';
import { HttpError, invalidField } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { RecordRow } from '../../records/row.ts';
import { credentialsPurpose } from './credentials.ts';

const { sql } = Prisma;

/** The most accounts of one channel that a tenant has. */
export const MAX_ACCOUNTS = 100;

type Setting = string | number | boolean | null;
type Credentials = Readonly<Record<string, string>>;
export type Settings = Readonly<Record<string, Setting>>;

/** What creating an account takes; an update takes any part of it. */
export interface AccountInput {
  readonly name: string;
  readonly is_active: boolean;
  /** Undefined: unchanged. */
  readonly credentials?: Credentials | null | undefined;
  readonly [setting: string]: Setting | Credentials | undefined;
}

export interface AccountRow extends RecordRow {
  readonly settings: Settings;
  readonly sealed_credentials: Buffer | null;
}

/** The settings that decide who receives the credentials, and whether others can read them on the way. */
const destinations: Readonly<Record<Channel, readonly string[]>> = {
  email: ['host', 'port', 'security'],
  sms: ['provider'],
};

/** 409 where the tenant has `MAX_ACCOUNTS` of the channel. */
const checkLimit = async (db: TenantDb, channel: Channel): Promise<void> => {
  // Concurrent transactions would each count too few.
  const lock = `messaging_accounts ${db.tenantId} ${channel}`;
  await db.query(sql`SELECT 1 FROM pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
  const [counted] = await db.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM tenant_crm.messaging_accounts
    WHERE tenant_id = ${db.tenantId}::uuid AND channel = ${channel}`);
  if ((counted?.count ?? 0) < MAX_ACCOUNTS) return;
  throw new HttpError(409, 'conflict', `A tenant has at most ${MAX_ACCOUNTS} accounts.`);
};

/** The rules of one channel's accounts. Credentials are sealed; without a vault none are accepted (503). */
export const createAccountRules = (
  channel: Channel,
  settingNames: readonly string[],
  vault: Vault | undefined,
) => {
  const settingsIn = (input: Partial<AccountInput>): Settings =>
    Object.fromEntries(
      settingNames.flatMap((name) => {
        const value = input[name];
        return value === undefined ? [] : [[name, value as Setting]];
      }),
    );

  const sealed = (id: string, credentials: Credentials | null): Buffer | null => {
    if (credentials === null) return null;
    if (!vault)
      throw new HttpError(503, 'not_ready', 'No key is configured to seal credentials with.');
    const plain = Buffer.from(JSON.stringify(credentials));
    return Buffer.from(vault.seal(plain, credentialsPurpose(id)));
  };

  /** 422 where stored credentials would be sent to a server that they were not given for. */
  const requireCredentials = (row: AccountRow, change: Partial<AccountInput>): void => {
    if (change.credentials !== undefined || row.sealed_credentials === null) return;
    const changed = destinations[channel].filter(
      (name) => change[name] !== undefined && change[name] !== row.settings[name],
    );
    if (changed.length === 0) return;
    throw invalidField(
      'credentials',
      `credentials must be given again when ${changed.join(', ')} changes: the stored ones belong to the previous server`,
    );
  };

  return {
    async create(input: AccountInput, { db, id }: { readonly db: TenantDb; readonly id: string }) {
      await checkLimit(db, channel);
      const credentials = input.credentials ?? null;
      return { settings: settingsIn(input), sealed_credentials: sealed(id, credentials) };
    },

    update(change: Partial<AccountInput>, { row }: { readonly row: AccountRow }) {
      requireCredentials(row, change);
      const settings = settingsIn(change);
      const { credentials } = change;
      return {
        ...(Object.keys(settings).length > 0 && { settings: { ...row.settings, ...settings } }),
        ...(credentials !== undefined && { sealed_credentials: sealed(row.id, credentials) }),
      };
    },
  };
};
