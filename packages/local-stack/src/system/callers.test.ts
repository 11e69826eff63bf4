import { bodyOf, crmClient, identityClient, statuses } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';
import { userToken } from './tokens.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ environment: { ACCOUNT_DELETION_DELAY: '1' } });
});
afterAll(() => stack?.remove(), 60_000);

const createContact = (token: string) =>
  crmClient(stack, token).POST('/api/crm/contacts', { body: { first_name: 'Ágnes' } });

describe('the token of an app at CRM', () => {
  test('may do what its scopes cover, and no more even if its user is an owner', async () => {
    const scope = 'openid tenant.*.crm.contacts.list';
    const token = await userToken(stack, 'owner', 'mobile_app', scope);
    const listed = await crmClient(stack, token).GET('/api/crm/contacts');
    expect(listed.response.status).toBe(200);
    const denied = await createContact(token);
    expect([denied.response.status, denied.error]).toEqual([
      403,
      expect.objectContaining({
        error: 'service_account_scope_denied',
        required_permission: `tenant.${stack.system.owner.tenant_slug}.crm.contacts.create`,
      }),
    ]);
  });

  test('with only scopes of OpenID Connect may do nothing', async () => {
    const token = await userToken(stack, 'owner', 'mobile_app', 'openid profile email');
    const denied = await crmClient(stack, token).GET('/api/crm/contacts');
    expect([denied.response.status, denied.error]).toEqual([
      403,
      expect.objectContaining({ error: 'insufficient_scope' }),
    ]);
  });

  test("of a tenant's client may do what its user may do there", async () => {
    const token = await userToken(stack, 'owner', 'tenant');
    expect((await createContact(token)).response.status).toBe(201);
  });
});

describe('a deleted account', () => {
  test('is rejected by CRM immediately, although CRM had cached it', async () => {
    const token = await signIn(stack, 'viewer');
    const identity = identityClient(stack, token);
    const contacts = () => crmClient(stack, token).GET('/api/crm/contacts');
    expect((await contacts()).response.status).toBe(200);
    bodyOf(await identity.POST('/api/me/deletion'));
    const answers = await callUntil(contacts, ({ response }) => response.status === 401);
    expect(statuses(answers)).toEqual([200, 401]);
    expect((await identity.GET('/api/me')).response.status).toBe(401);
    const owner = identityClient(stack, await signIn(stack, 'owner'));
    const { viewer, owner: account } = stack.system;
    const members = await owner.GET('/api/tenants/{tenantId}/members', {
      params: { path: { tenantId: account.tenant_id } },
    });
    expect(JSON.stringify(bodyOf(members))).not.toContain(viewer.email);
  });
});

test('A link to a document works until its creator may not see documents any more', async () => {
  const crm = crmClient(stack, await signIn(stack, 'person'));
  const file = new File(['hello'], 'a.txt', { type: 'text/plain' });
  const sent = await crm.POST('/api/crm/documents', {
    body: { file, description: 'A note' },
  });
  const { id } = bodyOf(sent, 201).data;
  const created = await crm.POST('/api/crm/documents/{id}/links', {
    params: { path: { id } },
    body: {},
  });
  const { token } = bodyOf(created, 201).data;
  const open = () =>
    crmClient(stack).GET('/public/links/{token}', { params: { path: { token } }, parseAs: 'text' });
  expect(bodyOf(await open())).toBe('hello');

  const { tenant_id: tenantId, user_id: userId } = stack.system.person;
  const owner = identityClient(stack, await signIn(stack, 'owner'));
  const changed = await owner.PUT('/api/tenants/{tenantId}/members/{userId}', {
    params: { path: { tenantId, userId } },
    body: { policies: [{ action: 'tenant.acme.crm.documents.view', effect: 'deny' }] },
  });
  expect(changed.response.status).toBe(200);
  await callUntil(open, ({ response }) => response.status === 404);
});

test('The address of a published site leads to it', async () => {
  const crm = crmClient(stack, await signIn(stack, 'owner'));
  bodyOf(await crm.PUT('/api/crm/settings', { body: { public_reading: true } }));
  const params = { path: { tenant: 'acme' } };
  const { url } = bodyOf(await crmClient(stack).GET('/public/{tenant}', { params })).data;
  expect(url).toBe(`${stack.crm.url}/public/acme`);
});
