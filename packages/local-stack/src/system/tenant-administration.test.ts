import { until } from '../until.ts';
import { type ApiResponse, call, callUntil, signIn } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
let administrator: string;
beforeAll(async () => {
  stack = await startTestStack({
    environmentOf: {
      identity: { PROVISIONING_CHECK_SECONDS: '1', DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '1000' },
    },
  });
  administrator = await signIn(stack, 'administrator');
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

const ask = (method: string, at: string, body?: object): Promise<ApiResponse> =>
  call(method, stack.identity.url + at, { token: administrator, ...(body && { body }) });

const fieldOf = ({ body }: ApiResponse, name: string): unknown =>
  (body.data as unknown as Record<string, unknown>)[name];

test('a tenant is created, becomes active, and no longer exists after its deletion', async () => {
  const created = await ask('POST', '/api/tenants', { name: 'Initech', plan: 'business' });
  expect([created.status, fieldOf(created, 'status')]).toEqual([201, 'provisioning']);
  const tenant = `/api/tenants/${fieldOf(created, 'id')}`;
  const show = () => ask('GET', tenant);
  await callUntil(show, (answer) => fieldOf(answer, 'status') === 'active');
  expect((await ask('DELETE', tenant)).status).toBe(200);
  await callUntil(show, ({ status }) => status === 404);
});

test('a tenant whose creation was interrupted by a crash leaves no deployment', async () => {
  const { deploymentAutomation: automation, identity } = stack;
  automation.before = async ({ operation }) => {
    if (operation === 'createDeployment') await identity.kill();
  };
  await expect(ask('POST', '/api/tenants', { name: 'Cut off' })).rejects.toThrow();
  automation.restore();
  await identity.start();
  const deploymentOf = (operation: string) => automation.callsOf(operation).at(-1)?.tenantId;
  const tenantId = deploymentOf('createDeployment');
  await until(async () => deploymentOf('deleteDeployment') === tenantId);
  expect((await ask('GET', `/api/tenants/${tenantId}`)).status).toBe(404);
}, 120_000);

test('deployment automation gets a suspension again that failed before identity was killed', async () => {
  const { deploymentAutomation: automation, identity } = stack;
  const created = await ask('POST', '/api/tenants', { name: 'Abusive' });
  const tenant = `/api/tenants/${fieldOf(created, 'id')}`;
  const show = () => ask('GET', tenant);
  await callUntil(show, (answer) => fieldOf(answer, 'status') === 'active');
  automation.break('suspendDeployment', 500);
  const suspended = await ask('POST', `${tenant}/suspend`);
  expect([fieldOf(suspended, 'status'), fieldOf(suspended, 'automation_state')]).toEqual([
    'suspended',
    'pending',
  ]);
  await identity.kill();
  automation.restore();
  await identity.start();
  await callUntil(show, (answer) => fieldOf(answer, 'automation_state') === 'told');
}, 120_000);

test('messaging accounts and storage usage of CRM are available through identity', async () => {
  const owner = await signIn(stack, 'owner');
  const input = { name: 'Alerts', provider: 'twilio', sender: 'Acme', credentials: { key: 'x' } };
  const own = (method: string, at: string, body?: object) =>
    call(method, stack.identity.url + at, { token: owner, ...(body && { body }) });
  const created = await own('POST', '/api/sms/accounts', input);
  expect([created.status, fieldOf(created, 'has_credentials')]).toEqual([201, true]);
  const one = `/api/sms/accounts/${fieldOf(created, 'id')}`;
  expect((await own('GET', one)).body).toEqual(created.body);
  const twin = await own('POST', '/api/sms/accounts', input);
  expect([twin.status, twin.text]).toEqual([422, expect.stringContaining('"name"')]);
  const { tenant_id } = stack.system.owner;
  const there = await ask('GET', `/api/tenants/${tenant_id}/sms/accounts`);
  expect([there.status, there.text]).toEqual([200, expect.stringContaining('"Alerts"')]);
  const other = await ask('GET', `/api/tenants/${stack.system.other_owner.tenant_id}/sms/accounts`);
  expect(other.text).toContain('"total":0');
  expect((await own('PUT', one, { sender: '+3612345678' })).status).toBe(200);
  expect((await own('DELETE', one)).status).toBe(200);
  const used = await ask('GET', `/api/tenants/${tenant_id}/storage-usage`);
  expect([used.status, fieldOf(used, 'rows')]).toEqual([200, expect.any(Number)]);
});

test('identity reports its dependencies as healthy', async () => {
  const health = await ask('GET', '/api/service-health');
  expect([health.status, fieldOf(health, 'status')]).toEqual([200, 'ok']);
});
