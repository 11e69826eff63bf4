import type { Transaction } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { TokenRecord, TokenSigner } from './issue.ts';

/** In seconds. */
export interface RenewalTimes {
  /** Lifetimes of renewed tokens by use. Tokens of other uses are not renewed (decision I4). */
  readonly login: number;
  readonly switch: number;
  /** How long after its renewal a token can be renewed again; 0: never. */
  readonly grace: number;
}

export interface Renewed {
  readonly token: string;
  readonly record: TokenRecord;
  /** When the session, and with it the chain of its tokens, ends. */
  readonly chainEndsAt: Date;
}

export interface Renewal {
  readonly tokenId: string;
  /** The id of the new token. Repeating a committed renewal with the same id returns the same token. */
  readonly successorId: string;
}

interface Successor extends Renewal {
  /** The key that signs it. */
  readonly kid: string;
}

/** A new token, `reused` if the old one was already renewed, or `gone` if it is revoked or its chain has ended. */
export type RenewToken = (
  tx: Transaction,
  renewal: Renewal,
) => Promise<Renewed | 'reused' | 'gone'>;

type Row = TokenRecord & { readonly chainEndsAt: Date };

/**
 * Selects and locks the session of a token. A concurrent end of the session either waits and then revokes the
 * new token as well, or came first, and then there is no row.
 */
const chainOf = (tokenId: string) => Prisma.sql`
  chain AS MATERIALIZED (
    SELECT s.id, s.expires_at AS ends_at
    FROM identity.tokens t JOIN identity.sessions s ON s.id = t.session_id
    WHERE t.id = ${tokenId}::uuid AND s.ended_at IS NULL AND s.expires_at > now()
    FOR NO KEY UPDATE OF s)`;

/** Inserts the new token, with the user, tenant, use and name of the chain. */
const successorOf = ({ successorId, kid }: Successor, times: RenewalTimes) => Prisma.sql`
  INSERT INTO identity.tokens (id, user_id, tenant_id, session_id, client_id, use, name, grant_id,
    kid, created_at, expires_at)
  SELECT ${successorId}::uuid, user_id, tenant_id, session_id, client_id, use, name, grant_id,
    ${kid}, date_trunc('second', now()),
    date_trunc('second', least(ends_at, now() + make_interval(secs =>
      CASE use WHEN 'switch' THEN ${times.switch}::float8 ELSE ${times.login}::float8 END)))
  FROM old
  RETURNING id, user_id AS "userId", tenant_id AS "tenantId", session_id AS "sessionId",
    client_id AS "clientId", use, kid, created_at AS "createdAt", expires_at AS "expiresAt",
    (SELECT ends_at FROM old) AS "chainEndsAt"`;

/** Replaces a valid token in one statement, so that only one of several concurrent renewals succeeds. */
const rotation = ({ tokenId, ...successor }: Successor, times: RenewalTimes) => Prisma.sql`
  WITH ${chainOf(tokenId)}, old AS (
    UPDATE identity.tokens SET revoked_at = now(), replaced_by_id = ${successor.successorId}::uuid
    FROM chain WHERE tokens.id = ${tokenId}::uuid AND tokens.session_id = chain.id
      AND tokens.use IN ('login', 'switch')
      AND tokens.revoked_at IS NULL AND tokens.replaced_by_id IS NULL
    RETURNING tokens.*, chain.ends_at)
  ${successorOf({ tokenId, ...successor }, times)}`;

/** Inserts another successor of a token that was replaced within the grace period. */
const sibling = ({ tokenId, ...successor }: Successor, times: RenewalTimes) => Prisma.sql`
  WITH ${chainOf(tokenId)}, old AS (
    SELECT tokens.*, chain.ends_at FROM identity.tokens JOIN chain ON chain.id = tokens.session_id
    WHERE tokens.id = ${tokenId}::uuid AND tokens.replaced_by_id IS NOT NULL
      AND tokens.revoked_at > clock_timestamp() - make_interval(secs => ${times.grace}::float8))
  ${successorOf({ tokenId, ...successor }, times)}`;

/** Selects what an earlier attempt with the same successor has committed. */
const committed = ({ tokenId, successorId }: Renewal) => Prisma.sql`
  SELECT t.id, t.user_id AS "userId", t.tenant_id AS "tenantId", t.session_id AS "sessionId",
    t.client_id AS "clientId", t.use, t.kid, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
    s.expires_at AS "chainEndsAt"
  FROM identity.tokens old
  JOIN identity.tokens t ON t.id = old.replaced_by_id AND t.revoked_at IS NULL
  JOIN identity.sessions s ON s.id = t.session_id
  WHERE old.id = ${tokenId}::uuid AND t.id = ${successorId}::uuid`;

/** Renews tokens, in the transaction of the caller. */
export const renewTokens =
  (signer: TokenSigner, times: RenewalTimes): RenewToken =>
  async (tx, renewal) => {
    const successor = { ...renewal, kid: await signer.kid() };
    for (const statement of [
      rotation(successor, times),
      committed(renewal),
      sibling(successor, times),
    ]) {
      const [row] = await tx.$queryRaw<Row[]>(statement);
      if (!row) continue;
      const { chainEndsAt, ...record } = row;
      return { token: signer.sign(record), record, chainEndsAt };
    }
    const old = await tx.token.findUnique({ where: { id: renewal.tokenId } });
    return old?.replacedById ? 'reused' : 'gone';
  };
