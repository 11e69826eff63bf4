import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import type { Adapter, Provider as OidcProvider } from 'oidc-provider';
import type { Pool } from 'pg';
import type { Database } from '../../database.ts';
import { absentModel } from '../absent-model.ts';
import { compareByDigest, extraSecretMetadata } from '../client-secrets.ts';
import { Provider } from '../oidc-provider.ts';
import { type SystemApplications, systemApplications } from './applications.ts';
import { systemTokens } from './tokens.ts';

/** What the provider stores its tokens in. */
export interface ProviderStores {
  readonly pool: Pool;
  readonly database: Database;
}

/** Seconds. */
const TOKEN_TTL = 3600;
/** 48 bytes: 64 characters of base64url. */
const TOKEN_BITS = 384;
/** This provider signs nothing, but does not accept clients without a signing key. */
const unusedKey = (): JsonWebKey =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });

const adapterOf = (
  { pool, database }: ProviderStores,
  { find }: SystemApplications,
): ((model: string) => Adapter) => {
  const adapters: Readonly<Record<string, Adapter>> = {
    Client: { ...absentModel, find },
    ClientCredentials: { ...absentModel, ...systemTokens(pool, database) },
  };
  return (model) => adapters[model] ?? absentModel;
};

/** The provider for services: issues and stores their tokens (RFC 6749 section 4.4). */
export const createSystemProvider = (
  stores: ProviderStores,
  { issuer }: { readonly issuer: string },
): OidcProvider => {
  const applications = systemApplications(stores.pool);
  const provider = new Provider(issuer, {
    adapter: adapterOf(stores, applications),
    jwks: { keys: [unusedKey()] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    responseTypes: [],
    scopes: [],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    extraClientMetadata: {
      properties: ['allowed_scopes', 'is_resource_server', ...extraSecretMetadata],
    },
    formats: { bitsOfOpaqueRandomness: TOKEN_BITS },
    ttl: { ClientCredentials: TOKEN_TTL },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
    },
  });
  compareByDigest(provider, (clientId) => {
    applications.forget(clientId);
    return provider.Client.find(clientId);
  });
  return provider;
};
