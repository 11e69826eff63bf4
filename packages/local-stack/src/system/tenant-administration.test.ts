import { until } from '../until.ts';
import { bodyOf, type IdentityClient, identityClient } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
let administrator: IdentityClient;
beforeAll(async () => {
  stack = await startTestStack({
    environmentOf: {
      identity: { PROVISIONING_CHECK_SECONDS: '1', DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '1000' },
    },
  });
  administrator = identityClient(stack, await signIn(stack, 'administrator'));
});
afterAll(() => stack?.remove(), 30_000);

const TENANT = '/api/tenants/{tenantId}';
const SMS_ACCOUNTS = '/api/sms/accounts';
const SMS_ACCOUNT = `${SMS_ACCOUNTS}/{accountId}` as const;
const withTenant = (tenantId: string) => ({ params: { path: { tenantId } } });

const createTenant = (body: { name: string; plan?: 'business' }) =>
  administrator.POST('/api/tenants', { body });
const showTenant = (id: string) => administrator.GET(TENANT, withTenant(id));

test('a tenant is created, becomes active, and no longer exists after its deletion', async () => {
  const { id, status } = bodyOf(
    await createTenant({ name: 'Initech', plan: 'business' }),
    201,
  ).data;
  expect(status).toBe('provisioning');
  const show = () => showTenant(id);
  await callUntil(show, ({ data }) => data?.data.status === 'active');
  expect((await administrator.DELETE(TENANT, withTenant(id))).response.status).toBe(200);
  await callUntil(show, ({ response }) => response.status === 404);
});

test('a tenant whose creation was interrupted by a crash leaves no deployment', async () => {
  const { deploymentAutomation: automation, identity } = stack;
  automation.before = async ({ operation }) => {
    if (operation === 'createDeployment') await identity.kill();
  };
  await expect(createTenant({ name: 'Cut off' })).rejects.toThrow();
  automation.restore();
  await identity.start();
  const deploymentOf = (operation: string) => automation.callsOf(operation).at(-1)?.tenantId;
  const tenantId = deploymentOf('createDeployment');
  await until(async () => deploymentOf('deleteDeployment') === tenantId);
  expect((await showTenant(String(tenantId))).response.status).toBe(404);
});

test('deployment automation gets a suspension again that failed before identity was killed', async () => {
  const { deploymentAutomation: automation, identity } = stack;
  const { id } = bodyOf(await createTenant({ name: 'Abusive' }), 201).data;
  const show = () => showTenant(id);
  await callUntil(show, ({ data }) => data?.data.status === 'active');
  automation.break('suspendDeployment', 500);
  const suspended = bodyOf(await administrator.POST(`${TENANT}/suspend`, withTenant(id)));
  expect(suspended.data).toMatchObject({ status: 'suspended', automation_state: 'pending' });
  await identity.kill();
  automation.restore();
  await identity.start();
  await callUntil(show, ({ data }) => data?.data.automation_state === 'told');
});

test('messaging accounts and storage usage of CRM are available through identity', async () => {
  const owner = identityClient(stack, await signIn(stack, 'owner'));
  const body = { name: 'Alerts', provider: 'twilio', sender: 'Acme', credentials: { key: 'x' } };
  const created = bodyOf(await owner.POST(SMS_ACCOUNTS, { body }), 201);
  expect(created.data.has_credentials).toBe(true);
  const params = { path: { accountId: created.data.id } };
  expect(bodyOf(await owner.GET(SMS_ACCOUNT, { params }))).toEqual(created);
  const twin = await owner.POST(SMS_ACCOUNTS, { body });
  expect([twin.response.status, twin.error]).toEqual([
    422,
    expect.objectContaining({ errors: { name: expect.any(Array) } }),
  ]);
  const { owner: account, other_owner } = stack.system;
  const accountsOf = async (tenantId: string) =>
    bodyOf(await administrator.GET(`${TENANT}/sms/accounts`, withTenant(tenantId)));
  const there = await accountsOf(account.tenant_id);
  expect(there.data).toContainEqual(expect.objectContaining({ name: 'Alerts' }));
  expect((await accountsOf(other_owner.tenant_id)).meta.total).toBe(0);
  const changed = await owner.PUT(SMS_ACCOUNT, { params, body: { sender: '+3612345678' } });
  expect(changed.response.status).toBe(200);
  expect((await owner.DELETE(SMS_ACCOUNT, { params })).response.status).toBe(200);
  const used = bodyOf(
    await administrator.GET(`${TENANT}/storage-usage`, withTenant(account.tenant_id)),
  );
  expect(used.data.rows).toEqual(expect.any(Number));
});

test('identity reports its dependencies as healthy', async () => {
  expect(bodyOf(await administrator.GET('/api/service-health')).data.status).toBe('ok');
});
