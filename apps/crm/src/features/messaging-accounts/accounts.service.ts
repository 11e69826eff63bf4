import type { Channel } from '@tessera/contracts';
import { isUniqueViolation } from '@tessera/database-kit';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import { v7 as uuidv7 } from 'uuid';
import { preconditionFailed } from '../../records/versions.ts';
import type { Account, AccountColumns, AccountsRepository } from './accounts.repository.ts';
import { credentialsPurpose } from './credentials.ts';

/** The most accounts of one channel that a tenant has. */
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

/** The settings that decide who receives the credentials, and whether others can read them on the way. */
const destinations: Readonly<Record<Channel, readonly string[]>> = {
  email: ['host', 'port', 'security'],
  sms: ['provider'],
};

const refuseTakenName = (error: unknown): never => {
  if (!isUniqueViolation(error)) throw error;
  throw invalidField('name', 'name is already used by another account of the tenant');
};

const noAccount = (): HttpError => notFound('The account');

const settingsOf = (given: Partial<AccountInput>): Record<string, Setting> => {
  const { name: _name, is_active: _active, credentials: _credentials, ...settings } = given;
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Record<string, Setting>;
};

/** The accounts that a tenant sends messages with, in one channel. Credentials go in and never come out. */
export class AccountsService {
  readonly #channel: Channel;
  readonly #accounts: AccountsRepository;
  readonly #vault: Vault | undefined;

  /** Without a vault no credentials are accepted. */
  constructor(channel: Channel, accounts: AccountsRepository, vault: Vault | undefined) {
    this.#channel = channel;
    this.#accounts = accounts;
    this.#vault = vault;
  }

  list(tenantId: string): Promise<Account[]> {
    return this.#accounts.list(tenantId);
  }

  /** 404 where there is no such account. */
  async show(tenantId: string, id: string): Promise<Account> {
    const account = await this.#accounts.find(tenantId, id);
    if (!account) throw noAccount();
    return account;
  }

  /** 409 where the tenant has `MOST_ACCOUNTS` already, 422 on a name that is taken. */
  async create(tenantId: string, given: AccountInput): Promise<Account> {
    const id = uuidv7();
    const columns = {
      name: given.name,
      isActive: given.is_active,
      settings: settingsOf(given),
      sealedCredentials: this.#sealed(id, given.credentials ?? null),
    };
    const created = await this.#accounts
      .insert(tenantId, id, columns, MOST_ACCOUNTS)
      .catch(refuseTakenName);
    if (created) return created;
    throw new HttpError(409, 'conflict', `A tenant has at most ${MOST_ACCOUNTS} accounts.`);
  }

  /**
   * Changes what is given and nothing else. 412 where the account is in none of `versions`. 422 on
   * `credentials` where stored ones would be sent to a server that they were not given for.
   */
  async change(
    tenantId: string,
    id: string,
    given: Partial<AccountInput>,
    versions?: readonly number[],
  ): Promise<Account> {
    const sealed =
      given.credentials === undefined ? undefined : this.#sealed(id, given.credentials);
    // A change that loses against a concurrent one starts again from its result.
    for (;;) {
      const before = await this.show(tenantId, id);
      if (versions && !versions.includes(before.version)) throw preconditionFailed();
      this.#demandCredentials(before, given);
      const columns = this.#changedColumns(before, given, sealed);
      if (Object.keys(columns).length === 0) return before;
      const changed = await this.#accounts
        .update(tenantId, id, before.version, columns)
        .catch(refuseTakenName);
      if (changed) return changed;
    }
  }

  /** 404 where there is no such account, 412 where it is in none of `versions`. */
  async remove(tenantId: string, id: string, versions?: readonly number[]): Promise<void> {
    if (await this.#accounts.delete(tenantId, id, versions)) return;
    await this.show(tenantId, id);
    throw preconditionFailed();
  }

  #demandCredentials(before: Account, given: Partial<AccountInput>): void {
    if (given.credentials !== undefined || before.sealedCredentials === null) return;
    const known = before.settings as Readonly<Record<string, Setting>>;
    const changed = destinations[this.#channel].filter(
      (setting) => given[setting] !== undefined && given[setting] !== known[setting],
    );
    if (changed.length === 0) return;
    throw invalidField(
      'credentials',
      `credentials must be given again when ${changed.join(', ')} changes: the stored ones belong to the previous server`,
    );
  }

  #changedColumns(
    before: Account,
    given: Partial<AccountInput>,
    sealed: AccountColumns['sealedCredentials'] | undefined,
  ): Partial<AccountColumns> {
    const settings = settingsOf(given);
    const known = before.settings as Readonly<Record<string, Setting>>;
    return {
      ...(given.name !== undefined && { name: given.name }),
      ...(given.is_active !== undefined && { isActive: given.is_active }),
      ...(Object.keys(settings).length > 0 && { settings: { ...known, ...settings } }),
      ...(sealed !== undefined && { sealedCredentials: sealed }),
    };
  }

  #sealed(
    id: string,
    credentials: Readonly<Record<string, string>> | null,
  ): Uint8Array<ArrayBuffer> | null {
    if (credentials === null) return null;
    if (!this.#vault) throw new HttpError(503, 'not_ready', 'There is no key to seal it with.');
    const plain = Buffer.from(JSON.stringify(credentials));
    return new Uint8Array(this.#vault.seal(plain, credentialsPurpose(id)));
  }
}
