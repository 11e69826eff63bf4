import { v7 as uuidv7 } from 'uuid';
import type { Database, Transaction } from '../../database.ts';
import type { Token } from '../../generated/prisma/client.ts';
import { type PageAsked, readPage } from '../../lists/paging.ts';
import { FIRST_PARTY } from '../../tokens/access-token.ts';
import type { TokenSigner } from '../../tokens/issue.ts';
import type { OfAccount } from '../service-accounts/service-accounts.service.ts';

/** Which key of which account. */
export interface OfKey extends OfAccount {
  readonly keyId: string;
}

/** What a key is made of. */
export interface KeyTerms {
  readonly name: string;
  /** Patterns that limit it; absent: no limit. */
  readonly scopes?: readonly string[];
  /** In whole seconds. */
  readonly expiresAt: Date;
}

export interface ApiKey extends KeyTerms {
  readonly id: string;
  readonly isRevoked: boolean;
  /** To the minute or so. */
  readonly lastUsedAt: Date | null;
}

/** A key with its text, which nothing shows again. */
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

const rowsOf = ({ tenantId, userId }: OfAccount) => ({ tenantId, userId, use: 'api_key' }) as const;

/** API keys: recorded tokens of service accounts, by id and never by their text. */
export class ApiKeysRepository {
  readonly #database: Database;
  readonly #signer: TokenSigner;

  constructor(database: Database, signer: TokenSigner) {
    this.#database = database;
    this.#signer = signer;
  }

  /** One page, the newest first, and the number of it: a page beyond the last one is the last one. */
  async list(
    account: OfAccount,
    asked: PageAsked,
  ): Promise<{ keys: ApiKey[]; page: number; total: number }> {
    const where = rowsOf(account);
    const { rows, ...at } = await readPage(this.#database, asked, {
      count: (tx) => tx.token.count({ where }),
      rows: (tx, part) => tx.token.findMany({ where, orderBy: { id: 'desc' }, ...part }),
    });
    return { keys: rows.map(keyOf), ...at };
  }

  async find(tx: Transaction, ofKey: OfKey): Promise<ApiKey | null> {
    const where = { id: ofKey.keyId, ...rowsOf(ofKey) };
    const row = await tx.token.findUnique({ where });
    return row && keyOf(row);
  }

  /** Records a key and signs it. It is good once the transaction has committed. */
  async add(
    tx: Transaction,
    { tenantId, userId }: OfAccount,
    { name, scopes, expiresAt }: KeyTerms,
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
