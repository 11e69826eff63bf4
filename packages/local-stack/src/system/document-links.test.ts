import { call, callUntil, signIn } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
}, 120_000);
afterAll(() => stack?.remove(), 60_000);

test('A link to a document works until its creator may not see documents any more', async () => {
  const { crm, identity, system } = stack;
  const token = await signIn(stack, 'person');
  const form = new FormData();
  form.append('file', new Blob(['hello'], { type: 'text/plain' }), 'a.txt');
  const headers = { authorization: `Bearer ${token}` };
  const documents = `${crm.url}/api/crm/documents`;
  const sent = await fetch(documents, { method: 'POST', headers, body: form });
  const { data } = (await sent.json()) as { data: { id: string } };
  const created = await call('POST', `${documents}/${data.id}/links`, { token, body: {} });
  expect(created.status).toBe(201);
  const link = `${crm.url}/public/links/${created.body.data.token}`;
  const open = () => call('GET', link, {});
  expect([(await open()).status, (await open()).text]).toEqual([200, 'hello']);

  const owner = await signIn(stack, 'owner');
  const { tenant_id, user_id } = system.person;
  const member = `${identity.url}/api/tenants/${tenant_id}/members/${user_id}`;
  const denied = [{ action: 'tenant.acme.crm.documents.view', effect: 'deny' }];
  const changed = await call('PUT', member, { token: owner, body: { policies: denied } });
  expect(changed.status).toBe(200);
  await callUntil(open, ({ status }) => status === 404);
});
