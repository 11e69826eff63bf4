import type { Vault } from '@tessera/vault';
import type { Database } from '../../database.ts';
import type { Smtp, SmtpAccount } from '../../messaging/smtp.ts';
import { openActiveAccount } from '../messaging-accounts/sending-accounts.service.ts';
import type { SendTenantMail } from './disabled-mail.ts';

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
    const account = await openActiveAccount(database.forTenant(tenantId), vault, 'email');
    if (!account) return false;
    await smtp.send(account as SmtpAccount, mail);
    return true;
  };
