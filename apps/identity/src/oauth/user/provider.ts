import type { Adapter, Configuration, Provider as OidcProvider } from 'oidc-provider';
import type { Config } from '../../config.ts';
import { OIDC_SCOPES } from '../../tokens/scopes.ts';
import type { SigningKey } from '../../tokens/signing-keys.ts';
import { absentModel } from '../absent-model.ts';
import { compareByDigest } from '../client-secrets.ts';
import { Provider } from '../oidc-provider.ts';
import { accessTokenStore, recordAccessToken } from './access-tokens.ts';
import { claimsByScope, findAccount } from './account.ts';
import { grantStore, interactionStore } from './artifacts.ts';
import { chainStore } from './chains.ts';
import { clientStore, ownMetadata } from './clients.ts';
import { current, secondsLeft } from './current.ts';
import { grantOf } from './grants.ts';
import { type PageSettings, type Pages, pagesOf } from './pages.ts';
import { userPaths } from './paths.ts';
import { promptPolicy } from './policy.ts';
import { refuseDirectly } from './refusals.ts';
import { audienceOf } from './scopes.ts';
import { sessionStore } from './web-session.ts';

/** Seconds. */
const CODE_TTL = 60;
/** Seconds that a request waits for consent. */
const INTERACTION_TTL = 600;
/** Characters of 6 bits: 256 bits of randomness. */
const TOKEN_BITS = 256;

export type ProviderSettings = Pick<Config, 'issuer' | 'lifetimes'> &
  PageSettings & {
    /** Of the web session. */
    readonly cookieName: string;
  };

const ES256 = 'ES256';

const jwkOf = ({ kid, privateKey }: SigningKey) => ({
  ...privateKey.export({ format: 'jwk' }),
  kid,
  alg: ES256,
  use: 'sig',
});

const adaptersOf = ({ lifetimes }: ProviderSettings): ((model: string) => Adapter) => {
  const stores: Readonly<Record<string, Adapter>> = {
    AccessToken: accessTokenStore,
    AuthorizationCode: chainStore('AuthorizationCode'),
    Client: clientStore,
    Grant: grantStore,
    Interaction: interactionStore,
    RefreshToken: chainStore('RefreshToken', lifetimes.reuseGrace),
    Session: sessionStore,
  };
  return (model) => stores[model] ?? absentModel;
};

/** By prompt, the page that a person is sent to. */
const addressOf = (pages: Pages, prompt: string, uid: string): string => {
  const { returnTo = '' } = current();
  switch (prompt) {
    case 'login':
      return pages.signIn(returnTo);
    case 'create':
      return pages.create(returnTo);
    case 'select_account':
      return pages.selectAccount(returnTo);
    case 'pin':
      return pages.pin(returnTo);
    case 'confirm_address':
      return pages.confirmAddress(returnTo);
    case 'change_password':
      return pages.changePassword(returnTo);
    default:
      return pages.consent(uid);
  }
};

const ttlOf = ({ lifetimes }: ProviderSettings): Configuration['ttl'] => ({
  AccessToken: () => secondsLeft(lifetimes.accessToken),
  AuthorizationCode: CODE_TTL,
  Grant: () => secondsLeft(),
  IdToken: () => secondsLeft(lifetimes.accessToken),
  Interaction: INTERACTION_TTL,
  RefreshToken: () => secondsLeft(),
  Session: INTERACTION_TTL,
});

/** The only audience is the issuer itself: its services accept the token as the user's (decision I1). */
const featuresOf = ({ issuer }: ProviderSettings, kid: string): Configuration['features'] => ({
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  resourceIndicators: {
    enabled: true,
    defaultResource: () => issuer,
    useGrantedResource: () => true,
    getResourceServerInfo: audienceOf(issuer, kid),
  },
});

/**
 * The provider for people: authorization code with PKCE, and refresh tokens (RFC 6749, 7636, 9207). It
 * signs with the first of the keys, and knows its own signature by any of them.
 */
export const createUserProvider = (
  settings: ProviderSettings,
  keys: readonly SigningKey[],
): OidcProvider => {
  const { issuer, cookieName } = settings;
  const pages = pagesOf(issuer, settings);
  const [{ kid } = { kid: '' }] = keys;
  const provider = new Provider(issuer, {
    adapter: adaptersOf(settings),
    jwks: { keys: keys.map(jwkOf) },
    clientDefaults: { id_token_signed_response_alg: ES256 },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    extraClientMetadata: { properties: ownMetadata },
    responseTypes: ['code'],
    scopes: [...OIDC_SCOPES],
    claims: claimsByScope,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    routes: { authorization: userPaths.authorization, token: userPaths.token },
    cookies: { names: { session: cookieName } },
    formats: {
      bitsOfOpaqueRandomness: TOKEN_BITS,
      customizers: { jwt: recordAccessToken(kid) },
    },
    findAccount,
    loadExistingGrant: grantOf,
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    ttl: ttlOf(settings),
    interactions: {
      policy: promptPolicy(),
      url: (_ctx, { prompt, uid }) => addressOf(pages, prompt.name, uid),
    },
    renderError: (ctx, out) => {
      ctx.body = out;
    },
    features: featuresOf(settings, kid),
  });
  // Its addresses are made for it from the issuer; nothing of this comes from outside.
  provider.proxy = true;
  compareByDigest(provider);
  // Exactly as registered: the provider would let any port of a loopback address pass.
  provider.Client.prototype.redirectUriAllowed = function redirectUriAllowed(uri) {
    return this.redirectUris?.includes(uri) ?? false;
  };
  refuseDirectly(provider);
  return provider;
};
