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
  /** Patterns that limit what the token can do; null: no limit. */
  readonly scopes?: readonly string[] | null;
}

export interface Grant extends TokenBasis {
  /** Chosen by the holder. */
  readonly name?: string | null;
  /** The grant of the authorization code that it originates from, directly or through another token. */
  readonly grantId?: string | null;
  /** Whether it has fewer scopes than that grant. */
  readonly isNarrowed?: boolean;
  /** For a sign-in that waits for its second factor: whether "remember me" was requested. */
  readonly remember?: boolean;
  /** Lifetime in seconds. */
  readonly lifetime: number;
}

/** The part of a token's record that its claims repeat. Times in whole seconds. */
export interface TokenRecord extends TokenBasis {
  readonly id: string;
  /** The key that signs it. The token ends when the key is retired (decision I23). */
  readonly kid: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface TokenSigner {
  /** The id of the current signing key, for the record of the token. */
  kid(): Promise<string>;
  /** Signs the access token (RFC 9068) of a record with the record's key. */
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
      // RFC 9068 section 2.2.3: required because the token response contains a scope.
      ...(use === 'code' && { scope: scopes?.join(' ') ?? API_SCOPE }),
      ...(tenantId && { tenant_id: tenantId }),
      ...(sessionId && { sid: sessionId }),
      ...(impersonatorId && { act: { sub: impersonatorId } }),
    };
    return signAccessToken(claims, keys.signingAs(kid), issuer);
  },
});

/** Issues an access token. It is valid once the transaction, which records it, has committed. */
export type IssueToken = (tx: Transaction, grant: Grant) => Promise<string>;

export const issueTokens =
  (signer: TokenSigner): IssueToken =>
  async (
    tx,
    {
      lifetime,
      name = null,
      grantId = null,
      isNarrowed = false,
      scopes = null,
      remember = false,
      ...basis
    },
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
      data: {
        ...record,
        name,
        grantId,
        isNarrowed,
        remember,
        ...(scopes && { scopes: [...scopes] }),
      },
    });
    return signer.sign({ ...record, scopes });
  };
