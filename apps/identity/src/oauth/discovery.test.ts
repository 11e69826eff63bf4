import { startIdentity, type TestIdentity } from '../testing/identity.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

describe.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
  '%s',
  (path) => {
    test('names what exists, under the configured issuer whatever the Host header says', async () => {
      const answer = await identity.http.get(path).set('host', 'evil.test');
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        issuer: 'https://identity.test',
        token_endpoint: 'https://identity.test/api/oauth/token',
        introspection_endpoint: 'https://identity.test/api/oauth/introspect',
        revocation_endpoint: 'https://identity.test/api/oauth/revoke',
        jwks_uri: 'https://identity.test/.well-known/jwks.json',
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      });
      expect(JSON.stringify(answer.body)).not.toContain('evil');
    });

    test('names no address that is not there', async () => {
      const { body } = await identity.http.get(path);
      const addresses = Object.entries(body as Record<string, string>)
        .filter(([name]) => /_(endpoint|uri|documentation)$/.test(name))
        .map(([, address]) => new URL(address).pathname);
      expect(addresses).toHaveLength(5);
      for (const address of addresses) {
        const { status } = await fetch(identity.url + address, { redirect: 'manual' });
        expect([address, status]).not.toEqual([address, 404]);
      }
    });
  },
);
