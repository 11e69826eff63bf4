import type { Channel } from '@tessera/contracts';
import type { RouteTable } from '@tessera/http-kit';
import { recordRoutes } from '../../records/routes.ts';
import type { AccountService } from './accounts.kind.ts';

export const accountRoutes = ({ email, sms }: Record<Channel, AccountService>): RouteTable => {
  const emails = recordRoutes(email.kind, email.accounts);
  const texts = recordRoutes(sms.kind, sms.accounts);
  return {
    listEmailAccounts: emails.list({ summary: 'List the email accounts of a tenant' }),
    createEmailAccount: emails.create(),
    getEmailAccount: emails.get(),
    updateEmailAccount: emails.update(),
    deleteEmailAccount: emails.delete(),
    listSmsAccounts: texts.list({ summary: 'List the SMS accounts of a tenant' }),
    createSmsAccount: texts.create(),
    getSmsAccount: texts.get(),
    updateSmsAccount: texts.update(),
    deleteSmsAccount: texts.delete(),
  };
};
