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
import { declareSystemKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden, hiddenJson } from '../../records/row.ts';
import {
  type AccountInput,
  type AccountRow,
  createRules,
  type Settings,
} from './accounts.rules.ts';

/** The fields that responses show for every account, next to the settings of its channel. */
type AccountAnswer = { id: string; name: string; is_active: boolean; has_credentials: boolean };

const channels = {
  email: { name: 'email account', create: EmailAccountInput, answer: EmailAccount },
  sms: { name: 'SMS account', create: SmsAccountInput, answer: SmsAccount },
} as const;

/** All other fields are settings of the channel. */
const OWN_FIELDS = ['name', 'is_active', 'credentials'];

/** The accounts that a tenant's messages of one channel are sent with (decision C14). */
export const declareAccounts = (channel: Channel, vault: Vault | undefined) => {
  const { name, create, answer } = channels[channel];
  return declareSystemKind({
    table: 'messaging_accounts',
    path: `/system/${channel}/accounts`,
    name,
    create: create as Shape as Shape & Field<AccountInput>,
    answer: answer as Shape as Shape & Field<AccountAnswer>,
    computed: { has_credentials: (row: AccountRow) => row.sealed_credentials !== null },
    hidden: {
      channel: hidden<Channel>(),
      settings: hiddenJson<Settings>(),
      sealed_credentials: hidden<Buffer | null>(),
    },
    inputOnly: ['credentials'],
    jsonFields: {
      settings: Object.keys(create.fields).filter((field) => !OWN_FIELDS.includes(field)),
    },
    maximum: 100,
    updateDescription: accountChange,
    sort: { name: 'name' },
    defaultSort: 'name',
    filters: {},
    deletion: 'permanent',
    scope: () => ({ columns: { channel } }),
    rules: createRules(channel, vault),
  });
};

/** The accounts of one channel: their kind, which depends on the vault, and their records. */
export interface AccountService {
  readonly kind: ReturnType<typeof declareAccounts>;
  readonly accounts: RecordsOf<ReturnType<typeof declareAccounts>>;
}
