import { freePort } from '@tessera/local-stack';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { User } from '../../generated/prisma/client.ts';
import { browse } from '../../testing/browse.ts';
import { CodeFlow, type TestClient } from '../../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { expectRefused } from '../../testing/tokens.ts';

let identity: TestIdentity;
let issuer: string;
let flow: CodeFlow;
let user: User;
let cookie: string;
beforeAll(async () => {
  const port = await freePort();
  issuer = `http://127.0.0.1:${port}`;
  identity = await startIdentity({ PORT: `${port}`, ISSUER: issuer });
  flow = new CodeFlow(identity);
  user = await identity.people.user({ tenant: await identity.people.tenant() });
  cookie = await flow.signIn(user);
});
afterAll(() => identity.stop());

/** Opens a URL like a browser with a session; returns the redirect. */
const visit = async (address: URL): Promise<URL> => {
  const { status, location } = await browse(address, [cookie]);
  expect(status).toBe(302);
  return new URL(location ?? '');
};

/** Verifies a token like a resource server that only knows the issuer. */
const verify = (token: string, audience: string, typ?: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`)), {
    issuer,
    audience,
    algorithms: ['ES256'],
    ...(typ && { typ }),
  });

describe('openid-client', () => {
  const insecure = { execute: [openid.allowInsecureRequests] };
  const discovered = ({ clientId, secret }: TestClient, by?: openid.ClientAuth) =>
    openid.discovery(
      new URL(issuer),
      clientId,
      secret ?? undefined,
      by ?? (secret === null ? openid.None() : undefined),
      insecure,
    );

  const authorized = async (
    config: openid.Configuration,
    { redirectUri }: TestClient,
    scope = 'openid email api',
  ) => {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    });
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    return openid.authorizationCodeGrant(config, await visit(address), checks);
  };

  test.each<[string, boolean, openid.ClientAuth | undefined]>([
    ['a confidential client with its secret in the body', false, undefined],
    ['a confidential client with HTTP Basic', false, openid.ClientSecretBasic()],
    ['a public client', true, undefined],
  ])('runs the code flow and refreshes as %s', async (_what, isPublic, by) => {
    const redirectUris = [isPublic ? 'http://127.0.0.1:3002/callback' : 'https://panel.test/cb'];
    const client = await flow.client({ isPublic, redirectUris });
    const auth = by && client.secret !== null ? openid.ClientSecretBasic(client.secret) : undefined;
    const config = await discovered(client, auth);
    const tokens = await authorized(config, client);
    expect(tokens.claims()).toMatchObject({ sub: user.id, email: user.email });
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(renewed.claims()?.sub).toBe(user.id);
    const { payload } = await verify(renewed.access_token, issuer, 'at+jwt');
    expect(payload).toMatchObject({ sub: user.id, client_id: client.clientId, token_use: 'code' });
    await verify(renewed.id_token ?? '', client.clientId);
    const me = await openid.fetchProtectedResource(
      config,
      renewed.access_token,
      new URL(`${issuer}/api/me`),
      'GET',
    );
    expect(me.status).toBe(200);
  });

  test('gets exactly what a third-party client requests', async () => {
    const allowedScopes = ['tenant.*.crm.contacts.*'];
    const client = await flow.client({ isTrusted: true, isFirstParty: false, allowedScopes });
    const config = await discovered(client);
    const supported = config.serverMetadata().scopes_supported;
    const scope = 'openid email tenant.*.crm.contacts.view';
    for (const one of scope.split(' ')) expect(supported).toContain(one);
    const tokens = await authorized(config, client, scope);
    // Some clients treat any other response as an error.
    expect(tokens.scope).toBe(scope);
    const request = (path: string) =>
      openid.fetchProtectedResource(
        config,
        tokens.access_token,
        new URL(`${issuer}${path}`),
        'GET',
      );
    expect((await request('/api/user')).status).toBe(200);
    await expect(request('/api/me')).rejects.toMatchObject({
      status: 403,
      cause: [{ scheme: 'bearer', parameters: { error: 'insufficient_scope' } }],
    });
    const { refresh_token = '' } = tokens;
    const narrow = await openid.refreshTokenGrant(config, refresh_token, { scope: 'openid' });
    expect(narrow.scope).toBe('openid');
    await expect(authorized(config, client, 'openid api')).rejects.toMatchObject({
      error: 'invalid_scope',
    });
  });

  test('gets an error when a code or a refresh token is used twice', async () => {
    const client = await flow.client();
    const config = await discovered(client);
    const { refresh_token = '' } = await authorized(config, client);
    await openid.refreshTokenGrant(config, refresh_token);
    await expect(openid.refreshTokenGrant(config, refresh_token)).rejects.toMatchObject({
      status: 400,
      error: 'invalid_grant',
    });
    cookie = await flow.signIn(user);
  });

  test('gets an error for what the user may not do', async () => {
    const { id: tenantId } = await identity.people.tenant();
    const client = await flow.client({ tenantId });
    await expect(authorized(await discovered(client), client)).rejects.toMatchObject({
      error: 'access_denied',
    });
  });

  test('revokes its refresh token at the discovered endpoint', async () => {
    const client = await flow.client();
    const config = await discovered(client);
    const { refresh_token = '', access_token } = await authorized(config, client);
    await openid.tokenRevocation(config, refresh_token);
    await expect(openid.refreshTokenGrant(config, refresh_token)).rejects.toMatchObject({
      status: 400,
      error: 'invalid_grant',
    });
    await expectRefused(identity.http, access_token);
  });

  test('gets, introspects and revokes a token of a system application', async () => {
    const { clientId, secret } = await identity.people.application('identity.tenants.list');
    const discovery = await discovered({ clientId, secret, redirectUri: '' });
    const metadata = discovery.serverMetadata();
    const { introspection_endpoint = '' } = metadata;
    const token_endpoint = String(metadata.system_token_endpoint);
    const revocation_endpoint = String(metadata.system_revocation_endpoint);
    const server = { issuer, token_endpoint, introspection_endpoint, revocation_endpoint };
    const config = new openid.Configuration(server, clientId, secret);
    openid.allowInsecureRequests(config);
    const { access_token, expires_in } = await openid.clientCredentialsGrant(config);
    expect(expires_in).toBe(3600);
    const known = await openid.tokenIntrospection(config, access_token);
    expect(known).toMatchObject({ active: true, client_id: clientId });
    await openid.tokenRevocation(config, access_token);
    expect(await openid.tokenIntrospection(config, access_token)).toEqual({ active: false });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  test.each(['oidc', 'oauth2'] as const)(
    'runs the code flow after discovery with %s, and validates each response',
    async (algorithm) => {
      const { clientId, secret, redirectUri } = await flow.client();
      const client: oauth.Client = { client_id: clientId };
      const auth = oauth.ClientSecretPost(secret ?? '');
      const url = new URL(issuer);
      const as = await oauth.processDiscoveryResponse(
        url,
        await oauth.discoveryRequest(url, { algorithm, ...insecure }),
      );
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const address = new URL(as.authorization_endpoint ?? '');
      address.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
      }).toString();
      // Also validates `iss` (RFC 9207), which discovery announces.
      const answer = oauth.validateAuthResponse(as, client, await visit(address), state);
      const response = await oauth.authorizationCodeGrantRequest(
        ...([as, client, auth, answer, redirectUri, verifier, insecure] as const),
      );
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, response);
      const refreshed = await oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(
          ...([as, client, auth, tokens.refresh_token ?? '', insecure] as const),
        ),
      );
      const request = new Request(`${issuer}/api/user`, {
        headers: { authorization: `Bearer ${refreshed.access_token}` },
      });
      const claims = await oauth.validateJwtAccessToken(as, request, issuer, insecure);
      expect(claims).toMatchObject({ sub: user.id, client_id: clientId, tenant_id: user.tenantId });
    },
  );
});

describe('jose', () => {
  test('verifies the token of a sign-in through the same JWKS', async () => {
    const { authorization } = await identity.people.signIn(user);
    const { payload } = await verify(authorization.slice(7), issuer, 'at+jwt');
    expect(payload).toMatchObject({ sub: user.id, token_use: 'login' });
  });
});
