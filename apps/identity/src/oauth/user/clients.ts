import type { Adapter, AdapterPayload, Client } from 'oidc-provider';
import type { Database } from '../../database.ts';
import type { OAuthClient } from '../../generated/prisma/client.ts';
import type { ClientKind } from '../../tokens/caller.ts';
import { absentModel } from '../absent-model.ts';
import { ownSecretMetadata, secretMetadata } from '../client-secrets.ts';
import { current } from './current.ts';

/** What the provider is told of a client beyond the standard's metadata. */
export const ownMetadata = [
  'name',
  'is_trusted',
  'is_first_party',
  'tenant_id',
  'allowed_scopes',
  ...ownSecretMetadata,
];

/** RFC 6749 appendix A.1; whatever else is asked for is nobody, and never reaches the database. */
const CLIENT_ID = /^[\x20-\x7e]{1,200}$/;

const isWeb = (uri: string): boolean => /^https?:/.test(uri);

const metadataOf = ({ secretHash, redirectUris, ...client }: OAuthClient): AdapterPayload => ({
  client_id: client.clientId,
  name: client.name,
  is_trusted: client.isTrusted,
  is_first_party: client.isFirstParty,
  tenant_id: client.tenantId,
  allowed_scopes: client.allowedScopes,
  redirect_uris: redirectUris,
  application_type: redirectUris.every(isWeb) ? 'web' : 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  ...(secretHash
    ? secretMetadata({ ...client, secretHash })
    : { token_endpoint_auth_method: 'none' }),
});

/** A user-facing client; null where there is none with this id, or it is disabled. */
export const findClient = async (
  db: Pick<Database, 'oAuthClient'>,
  clientId: string,
): Promise<OAuthClient | null> =>
  CLIENT_ID.test(clientId)
    ? db.oAuthClient.findUnique({ where: { clientId, disabledAt: null } })
    : null;

/** Looks user-facing clients up. One without an address to return to cannot take part yet. */
export const clientStore: Adapter = {
  ...absentModel,
  async find(clientId) {
    const client = await findClient(current().db, clientId);
    return client && client.redirectUris.length > 0 ? metadataOf(client) : undefined;
  },
};

/** Whether it is approved without asking the user (decision I1). */
export const isTrusted = (client: Client | undefined): boolean => client?.is_trusted === true;

/** The tenant whose client it is; null for a client of the platform. */
export const tenantOf = (client: Client): string | null =>
  typeof client.tenant_id === 'string' ? client.tenant_id : null;

/** Whose client it is (decision I19). */
export const kindOf = (client: Client): ClientKind => {
  if (client.is_first_party === true) return 'first_party';
  return tenantOf(client) === null ? 'third_party' : 'tenant';
};

/** The patterns within which a third-party client may ask for permissions. */
export const allowedScopesOf = ({ allowed_scopes }: Client): readonly string[] =>
  Array.isArray(allowed_scopes) ? allowed_scopes : [];
