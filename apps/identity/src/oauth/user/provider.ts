import type { Adapter, Configuration, Provider as OidcProvider } from 'oidc-provider';
import type { Config } from '../../config.ts';
import { OIDC_SCOPES } from '../../tokens/scopes.ts';
import type { SigningKey } from '../../tokens/signing-keys.ts';
import { absentModel } from '../absent-model.ts';
import { compareByDigest } from '../client-secrets.ts';
import { Provider } from '../oidc-provider.ts';
import { userPaths } from '../paths.ts';
import { refuseWithoutChallenge } from './authorize.ts';
import { grantFor } from './grant.ts';
import { type PageSettings, pagesOf } from './pages.ts';
import { interactionsOf } from './prompts.ts';
import { secondsLeft } from './request-context.ts';
import { resourceServerOf } from './scopes.ts';
import { grantStore, interactionStore } from './stores/artifacts.ts';
import { clientStore, extraMetadata } from './stores/clients.ts';
import { tokenChainStore } from './stores/token-chains.ts';
import { sessionStore } from './stores/web-sessions.ts';
import { accessTokenStore, claimsByScope, findAccount, recordAccessToken } from './tokens.ts';

/** Seconds. */
const CODE_TTL = 60;
/** Seconds that a request waits for consent. */
const INTERACTION_TTL = 600;
/** Bits of randomness of codes and refresh tokens. */
const TOKEN_BITS = 256;

export type ProviderSettings = Pick<Config, 'issuer' | 'lifetimes' | 'permissions'> &
  PageSettings & {
    /** The name of the web session's cookie. */
    readonly cookieName: string;
  };

const ES256 = 'ES256';

const jwkOf = ({ kid, privateKey }: SigningKey) => ({
  ...privateKey.export({ format: 'jwk' }),
  kid,
  alg: ES256,
  use: 'sig',
});

/** Where each model of the provider is stored; models without a store are not used. */
const adaptersOf = ({ lifetimes }: ProviderSettings): ((model: string) => Adapter) => {
  const stores: Readonly<Record<string, Adapter>> = {
    AccessToken: accessTokenStore,
    AuthorizationCode: tokenChainStore('AuthorizationCode'),
    Client: clientStore,
    Grant: grantStore,
    Interaction: interactionStore,
    RefreshToken: tokenChainStore('RefreshToken', lifetimes.reuseGrace),
    Session: sessionStore,
  };
  return (model) => stores[model] ?? absentModel;
};

const lifetimesOf = ({ lifetimes }: ProviderSettings): Configuration['ttl'] => ({
  AccessToken: () => secondsLeft(lifetimes.accessToken),
  AuthorizationCode: CODE_TTL,
  Grant: () => secondsLeft(),
  IdToken: () => secondsLeft(lifetimes.accessToken),
  Interaction: INTERACTION_TTL,
  RefreshToken: () => secondsLeft(),
  Session: INTERACTION_TTL,
});

/** The provider's optional features: resource indicators alone, with the issuer as the only resource (decision I1). */
const featuresOf = (settings: ProviderSettings, kid: string): Configuration['features'] => ({
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  resourceIndicators: {
    enabled: true,
    defaultResource: () => settings.issuer,
    useGrantedResource: () => true,
    getResourceServerInfo: resourceServerOf(settings, kid),
  },
});

/**
 * The provider for people: authorization code with PKCE, and refresh tokens (RFC 6749, 7636, 9207). It signs
 * with the first key and accepts its own signatures by any of them.
 */
export const createUserProvider = (
  settings: ProviderSettings,
  keys: readonly SigningKey[],
): OidcProvider => {
  const { issuer, cookieName } = settings;
  const [{ kid } = { kid: '' }] = keys;
  // In the order of an authorization: endpoint, client, request, session, prompts, grant, tokens.
  const provider = new Provider(issuer, {
    routes: { authorization: userPaths.authorization, token: userPaths.token },
    adapter: adaptersOf(settings),
    features: featuresOf(settings, kid),
    renderError: (ctx, out) => {
      ctx.body = out;
    },

    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: { id_token_signed_response_alg: ES256 },
    extraClientMetadata: { properties: extraMetadata },

    responseTypes: ['code'],
    allowOmittingSingleRegisteredRedirectUri: false,
    pkce: { required: () => true },
    scopes: [...OIDC_SCOPES],

    cookies: { names: { session: cookieName } },
    expiresWithSession: () => false,
    findAccount,

    interactions: interactionsOf(pagesOf(issuer, settings)),
    loadExistingGrant: grantFor,

    jwks: { keys: keys.map(jwkOf) },
    ttl: lifetimesOf(settings),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    claims: claimsByScope,
    formats: {
      bitsOfOpaqueRandomness: TOKEN_BITS,
      customizers: { jwt: recordAccessToken(kid) },
    },
  });
  // `browserRequest` makes these headers from the issuer; nothing of them comes from the client.
  provider.proxy = true;
  compareByDigest(provider);
  // Exactly as registered: the provider would accept any port of a loopback address.
  provider.Client.prototype.redirectUriAllowed = function redirectUriAllowed(uri) {
    return this.redirectUris?.includes(uri) ?? false;
  };
  refuseWithoutChallenge(provider);
  return provider;
};
