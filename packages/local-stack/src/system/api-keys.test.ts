import { bodyOf, crmClient, identityClient } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
let owner: string;
let tenantId: string;

beforeAll(async () => {
  stack = await startTestStack();
  tenantId = stack.system.owner.tenant_id;
  owner = await signIn(stack, 'owner');
});
afterAll(() => stack?.remove(), 30_000);

const SERVICE_ACCOUNTS = '/api/tenants/{tenantId}/service-accounts';
const SERVICE_ACCOUNT = `${SERVICE_ACCOUNTS}/{userId}` as const;
const API_KEYS = `${SERVICE_ACCOUNT}/api-keys` as const;

/** Identity as the owner of the tenant uses it. */
const identity = () => identityClient(stack, owner);

const account = async (role: string): Promise<string> => {
  const made = await identity().POST(SERVICE_ACCOUNTS, {
    params: { path: { tenantId } },
    body: { name: 'Importer', role },
  });
  return bodyOf(made, 201).data.id;
};

const key = async (
  id: string,
  limits: { scopes?: string[] } = {},
): Promise<{ key: string; token_id: string }> => {
  const made = await identity().POST(API_KEYS, {
    params: { path: { tenantId, userId: id } },
    body: { name: 'Import', ...limits },
  });
  return bodyOf(made, 201).data;
};

const createContact = (token: string) =>
  crmClient(stack, token).POST('/api/crm/contacts', { body: { first_name: 'Ágnes' } });

const named = (permission: string): string =>
  `tenant.${stack.system.owner.tenant_slug}.crm.${permission}`;

describe('an API key at CRM', () => {
  test('may do what both the policies of its account and its scopes allow', async () => {
    const id = await account('viewer');
    const { key: token } = await key(id, { scopes: ['tenant.*.crm.contacts.*'] });
    const crm = crmClient(stack, token);
    expect((await crm.GET('/api/crm/contacts')).response.status).toBe(200);

    const unscoped = await crm.GET('/api/crm/companies');
    expect([unscoped.response.status, unscoped.error]).toEqual([
      403,
      expect.objectContaining({
        error: 'service_account_scope_denied',
        required_permission: named('companies.list'),
      }),
    ]);
    const unallowed = await createContact(token);
    expect([unallowed.response.status, unallowed.error]).toEqual([
      403,
      expect.objectContaining({
        error: 'permission_denied',
        required_permission: named('contacts.create'),
      }),
    ]);
  });

  test('without scopes is limited only by the policies of its account', async () => {
    const { key: token } = await key(await account('member'));
    const companies = await crmClient(stack, token).GET('/api/crm/companies');
    expect(companies.response.status).toBe(200);
    expect((await createContact(token)).response.status).toBe(201);
  });

  test('gains the permissions of a new role of its account, within its scopes', async () => {
    const id = await account('viewer');
    const { key: token } = await key(id, { scopes: ['tenant.*.crm.contacts.*'] });
    const create = () => createContact(token);
    expect((await create()).response.status).toBe(403);
    const changed = await identity().PUT(SERVICE_ACCOUNT, {
      params: { path: { tenantId, userId: id } },
      body: { role: 'member' },
    });
    expect(changed.response.status).toBe(200);
    await callUntil(create, ({ response }) => response.status === 201);
    const company = await crmClient(stack, token).POST('/api/crm/companies', {
      body: { name: 'Acme' },
    });
    expect(company.response.status).toBe(403);
  });

  test.each([
    [
      'is revoked',
      (userId: string, keyId: string) =>
        identity().DELETE(`${API_KEYS}/{keyId}`, { params: { path: { tenantId, userId, keyId } } }),
    ],
    [
      'is rotated',
      (userId: string, keyId: string) =>
        identity().POST(`${API_KEYS}/{keyId}/rotate`, {
          params: { path: { tenantId, userId, keyId } },
        }),
    ],
    [
      'loses its account',
      (userId: string) =>
        identity().DELETE(SERVICE_ACCOUNT, { params: { path: { tenantId, userId } } }),
    ],
  ])(
    'that %s is 401 `unauthenticated`, at identity immediately and at CRM after the event',
    async (_what, end) => {
      const id = await account('viewer');
      const { key: token, token_id } = await key(id);
      const contacts = () => crmClient(stack, token).GET('/api/crm/contacts');
      expect((await contacts()).response.status).toBe(200);
      expect((await end(id, token_id)).response.status).toBe(200);
      const gone = [401, expect.objectContaining({ error: 'unauthenticated' })];
      const atIdentity = await identityClient(stack, token).GET('/api/user');
      expect([atIdentity.response.status, atIdentity.error]).toEqual(gone);
      const seen = await callUntil(contacts, ({ response }) => response.status === 401);
      const last = seen.at(-1);
      expect([last?.response.status, last?.error]).toEqual(gone);
    },
  );
});
