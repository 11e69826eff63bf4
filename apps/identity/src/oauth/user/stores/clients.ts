import type { Adapter, AdapterPayload, Client } from 'oidc-provider';
import type { Database } from '../../../database.ts';
import type { OAuthClient, Tenant } from '../../../generated/prisma/client.ts';
import type { ClientKind } from '../../../tokens/caller.ts';
import { absentModel } from '../../absent-model.ts';
import { CLIENT_ID } from '../../client-id.ts';
import { extraSecretMetadata, secretMetadata } from '../../client-secrets.ts';
import { requestContext } from '../request-context.ts';

/** Metadata of a client that is not in the standard; the provider must be configured to keep it. */
export const extraMetadata = [
  'name',
  'is_trusted',
  'is_first_party',
  'tenant_id',
  'tenant_slug',
  'allowed_scopes',
  ...extraSecretMetadata,
];

const isWeb = (uri: string): boolean => /^https?:/.test(uri);

type TenantClient = OAuthClient & { readonly tenant: Pick<Tenant, 'slug'> | null };

const metadataOf = ({ secretHash, redirectUris, ...client }: TenantClient): AdapterPayload => ({
  client_id: client.clientId,
  name: client.name,
  is_trusted: client.isTrusted,
  is_first_party: client.isFirstParty,
  tenant_id: client.tenantId,
  tenant_slug: client.tenant?.slug ?? null,
  allowed_scopes: client.allowedScopes,
  redirect_uris: redirectUris,
  application_type: redirectUris.every(isWeb) ? 'web' : 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  ...(secretHash
    ? secretMetadata({ ...client, secretHash })
    : { token_endpoint_auth_method: 'none' }),
});

/** A user-facing client; null if it does not exist or is disabled. */
export const findClient = async (
  db: Pick<Database, 'oAuthClient'>,
  clientId: string,
): Promise<TenantClient | null> =>
  CLIENT_ID.test(clientId)
    ? db.oAuthClient.findUnique({
        where: { clientId, disabledAt: null },
        include: { tenant: { select: { slug: true } } },
      })
    : null;

/** Looks up user-facing clients. One without a redirect URI cannot be used yet. */
export const clientStore: Adapter = {
  ...absentModel,
  async find(clientId) {
    const client = await findClient(requestContext().db, clientId);
    return client && client.redirectUris.length > 0 ? metadataOf(client) : undefined;
  },
};

/** Whether the client needs no consent (decision I1). */
export const isTrusted = (client: Client | undefined): boolean => client?.is_trusted === true;

/** The tenant that a client belongs to; null for a client of the platform or of a third party. */
export const clientTenantId = (client: Client): string | null =>
  typeof client.tenant_id === 'string' ? client.tenant_id : null;

/** The slug of that tenant. */
export const clientTenantSlug = (client: Client): string | undefined =>
  typeof client.tenant_slug === 'string' ? client.tenant_slug : undefined;

/** Whether a client belongs to the platform, a tenant or a third party (decision I19). */
export const clientKind = (client: Client): ClientKind => {
  if (client.is_first_party === true) return 'first_party';
  return clientTenantId(client) === null ? 'third_party' : 'tenant';
};

/** The patterns within which a third-party client can request permissions. */
export const allowedScopesOf = ({ allowed_scopes }: Client): readonly string[] =>
  Array.isArray(allowed_scopes) ? allowed_scopes : [];
