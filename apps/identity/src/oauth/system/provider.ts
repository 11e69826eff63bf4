import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { type Adapter, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Pool } from 'pg';
import type { Database } from '../../database.ts';
import { hasDigest } from '../../secrets.ts';
import { absentModel } from '../absent-model.ts';
import { systemApplications } from './applications.ts';
import { grantScopes } from './scopes.ts';
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
/** What every token is for: without a resource server the provider drops scopes that it was not told of. */
const RESOURCE = 'urn:tessera:services';

/** This provider signs nothing, and accepts no client's metadata where it could not sign. */
const unusedKey = (): JsonWebKey =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });

const adapterOf = ({ pool, database }: ProviderStores): ((model: string) => Adapter) => {
  const adapters: Readonly<Record<string, Adapter>> = {
    Client: { ...absentModel, find: systemApplications(pool) },
    ClientCredentials: { ...absentModel, ...systemTokens(pool, database) },
  };
  return (model) => adapters[model] ?? absentModel;
};

const ownTokensOnly = (
  _ctx: KoaContextWithOIDC,
  client: { readonly clientId: string },
  token: { readonly clientId?: string | undefined },
): boolean => token.clientId === client.clientId;

/** Settles which scopes a token gets; what is beyond the application's is refused by name. */
const settleScope = (ctx: KoaContextWithOIDC, allowed: readonly string[]): string => {
  const granted = grantScopes(allowed, [...ctx.oidc.requestParamScopes]);
  if (!granted.ok) {
    throw new errors.InvalidScope(
      `The application may not ask for ${granted.refused.join(' ')}.`,
      '',
    );
  }
  const scope = granted.scopes.join(' ');
  if (ctx.oidc.params) ctx.oidc.params.scope = scope;
  return scope;
};

/** The provider for services: client credentials, introspection and revocation (RFC 6749, 7662, 7009). */
export const createSystemProvider = (
  stores: ProviderStores,
  { issuer }: { readonly issuer: string },
): Provider => {
  const provider = new Provider(issuer, {
    adapter: adapterOf(stores),
    jwks: { keys: [unusedKey()] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    routes: systemPaths,
    responseTypes: [],
    scopes: [],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    extraClientMetadata: { properties: ['allowed_scopes'] },
    formats: { bitsOfOpaqueRandomness: TOKEN_BITS },
    ttl: { ClientCredentials: TOKEN_TTL },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: ownTokensOnly },
      revocation: { enabled: true, allowedPolicy: ownTokensOnly },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: (ctx, _resource, client) => ({
          scope: settleScope(ctx, client.allowed_scopes as string[]),
          accessTokenFormat: 'opaque',
        }),
      },
    },
  });
  // The provider's own way for secrets of which only a digest is known.
  provider.Client.prototype.compareClientSecret = function compareClientSecret(secret) {
    return hasDigest(secret, Buffer.from(this.clientSecret ?? '', 'hex'));
  };
  return provider;
};
