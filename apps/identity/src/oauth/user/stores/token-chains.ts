import type { Adapter, AdapterPayload } from 'oidc-provider';
import { digest } from '../../../security/secrets.ts';
import { absentModel } from '../../absent-model.ts';
import { requestContext, type TokenChain, tokenChain } from '../request-context.ts';
import { deleteArtifact, storeArtifact } from './artifacts.ts';

interface Link extends TokenChain {
  readonly payload: AdapterPayload;
}

/**
 * Locks the user of a code or refresh token before the session: the lock order of `revokeUserTokens`, so that
 * a reuse, which ends all sessions, cannot deadlock.
 */
const lockOwner = async (model: string, id: string): Promise<void> => {
  await requestContext().db.$queryRaw`
    SELECT 1 FROM identity.users WHERE id = (
      SELECT s.user_id FROM identity.oauth_artifacts a
      JOIN identity.sessions s ON s.id = a.session_id
      WHERE a.model = ${model} AND a.id_hash = ${digest(id)})
    FOR NO KEY UPDATE`;
};

/**
 * A code or refresh token whose session and user are active, whose user has not left its tenant since, and
 * whose client, if it needs consent, has the user's consent for that tenant (a first-party client can follow
 * the user into another one). Locks it and its session until the transaction ends: of two requests with the
 * same token the second finds it spent, and tokens issued meanwhile end with the session.
 */
const findLink = async (model: string, id: string): Promise<Link | undefined> => {
  const [link] = await requestContext().db.$queryRaw<Link[]>`
    SELECT a.payload, s.id AS "sessionId", s.user_id AS "userId", s.expires_at AS "expiresAt",
      a.payload->>'tenantId' AS "tenantId", a.payload->>'name' AS name
    FROM identity.oauth_artifacts a
    JOIN identity.sessions s ON s.id = a.session_id
    JOIN identity.users u ON u.id = s.user_id
    JOIN identity.oauth_clients c ON c.client_id = a.client_id AND c.disabled_at IS NULL
    LEFT JOIN identity.consents n ON n.user_id = u.id AND n.client_id = c.client_id
    LEFT JOIN identity.memberships m
      ON m.user_id = u.id AND m.tenant_id = (a.payload->>'tenantId')::uuid
    WHERE a.model = ${model} AND a.id_hash = ${digest(id)}
      AND s.ended_at IS NULL AND s.expires_at > now() AND NOT s.pin_pending AND u.is_active
      AND (c.is_trusted OR (n.user_id IS NOT NULL AND (c.is_first_party
        OR n.tenant_id IS NOT DISTINCT FROM (a.payload->>'tenantId')::uuid)))
      AND (a.payload->>'tenantId' IS NULL OR m.created_at
        < to_timestamp(coalesce(a.payload->>'iiat', a.payload->>'iat')::bigint + 1))
    FOR NO KEY UPDATE OF a, s`;
  return link;
};

/** Identifies a code or refresh token in memory. */
const keyOf = (id: string): string => digest(id).toString('base64');

/** Marks as spent. The time of the first use stays, so that a grace period begins only once. */
const spend = async (model: string, id: string): Promise<void> => {
  const request = requestContext();
  const [spent] = await request.db.$queryRaw<{ transactionId: string }[]>`
    UPDATE identity.oauth_artifacts
    SET payload = jsonb_build_object('consumed', extract(epoch FROM now())) || payload
    WHERE model = ${model} AND id_hash = ${digest(id)}
    RETURNING pg_current_xact_id()::text AS "transactionId"`;
  if (spent) request.spent = { key: keyOf(id), ...spent };
};

const revokeByGrant = async (model: string, grantId: string): Promise<void> => {
  await requestContext().db.$executeRaw`
    DELETE FROM identity.oauth_artifacts WHERE model = ${model} AND grant_id = ${grantId}`;
};

/** Seconds since a Unix time. */
const secondsSince = (time: unknown): number => Date.now() / 1000 - Number(time);

/**
 * Stores the links of a token chain: the code that it begins with, and refresh tokens. One that was spent less
 * than `graceSeconds` ago counts as unspent, so that two tabs can renew at once, and so does one whose
 * transaction has an unknown outcome because the database was lost.
 */
export const tokenChainStore = (model: string, graceSeconds = 0): Adapter => ({
  ...absentModel,
  upsert(id, payload, expiresIn = 0) {
    const { tenantId, name } = tokenChain();
    return storeArtifact(model, id, { ...payload, tenantId, name }, expiresIn);
  },
  async find(id) {
    await lockOwner(model, id);
    const link = await findLink(model, id);
    if (!link) return undefined;
    const { payload, ...chain } = link;
    const request = requestContext();
    request.chain = chain;
    request.sessionUses.note(chain.sessionId);
    const { consumed, ...unspent } = payload;
    const isSpent =
      consumed !== undefined &&
      secondsSince(consumed) >= graceSeconds &&
      !request.uncertainCommits.has(keyOf(id));
    return { ...unspent, ...(isSpent && { consumed }), jti: id };
  },
  consume: (id) => spend(model, id),
  destroy: (id) => deleteArtifact(model, id),
  revokeByGrantId: (grantId) => revokeByGrant(model, grantId),
});
