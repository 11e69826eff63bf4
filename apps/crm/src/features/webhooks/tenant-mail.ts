import type { Vault } from '@tessera/vault';
import type { Database } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Smtp, SmtpAccount } from '../../messaging/smtp.ts';
import { credentialsPurpose } from '../messaging-accounts/accounts.rules.ts';
import type { SendTenantMail } from './disabled-mail.ts';

const { sql } = Prisma;

interface StoredAccount {
  readonly id: string;
  readonly settings: Omit<SmtpAccount, 'credentials'>;
  readonly sealed_credentials: Buffer | null;
}

/** Sends mails through the tenant's first active email account, by name. */
export const createTenantMail =
  ({
    database,
    vault,
    smtp,
  }: {
    readonly database: Pick<Database, 'forTenant'>;
    readonly vault: Vault | undefined;
    readonly smtp: Pick<Smtp, 'send'>;
  }): SendTenantMail =>
  async (tenantId, mail) => {
    const [account] = await database.forTenant(tenantId).query<StoredAccount>(sql`
      SELECT id, settings, sealed_credentials FROM tenant_crm.messaging_accounts
      WHERE tenant_id = ${tenantId}::uuid AND channel = 'email' AND is_active
      ORDER BY name LIMIT 1`);
    if (!account) return false;
    const { id, settings, sealed_credentials: sealed } = account;
    if (sealed && !vault) throw new Error('KEY_ENCRYPTION_KEYS is not configured.');
    const credentials = sealed && vault?.open(sealed, credentialsPurpose(id)).toString();
    await smtp.send(
      Object.assign({}, settings, { credentials: credentials ? JSON.parse(credentials) : null }),
      mail,
    );
    return true;
  };
