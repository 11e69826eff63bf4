import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../database.ts';
import { signAccessToken, type TokenUse } from './access-token.ts';
import { API_SCOPE } from './scopes.ts';
import type { SigningKeys } from './signing-keys.ts';

interface TokenBasis {
  readonly userId: string;
  readonly tenantId: string | null;
  readonly sessionId: string | null;
  readonly clientId: string;
  readonly use: TokenUse;
  /** The administrator who acts as the user. */
  readonly impersonatorId?: string | null;
  /** Patterns that limit it; null: no limit. */
  readonly scopes?: readonly string[] | null;
}

export interface Grant extends TokenBasis {
  /** What the holder calls it. */
  readonly name?: string | null;
  /** The grant of the authorization code that it comes from, directly or through another token. */
  readonly grantId?: string | null;
  /** Of a sign-in that waits for its second factor: what was asked for when it began. */
  readonly remember?: boolean;
  /** Lifetime in seconds. */
  readonly lifetime: number;
}

/** A recorded token, as far as its claims repeat the record. Times in whole seconds. */
export interface TokenRecord extends TokenBasis {
  readonly id: string;
  /** The key that signs it: it ends when that key is retired (decision I23). */
  readonly kid: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface TokenSigner {
  /** The key that signs now, for the record of the token. */
  kid(): Promise<string>;
  /** The access token (RFC 9068) of a record, signed with the key that the record names. */
  sign(record: TokenRecord): string;
}

export const createTokenSigner = (
  keys: Pick<SigningKeys, 'signing' | 'signingAs'>,
  issuer: string,
): TokenSigner => ({
  kid: async () => (await keys.signing()).kid,
  sign({ id, kid, userId, tenantId, sessionId, clientId, use, impersonatorId, scopes, ...times }) {
    const claims = {
      jti: id,
      sub: userId,
      client_id: clientId,
      iat: +times.createdAt / 1000,
      exp: +times.expiresAt / 1000,
      token_use: use,
      // RFC 9068 section 2.2.3: the response of a token request has a scope, and so has its token.
      ...(use === 'code' && { scope: scopes?.join(' ') ?? API_SCOPE }),
      ...(tenantId && { tenant_id: tenantId }),
      ...(sessionId && { sid: sessionId }),
      ...(impersonatorId && { act: { sub: impersonatorId } }),
    };
    return signAccessToken(claims, keys.signingAs(kid), issuer);
  },
});

/** Issues an access token. Its record commits with the transaction: before that it admits nobody. */
export type IssueToken = (tx: Transaction, grant: Grant) => Promise<string>;

export const issueTokens =
  (signer: TokenSigner): IssueToken =>
  async (
    tx,
    { lifetime, name = null, grantId = null, scopes = null, remember = false, ...basis },
  ) => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const record = {
      ...basis,
      id: uuidv7(),
      kid: await signer.kid(),
      createdAt: new Date(now),
      expiresAt: new Date(now + lifetime * 1000),
    };
    await tx.token.create({
      data: { ...record, name, grantId, remember, ...(scopes && { scopes: [...scopes] }) },
    });
    return signer.sign({ ...record, scopes });
  };
