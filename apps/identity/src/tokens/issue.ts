import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../database.ts';
import { signAccessToken, type TokenUse } from './access-token.ts';
import type { SigningKeys } from './signing-keys.ts';

interface TokenBasis {
  readonly userId: string;
  readonly tenantId: string | null;
  readonly sessionId: string | null;
  readonly clientId: string;
  readonly use: TokenUse;
  /** The administrator who acts as the user. */
  readonly impersonatorId?: string | null;
}

export interface Grant extends TokenBasis {
  /** What the holder calls it. */
  readonly name?: string | null;
  /** The grant of the authorization code that it comes from. */
  readonly grantId?: string | null;
  /** Of a sign-in that waits for its second factor: what was asked for when it began. */
  readonly remember?: boolean;
  /** Lifetime in seconds. */
  readonly lifetime: number;
}

/** A recorded token, as far as its claims repeat the record. Times in whole seconds. */
export interface TokenRecord extends TokenBasis {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Gives the access token (RFC 9068) of a record. */
export type SignToken = (record: TokenRecord) => Promise<string>;

export const signTokens =
  (keys: SigningKeys, issuer: string): SignToken =>
  async ({ id, userId, tenantId, sessionId, clientId, use, impersonatorId, ...times }) => {
    const [iat, exp] = [+times.createdAt / 1000, +times.expiresAt / 1000];
    const claims = {
      ...{ jti: id, sub: userId, client_id: clientId, iat, exp, token_use: use },
      ...(tenantId && { tenant_id: tenantId }),
      ...(sessionId && { sid: sessionId }),
      ...(impersonatorId && { act: { sub: impersonatorId } }),
    };
    return signAccessToken(claims, await keys.signing(), issuer);
  };

/** Issues an access token. Its record commits with the transaction: before that it admits nobody. */
export type IssueToken = (tx: Transaction, grant: Grant) => Promise<string>;

export const issueTokens = (keys: SigningKeys, issuer: string): IssueToken => {
  const sign = signTokens(keys, issuer);
  return async (tx, { lifetime, name = null, grantId = null, remember = false, ...basis }) => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const record = {
      ...basis,
      id: uuidv7(),
      createdAt: new Date(now),
      expiresAt: new Date(now + lifetime * 1000),
    };
    await tx.token.create({ data: { ...record, name, grantId, remember } });
    return sign(record);
  };
};
