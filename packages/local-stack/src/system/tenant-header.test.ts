import { startIdentityStub } from '../identity-stub/stub.ts';
import { type ApiResponse, call, signIn } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
  for (const [who, first_name] of [
    ['owner', 'Ágnes'],
    ['other_owner', 'Gerda'],
  ] as const) {
    const token = await signIn(stack, who);
    expect((await contacts('POST', { token, body: { first_name } })).status).toBe(201);
  }
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

const contacts = (
  method: string,
  { tenant, ...options }: { token: string; tenant?: string; body?: object },
): Promise<ApiResponse> =>
  call(method, `${stack.crm.url}/api/crm/contacts`, {
    ...options,
    ...(tenant !== undefined && { headers: { 'x-tenant': tenant } }),
  });

/** A token of the system application, with the given scopes or with all of its scopes. */
const systemToken = async (scope?: string): Promise<string> => {
  const { client_id, client_secret } = stack.system.system_application;
  const fields = { grant_type: 'client_credentials', client_id, client_secret };
  const granted = await call('POST', `${stack.identity.url}/api/oauth/token`, {
    body: { ...fields, ...(scope !== undefined && { scope }) },
  });
  expect([granted.status, granted.text]).toEqual([200, expect.any(String)]);
  return granted.body.access_token;
};

const names = ({ body }: ApiResponse): string[] =>
  (body.data as unknown as { first_name: string }[]).map(({ first_name }) => first_name);
const refusal = ({ status, body }: ApiResponse): [number, unknown] => [
  status,
  (body as unknown as { error: unknown }).error,
];
const FORBIDDEN = [403, 'tenant_forbidden'];

describe('a system application that names a tenant', () => {
  test('reads and creates the records of that tenant, within its scopes', async () => {
    const token = await systemToken();
    expect(names(await contacts('GET', { token, tenant: 'acme' }))).toEqual(['Ágnes']);
    const body = { first_name: 'Pipeline' };
    expect((await contacts('POST', { token, tenant: 'globex', body })).status).toBe(201);
    expect(names(await contacts('GET', { token, tenant: 'globex' })).sort()).toEqual([
      'Gerda',
      'Pipeline',
    ]);
  });

  test('may alternate between tenants: what is cached for one is not used for another', async () => {
    const token = await systemToken();
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) {
      const seen = names(await contacts('GET', { token, tenant }));
      expect([tenant, seen.includes('Ágnes'), seen.includes('Gerda')]).toEqual([
        tenant,
        tenant === 'acme',
        tenant === 'globex',
      ]);
      // A cached caller must not help a request that names no tenant or an unknown one.
      expect(refusal(await contacts('GET', { token }))).toEqual(FORBIDDEN);
      expect(refusal(await contacts('GET', { token, tenant: 'initech' }))).toEqual(FORBIDDEN);
    }
  });

  test('is refused what its scopes do not cover, and the response names the permission', async () => {
    const token = await systemToken('tenant.*.crm.contacts.list');
    expect((await contacts('GET', { token, tenant: 'acme' })).status).toBe(200);
    const refused = await contacts('POST', { token, tenant: 'acme', body: { first_name: 'No' } });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      error: 'service_account_scope_denied',
      required_permission: 'tenant.acme.crm.contacts.create',
    });
  });

  test('gets the same error for a tenant outside its scopes and for an unknown one', async () => {
    const token = await systemToken('tenant.acme.crm.contacts.*');
    expect((await contacts('GET', { token, tenant: 'acme' })).status).toBe(200);
    const foreign = await contacts('GET', { token, tenant: 'globex' });
    const unknown = await contacts('GET', { token, tenant: 'initech' });
    expect(refusal(foreign)).toEqual(FORBIDDEN);
    expect([unknown.status, unknown.text]).toEqual([foreign.status, foreign.text]);
  });

  test.each(['ACME', 'acme, globex', ' ', '../acme', '*', 'á'])(
    '"%s" is no tenant',
    async (tenant) => {
      const token = await systemToken();
      const encoded = Buffer.from(tenant).toString('latin1');
      expect(refusal(await contacts('GET', { token, tenant: encoded }))).toEqual(FORBIDDEN);
    },
  );

  test('must name a tenant', async () => {
    const answer = await contacts('GET', { token: await systemToken() });
    expect(refusal(answer)).toEqual(FORBIDDEN);
    expect(answer.text).toContain('X-Tenant');
  });
});

describe('a person', () => {
  test('may name only the tenant of the token', async () => {
    const token = await signIn(stack, 'owner');
    expect(names(await contacts('GET', { token, tenant: 'acme' }))).toEqual(['Ágnes']);
    for (const tenant of ['globex', 'initech']) {
      expect(refusal(await contacts('GET', { token, tenant }))).toEqual(FORBIDDEN);
    }
    expect(names(await contacts('GET', { token }))).toEqual(['Ágnes']);
  });

  test('who is a system administrator may name any existing tenant', async () => {
    const token = await signIn(stack, 'administrator');
    expect(names(await contacts('GET', { token, tenant: 'acme' }))).toEqual(['Ágnes']);
    expect(names(await contacts('GET', { token, tenant: 'globex' }))).toContain('Gerda');
    expect(refusal(await contacts('GET', { token, tenant: 'initech' }))).toEqual(FORBIDDEN);
    expect(refusal(await contacts('GET', { token }))).toEqual(FORBIDDEN);
  });
});

test('a token of the identity stub is accepted neither by identity nor by a CRM that uses it', async () => {
  const stub = await startIdentityStub(0);
  try {
    const { body } = await call('POST', `${stub.url}/oauth/token`);
    const token = body.access_token;
    expect(token.split('.')).toHaveLength(3);
    for (const url of [`${stack.identity.url}/api/user`, `${stack.crm.url}/api/crm/contacts`]) {
      expect(refusal(await call('GET', url, { token }))).toEqual([401, 'unauthenticated']);
    }
    const { keys } = (await call('GET', `${stack.identity.url}/.well-known/jwks.json`))
      .body as unknown as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).not.toContain('development-only');
  } finally {
    await stub.stop();
  }
});
