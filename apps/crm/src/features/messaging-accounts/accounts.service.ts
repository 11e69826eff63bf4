import { isUniqueViolation } from '@tessera/database-kit';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import { v7 as uuidv7 } from 'uuid';
import type { Account, AccountColumns, AccountsRepository } from './accounts.repository.ts';

/** More than this many accounts of one channel no tenant has. */
export const MOST_ACCOUNTS = 100;

type Setting = string | number | boolean | null;

/** What a caller gives; of a change, the part that changes. */
export interface AccountInput {
  readonly name: string;
  readonly is_active: boolean;
  /** Undefined: as they are. */
  readonly credentials?: Readonly<Record<string, string>> | null | undefined;
  readonly [setting: string]: Setting | Readonly<Record<string, string>> | undefined;
}

const placeOf = (id: string): string => `messaging_accounts.sealed_credentials ${id}`;

const refuseTakenName = (error: unknown): never => {
  if (!isUniqueViolation(error)) throw error;
  throw invalidField('name', 'name is that of another account of the tenant');
};

const noAccount = (): HttpError => notFound('The account');

const settingsOf = (given: Partial<AccountInput>): Record<string, Setting> => {
  const { name: _name, is_active: _active, credentials: _credentials, ...settings } = given;
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Record<string, Setting>;
};

/** What messages of a tenant are sent by, in one channel. Credentials go in and never come out. */
export class AccountsService {
  readonly #accounts: AccountsRepository;
  readonly #vault: Vault | undefined;

  /** Without a vault nothing that has to be sealed is taken. */
  constructor(accounts: AccountsRepository, vault: Vault | undefined) {
    this.#accounts = accounts;
    this.#vault = vault;
  }

  list(tenantId: string): Promise<Account[]> {
    return this.#accounts.list(tenantId);
  }

  async show(tenantId: string, id: string): Promise<Account> {
    const account = await this.#accounts.find(tenantId, id);
    if (!account) throw noAccount();
    return account;
  }

  async create(tenantId: string, given: AccountInput): Promise<Account> {
    if ((await this.#accounts.count(tenantId)) >= MOST_ACCOUNTS) {
      throw new HttpError(409, 'conflict', `A tenant has at most ${MOST_ACCOUNTS} accounts.`);
    }
    const id = uuidv7();
    const columns = {
      name: given.name,
      isActive: given.is_active,
      settings: settingsOf(given),
      sealedCredentials: this.#sealed(id, given.credentials ?? null),
    };
    return this.#accounts.insert(tenantId, id, columns).catch(refuseTakenName);
  }

  async change(tenantId: string, id: string, given: Partial<AccountInput>): Promise<Account> {
    const before = await this.show(tenantId, id);
    const columns: AccountColumns = {
      name: given.name ?? before.name,
      isActive: given.is_active ?? before.isActive,
      settings: { ...(before.settings as Record<string, Setting>), ...settingsOf(given) },
      sealedCredentials:
        given.credentials === undefined
          ? before.sealedCredentials
          : this.#sealed(id, given.credentials),
    };
    const changed = await this.#accounts.update(tenantId, id, columns).catch(refuseTakenName);
    if (!changed) throw noAccount();
    return changed;
  }

  async remove(tenantId: string, id: string): Promise<void> {
    if (!(await this.#accounts.delete(tenantId, id))) throw noAccount();
  }

  #sealed(
    id: string,
    credentials: Readonly<Record<string, string>> | null,
  ): Uint8Array<ArrayBuffer> | null {
    if (credentials === null) return null;
    if (!this.#vault) throw new HttpError(503, 'not_ready', 'There is no key to seal it with.');
    return new Uint8Array(this.#vault.seal(Buffer.from(JSON.stringify(credentials)), placeOf(id)));
  }
}
