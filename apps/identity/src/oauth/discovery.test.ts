import { startIdentity, type TestIdentity } from '../testing/identity.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

describe.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
  '%s',
  (path) => {
    test('names the existing endpoints under the configured issuer, whatever the Host header', async () => {
      const answer = await identity.http.get(path).set('host', 'evil.test');
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        issuer: 'https://identity.test',
        authorization_endpoint: 'https://identity.test/oauth/authorize',
        token_endpoint: 'https://identity.test/oauth/token',
        system_token_endpoint: 'https://identity.test/api/oauth/token',
        introspection_endpoint: 'https://identity.test/api/oauth/introspect',
        revocation_endpoint: 'https://identity.test/oauth/revoke',
        system_revocation_endpoint: 'https://identity.test/api/oauth/revoke',
        jwks_uri: 'https://identity.test/.well-known/jwks.json',
        grant_types_supported: ['authorization_code', 'refresh_token'],
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        id_token_signing_alg_values_supported: ['ES256'],
        token_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
          'none',
        ],
        introspection_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
        ],
        authorization_response_iss_parameter_supported: true,
      });
      expect(JSON.stringify(answer.body)).not.toContain('evil');
    });

    test('names no endpoint that does not exist', async () => {
      const { body } = await identity.http.get(path);
      const addresses = Object.entries(body as Record<string, string>)
        .filter(([name]) => /_(endpoint|uri|documentation)$/.test(name))
        .map(([, address]) => new URL(address).pathname);
      expect(addresses).toHaveLength(8);
      for (const address of addresses) {
        const { status } = await fetch(identity.url + address, { redirect: 'manual' });
        expect([address, status]).not.toEqual([address, 404]);
      }
    });
  },
);
