import { createHash, randomBytes } from 'node:crypto';
import { type ApiResponse, call } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

type ClientName = keyof TestStack['system']['clients'];

/** An access token from the code flow of a client of the stack. */
const authorize = async (
  who: 'owner' | 'administrator',
  client: ClientName,
  scope?: string,
): Promise<string> => {
  const { email, password } = stack.system[who];
  const { identity_url: identity } = stack.system;
  const { client_id, client_secret, redirect_uris } = stack.system.clients[client];
  const [redirect_uri = ''] = redirect_uris;
  const login = await call('POST', `${identity}/api/auth/login`, { body: { email, password } });
  const [cookie = ''] = login.headers
    .getSetCookie()
    .filter((text) => text.includes('session='))
    .map((text) => text.split(';')[0]);
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope && { scope }),
  });
  const sent = await fetch(`${identity}/oauth/authorize?${query}`, {
    headers: { cookie },
    redirect: 'manual',
  });
  const code = new URL(sent.headers.get('location') ?? '').searchParams.get('code');
  if (code === null) throw new Error(`No code: ${sent.headers.get('location')}`);
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id,
    ...(client_secret !== null && { client_secret }),
    code,
    redirect_uri,
    code_verifier: verifier,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await call('POST', `${identity}/oauth/token`, { headers, body });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body.access_token;
};

const crm = (method: string, at: string, token: string, body?: object): Promise<ApiResponse> =>
  call(method, `${stack.crm.url}/api/crm${at}`, { token, body });

describe('the token of an app at CRM', () => {
  test('may do what its scopes cover, and no more even if its user is an owner', async () => {
    const token = await authorize('owner', 'mobile_app', 'openid tenant.*.crm.contacts.list');
    expect((await crm('GET', '/contacts', token)).status).toBe(200);
    const denied = await crm('POST', '/contacts', token, { first_name: 'Ágnes' });
    expect([denied.status, denied.body]).toEqual([
      403,
      expect.objectContaining({
        error: 'service_account_scope_denied',
        required_permission: `tenant.${stack.system.owner.tenant_slug}.crm.contacts.create`,
      }),
    ]);
  });

  test('with only scopes of OpenID Connect may do nothing', async () => {
    const token = await authorize('owner', 'mobile_app', 'openid profile email');
    const denied = await crm('GET', '/contacts', token);
    expect([denied.status, denied.body]).toEqual([
      403,
      expect.objectContaining({ error: 'insufficient_scope' }),
    ]);
  });

  test("of a tenant's client may do what its user may do there", async () => {
    const token = await authorize('owner', 'tenant');
    expect((await crm('POST', '/contacts', token, { first_name: 'Ágnes' })).status).toBe(201);
  });
});
