import { type ApiResponse, call, callUntil, signIn } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
let owner: string;

beforeAll(async () => {
  stack = await startTestStack();
  owner = await signIn(stack, 'owner');
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

/** A response of identity to the owner of the tenant. */
const accounts = (method: string, at: string, body?: object): Promise<ApiResponse> =>
  call(
    method,
    `${stack.identity.url}/api/tenants/${stack.system.owner.tenant_id}/service-accounts${at}`,
    { token: owner, body },
  );

const account = async (role: string): Promise<string> => {
  const made = await accounts('POST', '', { name: 'Importer', role });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return made.body.data.id;
};

const key = async (id: string, scopes?: string[]): Promise<{ key: string; token_id: string }> => {
  const made = await accounts('POST', `/${id}/api-keys`, { name: 'Import', scopes });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return made.body.data as unknown as { key: string; token_id: string };
};

const crm = (method: string, at: string, token: string, body?: object): Promise<ApiResponse> =>
  call(method, `${stack.crm.url}/api/crm${at}`, { token, body });

const named = (permission: string): string =>
  `tenant.${stack.system.owner.tenant_slug}.crm.${permission}`;

describe('an API key at CRM', () => {
  test('may do what both the policies of its account and its scopes allow', async () => {
    const id = await account('viewer');
    const { key: token } = await key(id, ['tenant.*.crm.contacts.*']);
    expect((await crm('GET', '/contacts', token)).status).toBe(200);

    const unscoped = await crm('GET', '/companies', token);
    expect([unscoped.status, unscoped.body]).toEqual([
      403,
      expect.objectContaining({
        error: 'service_account_scope_denied',
        required_permission: named('companies.list'),
      }),
    ]);
    const unallowed = await crm('POST', '/contacts', token, { first_name: 'Ágnes' });
    expect([unallowed.status, unallowed.body]).toEqual([
      403,
      expect.objectContaining({
        error: 'permission_denied',
        required_permission: named('contacts.create'),
      }),
    ]);
  });

  test('without scopes is limited only by the policies of its account', async () => {
    const { key: token } = await key(await account('member'));
    expect((await crm('GET', '/companies', token)).status).toBe(200);
    const created = await crm('POST', '/contacts', token, { first_name: 'Ágnes' });
    expect(created.status).toBe(201);
  });

  test('gains the permissions of a new role of its account, within its scopes', async () => {
    const id = await account('viewer');
    const { key: token } = await key(id, ['tenant.*.crm.contacts.*']);
    const create = () => crm('POST', '/contacts', token, { first_name: 'Ágnes' });
    expect((await create()).status).toBe(403);
    expect((await accounts('PUT', `/${id}`, { role: 'member' })).status).toBe(200);
    await callUntil(create, ({ status }) => status === 201);
    expect((await crm('POST', '/companies', token, { name: 'Acme' })).status).toBe(403);
  });

  test.each([
    ['is revoked', (id: string, keyId: string) => accounts('DELETE', `/${id}/api-keys/${keyId}`)],
    [
      'is rotated',
      (id: string, keyId: string) => accounts('POST', `/${id}/api-keys/${keyId}/rotate`),
    ],
    ['loses its account', (id: string) => accounts('DELETE', `/${id}`)],
  ])(
    'that %s is 401 `unauthenticated`, at identity immediately and at CRM after the event',
    async (_what, end) => {
      const id = await account('viewer');
      const { key: token, token_id } = await key(id);
      expect((await crm('GET', '/contacts', token)).status).toBe(200);
      expect((await end(id, token_id)).status).toBe(200);
      const gone = [401, expect.objectContaining({ error: 'unauthenticated' })];
      const atIdentity = await call('GET', `${stack.identity.url}/api/user`, { token });
      expect([atIdentity.status, atIdentity.body]).toEqual(gone);
      const seen = await callUntil(
        () => crm('GET', '/contacts', token),
        ({ status }) => status !== 200,
      );
      const last = seen.at(-1);
      expect([last?.status, last?.body]).toEqual(gone);
    },
  );
});
