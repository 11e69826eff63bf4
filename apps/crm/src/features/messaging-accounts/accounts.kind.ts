import {
  accountChange,
  type Channel,
  EmailAccount,
  EmailAccountInput,
  SmsAccount,
  SmsAccountInput,
} from '@tessera/contracts';
import type { Field, Shape } from '@tessera/fields';
import type { Vault } from '@tessera/vault';
import { declareSystemKind, type TypesOf } from '../../records/kind.ts';
import type { Records } from '../../records/records.ts';
import { hidden, hiddenJson } from '../../records/row.ts';
import {
  type AccountInput,
  type AccountRow,
  createAccountRules,
  type Settings,
} from './accounts.rules.ts';

/** What answers show of every account; the settings of its channel stand beside these fields. */
interface AccountAnswer {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  readonly has_credentials: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const channels = {
  email: { name: 'email account', create: EmailAccountInput, answer: EmailAccount },
  sms: { name: 'SMS account', create: SmsAccountInput, answer: SmsAccount },
} as const;

/** All other fields are settings of the channel, which share one JSON column. */
const OWN_FIELDS = ['name', 'is_active', 'credentials'];

/** The accounts that a tenant's messages of one channel are sent with (decision C14). */
export const declareAccounts = (channel: Channel, vault: Vault | undefined) => {
  const { name, create, answer } = channels[channel];
  const settings = Object.keys(create.fields).filter((field) => !OWN_FIELDS.includes(field));
  const computed = {
    ...Object.fromEntries(
      settings.map((field) => [field, (row: AccountRow) => row.settings[field] ?? null]),
    ),
    has_credentials: (row: AccountRow) => row.sealed_credentials !== null,
  };
  return declareSystemKind({
    table: 'messaging_accounts',
    path: `/system/${channel}/accounts`,
    name,
    create: create as Shape as Shape & Field<AccountInput>,
    answer: answer as Shape as Shape & Field<AccountAnswer>,
    computed: computed as Pick<typeof computed, 'has_credentials'>,
    hidden: {
      channel: hidden<Channel>(),
      settings: hiddenJson<Settings>(),
      sealed_credentials: hidden<Buffer | null>(),
    },
    inputOnly: ['credentials', ...settings],
    updateDescription: accountChange,
    sort: { name: 'name' },
    defaultSort: 'name',
    filters: {},
    counted: false,
    deletion: 'permanent',
    scope: () => ({ columns: { channel } }),
    rules: createAccountRules(channel, settings, vault),
  });
};

export type AccountKind = ReturnType<typeof declareAccounts>;
export type Accounts = Records<TypesOf<AccountKind>>;
