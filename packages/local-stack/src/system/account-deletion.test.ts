import { call, callUntil, signIn, statuses } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ environment: { ACCOUNT_DELETION_DELAY: '1' } });
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

describe('a deleted account', () => {
  test('is rejected by CRM immediately, although CRM had cached it', async () => {
    const token = await signIn(stack, 'viewer');
    const contacts = () => call('GET', `${stack.crm.url}/api/crm/contacts`, { token });
    expect((await contacts()).status).toBe(200);
    const asked = await call('POST', `${stack.identity.url}/api/me/deletion`, { token });
    expect([asked.status, asked.text]).toEqual([200, expect.any(String)]);
    const answers = await callUntil(contacts, ({ status }) => status !== 200);
    expect(statuses(answers)).toEqual([200, 401]);
    const me = await call('GET', `${stack.identity.url}/api/me`, { token });
    expect(me.status).toBe(401);
    const other = await signIn(stack, 'owner');
    const members = await call(
      'GET',
      `${stack.identity.url}/api/tenants/${stack.system.owner.tenant_id}/members`,
      { token: other },
    );
    expect(members.text).not.toContain(stack.system.viewer.email);
  });
});
