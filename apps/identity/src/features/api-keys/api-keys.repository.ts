import type { PageRequest } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Transaction } from '../../database.ts';
import type { Token } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { FIRST_PARTY } from '../../tokens/access-token.ts';
import type { TokenSigner } from '../../tokens/issue.ts';
import type { ServiceAccountRef } from '../service-accounts/service-accounts.service.ts';

/** Identifies an API key. */
export interface ApiKeyRef extends ServiceAccountRef {
  readonly keyId: string;
}

/** What is needed to issue a key. */
export interface ApiKeyInput {
  readonly name: string;
  /** Patterns that limit the key's permissions; absent means no limit. */
  readonly scopes?: readonly string[];
  /** With a precision of one second. */
  readonly expiresAt: Date;
}

export interface ApiKey extends ApiKeyInput {
  readonly id: string;
  readonly isRevoked: boolean;
  /** With a precision of about a minute. */
  readonly lastUsedAt: Date | null;
}

/** A key with its secret, which is shown only once. */
export interface IssuedKey extends ApiKey {
  readonly key: string;
}

const keyOf = ({ id, name, scopes, expiresAt, revokedAt, lastUsedAt }: Token): ApiKey => ({
  id,
  name: name ?? '',
  expiresAt,
  lastUsedAt,
  ...(scopes.length > 0 && { scopes }),
  isRevoked: revokedAt !== null,
});

const rowsOf = ({ tenantId, userId }: ServiceAccountRef) =>
  ({ tenantId, userId, use: 'api_key' }) as const;

/** API keys are tokens of service accounts; only their ids are stored, never the secret. */
export class ApiKeysRepository {
  readonly #database: Database;
  readonly #signer: TokenSigner;

  constructor(database: Database, signer: TokenSigner) {
    this.#database = database;
    this.#signer = signer;
  }

  /** One page, newest first, and its number. A page beyond the last one returns the last one. */
  async list(
    account: ServiceAccountRef,
    page: PageRequest,
  ): Promise<{ keys: ApiKey[]; page: number; total: number }> {
    const where = rowsOf(account);
    const { rows, ...at } = await readPage(this.#database, page, {
      count: (tx) => tx.token.count({ where }),
      rows: (tx, part) => tx.token.findMany({ where, orderBy: { id: 'desc' }, ...part }),
    });
    return { keys: rows.map(keyOf), ...at };
  }

  async find(tx: Transaction, keyRef: ApiKeyRef): Promise<ApiKey | null> {
    const where = { id: keyRef.keyId, ...rowsOf(keyRef) };
    const row = await tx.token.findUnique({ where });
    return row && keyOf(row);
  }

  /** How many keys of the account are valid. */
  countValid(tx: Transaction, account: ServiceAccountRef): Promise<number> {
    const where = { ...rowsOf(account), revokedAt: null, expiresAt: { gt: new Date() } };
    return tx.token.count({ where });
  }

  /** Stores and signs a key. It becomes valid when the transaction commits. */
  async add(
    tx: Transaction,
    { tenantId, userId }: ServiceAccountRef,
    { name, scopes, expiresAt }: ApiKeyInput,
  ): Promise<IssuedKey> {
    const record = {
      ...rowsOf({ tenantId, userId }),
      id: uuidv7(),
      kid: await this.#signer.kid(),
      clientId: FIRST_PARTY,
      sessionId: null,
      expiresAt,
      createdAt: new Date(Math.floor(Date.now() / 1000) * 1000),
    };
    const row = await tx.token.create({
      data: { ...record, name, ...(scopes && { scopes: [...scopes] }) },
    });
    return { ...keyOf(row), key: this.#signer.sign(record) };
  }
}
