import { readConfig } from '../config.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { startIdentity, testEnvironment } from '../testing/identity.ts';
import { redirectUriProblem } from './redirect-uri.ts';
import { registerTenantClient } from './registration.ts';

describe('a redirect URI', () => {
  test.each([
    'https://panel.example.com/callback',
    'https://panel.example.com/callback?from=identity',
    'http://127.0.0.1:3000/callback',
    'http://localhost/callback',
    'http://[::1]:3000/callback',
    'com.example.mobile:/callback',
  ])('%s is good', (uri) => {
    expect(redirectUriProblem(uri)).toBeUndefined();
  });

  test.each([
    'http://panel.example.com/callback',
    'https://*.example.com/callback',
    'https://panel.example.com/callback#here',
    'https://user:password@panel.example.com/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'mobile://callback',
    '/callback',
    '',
  ])('"%s" is refused', (uri) => {
    expect(redirectUriProblem(uri)).toMatch(/\S/);
  });

  test('in the configuration that is invalid is named at the start', () => {
    const given = { TENANT_CLIENT_REDIRECT_URIS: 'http://{slug}.example.com/callback' };
    expect(() => readConfig({ ...testEnvironment('postgres://x'), ...given })).toThrow(
      'TENANT_CLIENT_REDIRECT_URIS: http://{slug}.example.com/callback',
    );
  });
});

test('a tenant’s confidential client is created with the tenant, and gets codes for it', async () => {
  const identity = await startIdentity({
    TENANT_CLIENT_REDIRECT_URIS: 'https://{slug}.example.test/callback',
  });
  const { database, config } = identity.context;
  const tenant = await identity.people.tenant();
  const register = () =>
    database.$transaction((tx) => registerTenantClient(tx, tenant, config.tenantRedirectUris));
  const { clientId = '', secret = '' } = (await register()) ?? {};
  expect(await register()).toBeNull();
  expect(clientId).toBe(`tenant-${tenant.slug}`);
  const flow = new CodeFlow(identity);
  const cookie = await flow.signIn(await identity.people.user({ tenant }));
  const redirectUri = `https://${tenant.slug}.example.test/callback`;
  const { scope } = await flow.tokens({ clientId, secret, redirectUri }, cookie);
  expect(scope).toBe('api');
  await identity.stop();
});
