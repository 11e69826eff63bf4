import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../database.ts';
import { signAccessToken, type TokenUse } from './access-token.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface Grant {
  readonly userId: string;
  readonly tenantId: string | null;
  readonly sessionId: string | null;
  readonly clientId: string;
  readonly use: TokenUse;
  /** Lifetime in seconds. */
  readonly lifetime: number;
}

/** Issues an access token (RFC 9068). Its record commits with the transaction: before that it admits nobody. */
export type IssueToken = (tx: Transaction, grant: Grant) => Promise<string>;

export const issueTokens =
  (keys: SigningKeys, issuer: string): IssueToken =>
  async (tx, { userId, tenantId, sessionId, clientId, use, lifetime }) => {
    const key = await keys.signing();
    const id = uuidv7();
    const iat = Math.floor(Date.now() / 1000);
    const exp = iat + lifetime;
    await tx.token.create({
      data: {
        ...{ id, userId, tenantId, sessionId, clientId, use },
        createdAt: new Date(iat * 1000),
        expiresAt: new Date(exp * 1000),
      },
    });
    const claims = {
      ...{ jti: id, sub: userId, client_id: clientId, iat, exp, token_use: use },
      ...(tenantId && { tenant_id: tenantId }),
      ...(sessionId && { sid: sessionId }),
    };
    return signAccessToken(claims, key, issuer);
  };
