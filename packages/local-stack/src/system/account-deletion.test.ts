import { bodyOf, crmClient, identityClient, statuses } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ environment: { ACCOUNT_DELETION_DELAY: '1' } });
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

describe('a deleted account', () => {
  test('is rejected by CRM immediately, although CRM had cached it', async () => {
    const token = await signIn(stack, 'viewer');
    const identity = identityClient(stack, token);
    const contacts = () => crmClient(stack, token).GET('/api/crm/contacts');
    expect((await contacts()).response.status).toBe(200);
    bodyOf(await identity.POST('/api/me/deletion'));
    const answers = await callUntil(contacts, ({ response }) => response.status !== 200);
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
