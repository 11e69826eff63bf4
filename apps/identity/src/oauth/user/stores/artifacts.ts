import type { Adapter, AdapterPayload } from 'oidc-provider';
import { digest } from '../../../security/secrets.ts';
import { absentModel } from '../../absent-model.ts';
import { requestContext, type TokenChain } from '../request-context.ts';

/** Stores an artifact of the provider under the SHA-256 of its identifier, which is a secret. */
export const storeArtifact = async (
  model: string,
  id: string,
  { jti: _, ...payload }: AdapterPayload & Partial<Pick<TokenChain, 'tenantId' | 'name'>>,
  expiresIn: number,
): Promise<void> => {
  await requestContext().db.$executeRaw`
    INSERT INTO identity.oauth_artifacts (model, id_hash, payload, client_id, grant_id, session_id,
      expires_at)
    VALUES (${model}, ${digest(id)}, ${JSON.stringify(payload)}::jsonb, ${payload.clientId ?? null},
      ${payload.grantId ?? null}, ${payload.sessionUid ?? null}::uuid, now() + make_interval(secs => ${expiresIn}))
    ON CONFLICT (model, id_hash)
      DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`;
};

const findArtifact = async (model: string, id: string): Promise<AdapterPayload | undefined> => {
  const [found] = await requestContext().db.$queryRaw<{ payload: AdapterPayload }[]>`
    SELECT payload FROM identity.oauth_artifacts
    WHERE model = ${model} AND id_hash = ${digest(id)}`;
  return found && { ...found.payload, jti: id };
};

export const deleteArtifact = async (model: string, id: string): Promise<void> => {
  await requestContext().db.$executeRaw`
    DELETE FROM identity.oauth_artifacts WHERE model = ${model} AND id_hash = ${digest(id)}`;
};

/** Stores grants: what a client was allowed. */
export const grantStore: Adapter = {
  ...absentModel,
  upsert: (id, payload, expiresIn = 0) => storeArtifact('Grant', id, payload, expiresIn),
  find: (id) => findArtifact('Grant', id),
  destroy: (id) => deleteArtifact('Grant', id),
};

/**
 * Stores the requests that wait for consent. The other pages only need the URL to return to, so that nothing
 * is written for a browser that has not signed in.
 */
export const interactionStore: Adapter = {
  ...absentModel,
  async upsert(id, { session, ...payload }, expiresIn = 0) {
    if (payload.prompt?.name !== 'consent') return;
    const { cookie: _, ...stored } = session ?? {};
    await storeArtifact('Interaction', id, { ...payload, session: stored }, expiresIn);
  },
  find: (id) => findArtifact('Interaction', id),
  destroy: (id) => deleteArtifact('Interaction', id),
};
