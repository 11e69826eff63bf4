import { crmClient } from './clients.ts';
import { startTestStack, type TestStack } from './test-stack.ts';
import { userToken } from './tokens.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

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
