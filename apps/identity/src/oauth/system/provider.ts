import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import type { Adapter, Provider as OidcProvider } from 'oidc-provider';
import type { Pool } from 'pg';
import type { Database } from '../../database.ts';
import { absentModel } from '../absent-model.ts';
import { compareByDigest, ownSecretMetadata } from '../client-secrets.ts';
import { Provider } from '../oidc-provider.ts';
import { type SystemApplications, systemApplications } from './applications.ts';
import { systemTokens } from './tokens.ts';

export const systemPaths = {
  token: '/api/oauth/token',
  introspection: '/api/oauth/introspect',
  revocation: '/api/oauth/revoke',
} as const;

/** Where the provider keeps what it must. */
export interface ProviderStores {
  readonly pool: Pool;
  readonly database: Database;
}

/** Seconds. */
const TOKEN_TTL = 3600;
/** 48 bytes: 64 characters of base64url. */
const TOKEN_BITS = 384;
/** This provider signs nothing, and accepts no client's metadata where it could not sign. */
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

/** The provider for services (RFC 6749 section 4.4): makes and keeps their tokens. */
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
      properties: ['allowed_scopes', 'is_resource_server', ...ownSecretMetadata],
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
