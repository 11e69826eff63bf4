import { bodyOf, crmClient, identityClient } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
}, 120_000);
afterAll(() => stack?.remove(), 60_000);

test('A link to a document works until its creator may not see documents any more', async () => {
  const crm = crmClient(stack, await signIn(stack, 'person'));
  const file = new FormData();
  file.append('file', new Blob(['hello'], { type: 'text/plain' }), 'a.txt');
  const sent = await crm.POST('/api/crm/documents', {
    body: { file },
    bodySerializer: () => file,
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
