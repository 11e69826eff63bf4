import type { RouteTable } from '@tessera/http-kit';
import { recordRoutes } from '../../records/routes.ts';
import type { AccountKind, Accounts } from './accounts.kind.ts';
import { MAX_ACCOUNTS } from './accounts.rules.ts';

const createText = { problems: { 409: `The tenant has ${MAX_ACCOUNTS} accounts already` } };
const deleteText = { description: 'Its credentials are deleted with it.' };

/** The routes of the accounts that a tenant's emails are sent with. */
export const emailAccountRoutes = (kind: AccountKind, accounts: Accounts): RouteTable => {
  const routes = recordRoutes(kind, accounts);
  return {
    listEmailAccounts: routes.list({ summary: 'List the email accounts of a tenant' }),
    createEmailAccount: routes.create(createText),
    getEmailAccount: routes.get(),
    updateEmailAccount: routes.update(),
    deleteEmailAccount: routes.delete(deleteText),
  };
};

/** The routes of the accounts that a tenant's text messages are sent with. */
export const smsAccountRoutes = (kind: AccountKind, accounts: Accounts): RouteTable => {
  const routes = recordRoutes(kind, accounts);
  return {
    listSmsAccounts: routes.list({ summary: 'List the SMS accounts of a tenant' }),
    createSmsAccount: routes.create(createText),
    getSmsAccount: routes.get(),
    updateSmsAccount: routes.update(),
    deleteSmsAccount: routes.delete(deleteText),
  };
};
