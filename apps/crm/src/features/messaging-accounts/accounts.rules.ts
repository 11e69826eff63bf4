import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '@tessera/contracts';
import { HttpError, invalidField } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { RecordRow } from '../../records/row.ts';

type Credentials = Readonly<Record<string, string>>;
export type Settings = Readonly<Record<string, string | number | boolean | null>>;

/** The input that creates an account. If `credentials` is undefined, they are left unchanged. */
export interface AccountInput {
  readonly name: string;
  readonly is_active: boolean;
  readonly credentials?: Credentials | null | undefined;
  readonly [setting: string]: Settings[string] | Credentials | undefined;
}

export interface AccountRow extends RecordRow {
  readonly settings: Settings;
  readonly sealed_credentials: Buffer | null;
}

/** The purpose for which the vault seals the credentials; it prevents use with another account. */
export const credentialsPurpose = (accountId: string): string =>
  `messaging_accounts.sealed_credentials ${accountId}`;

/** The settings that determine who receives the credentials and who can read them in transit. */
const destinations: Readonly<Record<Channel, readonly string[]>> = {
  email: ['host', 'port', 'security'],
  sms: ['provider'],
};

/** The rules of one channel's accounts. Credentials are sealed; without a vault, they are rejected (503). */
export const createRules = (channel: Channel, vault: Vault | undefined) => {
  const sealed = (id: string, { credentials }: Partial<AccountInput>) => {
    if (credentials === undefined) return {};
    if (credentials === null) return { sealed_credentials: null };
    if (!vault) {
      const message = 'Credentials cannot be stored: no encryption key is configured.';
      throw new HttpError(503, 'not_ready', message);
    }
    const plain = Buffer.from(JSON.stringify(credentials));
    return { sealed_credentials: Buffer.from(vault.seal(plain, credentialsPurpose(id))) };
  };

  /** Whether these credentials are stored already. Those that no key opens any more can only be replaced. */
  const areStored = (
    { id, sealed_credentials: stored }: AccountRow,
    { credentials }: Partial<AccountInput>,
  ): boolean => {
    if (!vault || !stored || !credentials) return false;
    try {
      const opened: unknown = JSON.parse(vault.open(stored, credentialsPurpose(id)).toString());
      return isDeepStrictEqual(opened, credentials);
    } catch {
      return false;
    }
  };

  return {
    create: (input: AccountInput, { id }: { readonly id: string }) => sealed(id, input),

    /** 422 if the change would send stored credentials to a server other than the one they were entered for. */
    update(change: Partial<AccountInput>, { row }: { readonly row: AccountRow }) {
      const changed = destinations[channel].filter(
        (name) => change[name] !== undefined && change[name] !== row.settings[name],
      );
      if (changed.length > 0 && change.credentials === undefined && row.sealed_credentials) {
        throw invalidField(
          'credentials',
          `credentials must be given again when ${changed.join(', ')} changes: the stored ones belong to the previous server`,
        );
      }
      return areStored(row, change) ? {} : sealed(row.id, change);
    },
  };
};
