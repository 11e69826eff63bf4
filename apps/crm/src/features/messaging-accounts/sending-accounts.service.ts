import type { Channel } from '@tessera/contracts';
import { HttpError } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { TenantDb } from '../../database.ts';
import { credentialsPurpose } from './accounts.rules.ts';
import { findActiveAccount, type StoredAccount } from './stored-accounts.repository.ts';

const openCredentials = (vault: Vault, id: string, sealed: Uint8Array): Buffer => {
  try {
    return vault.open(sealed, credentialsPurpose(id));
  } catch (cause) {
    const message =
      'The credentials cannot be decrypted. Enter them again, or ask the operator for the encryption key.';
    throw new HttpError(503, 'not_ready', message, { cause });
  }
};

/** The settings of an account with its credentials, or null for none. Throws 503 if they cannot be decrypted. */
export const openedAccount = (
  vault: Vault | undefined,
  { id, settings, sealed_credentials: sealed }: Omit<StoredAccount, 'name'>,
): object => {
  if (sealed === null) return { ...settings, credentials: null };
  if (!vault) {
    const message = 'The credentials cannot be decrypted: no encryption key is configured.';
    throw new HttpError(503, 'not_ready', message);
  }
  const credentials: unknown = JSON.parse(String(openCredentials(vault, id, sealed)));
  return { ...settings, credentials };
};

/** The same of the tenant's first active account of a channel, by name; undefined if there is none. */
export const openActiveAccount = async (
  db: TenantDb,
  vault: Vault | undefined,
  channel: Channel,
): Promise<object | undefined> => {
  const account = await findActiveAccount(db, channel);
  return account && openedAccount(vault, account);
};
