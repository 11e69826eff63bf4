import type { Adapter, AdapterPayload } from 'oidc-provider';
import { digest } from '../../security/secrets.ts';
import { absentModel } from '../absent-model.ts';
import { type Chain, current } from './current.ts';

export const hashOf = (id: string): Uint8Array<ArrayBuffer> => new Uint8Array(digest(id));

/** Keeps what the provider gives, by the SHA-256 of its identifier, which is a secret. */
export const keep = async (
  model: string,
  id: string,
  { jti: _, ...payload }: AdapterPayload & Partial<Pick<Chain, 'tenantId' | 'name'>>,
  expiresIn: number,
): Promise<void> => {
  await current().db.$executeRaw`
    INSERT INTO identity.oauth_artifacts (model, id_hash, payload, client_id, grant_id, session_id,
      expires_at)
    VALUES (${model}, ${hashOf(id)}, ${JSON.stringify(payload)}::jsonb, ${payload.clientId ?? null},
      ${payload.grantId ?? null}, ${payload.sessionUid ?? null}::uuid, now() + make_interval(secs => ${expiresIn}))
    ON CONFLICT (model, id_hash)
      DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`;
};

const find = async (model: string, id: string): Promise<AdapterPayload | undefined> => {
  const [found] = await current().db.$queryRaw<{ payload: AdapterPayload }[]>`
    SELECT payload FROM identity.oauth_artifacts
    WHERE model = ${model} AND id_hash = ${hashOf(id)}`;
  return found && { ...found.payload, jti: id };
};

export const destroy = async (model: string, id: string): Promise<void> => {
  await current().db.$executeRaw`
    DELETE FROM identity.oauth_artifacts WHERE model = ${model} AND id_hash = ${hashOf(id)}`;
};

/** Keeps the grants: which client was allowed what. */
export const grantStore: Adapter = {
  ...absentModel,
  upsert: (id, payload, expiresIn = 0) => keep('Grant', id, payload, expiresIn),
  find: (id) => find('Grant', id),
  destroy: (id) => destroy('Grant', id),
};

/**
 * Keeps the requests that wait for consent. The other pages need nothing but the address to come back to,
 * so that whoever has not signed in makes us write nothing.
 */
export const interactionStore: Adapter = {
  ...absentModel,
  async upsert(id, { session, ...payload }, expiresIn = 0) {
    if (payload.prompt?.name !== 'consent') return;
    const { cookie: _, ...known } = session ?? {};
    await keep('Interaction', id, { ...payload, session: known }, expiresIn);
  },
  find: (id) => find('Interaction', id),
  destroy: (id) => destroy('Interaction', id),
};
