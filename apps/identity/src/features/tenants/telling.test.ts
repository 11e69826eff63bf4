import type { Tenant } from '../../generated/prisma/client.ts';
import { openMailbox } from '../../testing/mailbox.ts';
import { makeAllDue, startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld({ DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '1000' });
});
afterAll(() => world.stop());
afterEach(async () => {
  world.automation.restore();
  await makeAllDue(world);
  await check();
  world.automation.calls.length = 0;
});

const check = () => world.identity.context.tenantAdministration.provisioning.check();
const show = async ({ id }: Pick<Tenant, 'id'>) =>
  (await world.ask('get', `/api/tenants/${id}`).expect(200)).body.data;
const suspend = ({ id }: Pick<Tenant, 'id'>) => world.ask('post', `/api/tenants/${id}/suspend`);
const operations = ({ id }: Pick<Tenant, 'id'>) =>
  world.automation.calls.filter(({ tenantId }) => tenantId === id).map((call) => call.operation);

describe('suspending a tenant while deployment automation fails', () => {
  test.each([
    'silent',
    'cut',
    'empty',
    'garbage',
    'meaningless',
    'huge',
    'redirect',
    400,
    500,
  ] as const)(
    '(%s) takes effect immediately, and automation is notified when it responds again',
    async (fault) => {
      const tenant = await world.identity.people.tenant();
      const member = await world.identity.people.caller(tenant, '*');
      world.automation.break('suspendDeployment', fault);
      const { status, body } = await suspend(tenant);
      expect([status, body.data.status, body.data.automation_state]).toEqual([
        200,
        'suspended',
        'pending',
      ]);
      const refused = await world.identity.http
        .get(`/api/tenants/${tenant.id}/members`)
        .set(member);
      expect([refused.status, refused.body.error]).toEqual([403, 'tenant_suspended']);
      expect(await world.told(tenant)).toEqual(['suspended']);
      expect((await world.done(tenant)).at(-1)).toBe('tenant_suspended');

      await makeAllDue(world);
      await check();
      expect(await show(tenant)).toMatchObject({ automation_state: 'pending' });
      world.automation.restore();
      await makeAllDue(world);
      await check();
      expect(await show(tenant)).toMatchObject({ status: 'suspended', automation_state: 'told' });
      expect(world.automation.deployments.stateOf(tenant.id)).toBe('suspended');
      expect(await world.told(tenant)).toEqual(['suspended']);
    },
  );

  test('waits longer after each failure', async () => {
    const tenant = await world.identity.people.tenant();
    world.automation.break('suspendDeployment', 500);
    await suspend(tenant).expect(200);
    await check();
    await check();
    expect(world.automation.callsOf('suspendDeployment')).toHaveLength(1);
  });
});

test('suspending a tenant unknown to automation registers it first', async () => {
  const tenant = await world.identity.people.tenant();
  world.automation.deployments.forget(tenant.id);
  const { body } = await suspend(tenant).expect(200);
  expect(body.data).toMatchObject({ status: 'suspended', automation_state: 'told' });
  expect(operations(tenant)).toEqual([
    'suspendDeployment',
    'createDeployment',
    'suspendDeployment',
  ]);
  expect(world.automation.deployments.stateOf(tenant.id)).toBe('suspended');
});

test('a tenant can be suspended while another change of it waits for automation', async () => {
  const patient = await startTenantWorld();
  const tenant = await patient.identity.people.tenant();
  const path = `/api/tenants/${tenant.id}`;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    patient.automation.before = ({ operation }) => {
      if (operation !== 'configureDeployment') return undefined;
      resolve();
      return released;
    };
  });
  const syncing = patient.ask('post', `${path}/sync-config`).then((one) => one);
  await asked;
  const { body } = await patient.ask('post', `${path}/suspend`).expect(200);
  expect(body.data).toMatchObject({ status: 'suspended' });
  release();
  await syncing;
  await makeAllDue(patient);
  await patient.identity.context.tenantAdministration.provisioning.check();
  const shown = await patient.ask('get', path).expect(200);
  expect(shown.body.data).toMatchObject({ status: 'suspended', automation_state: 'told' });
  await patient.stop();
});

test.each([
  ['suspended', 'suspended'],
  ['active', 'provisioning'],
])(
  'a change of a tenant that is %s and unknown to automation does not register it',
  async (status, state) => {
    const tenant = await world.identity.people.tenant({ status });
    world.automation.deployments.forget(tenant.id);
    await world.ask('post', `/api/tenants/${tenant.id}/sync-config`).expect(200);
    expect(world.automation.deployments.stateOf(tenant.id)).toBe(state);
    expect(operations(tenant)).toContain('createDeployment');
    expect(operations(tenant).at(-1)).toBe('configureDeployment');
  },
);

test('activating a tenant whose suspension was never sent leaves nothing to send', async () => {
  const tenant = await world.identity.people.tenant();
  world.automation.break('suspendDeployment', 500);
  await suspend(tenant).expect(200);
  world.automation.restore();
  const { body } = await world.ask('post', `/api/tenants/${tenant.id}/activate`).expect(200);
  expect(body.data).toMatchObject({ status: 'active', automation_state: 'told' });
  world.automation.calls.length = 0;
  await makeAllDue(world);
  await check();
  expect(operations(tenant)).toEqual([]);
});

test('a tenant that was never sent to automation is marked, also in the list', async () => {
  const tenant = await world.identity.people.tenant();
  const { body } = await world.ask('get', `/api/tenants?search=${tenant.slug}`).expect(200);
  expect(body.data).toMatchObject([{ id: tenant.id, automation_state: 'unknown' }]);
});

test('only one of two replicas notifies automation, also after a restart', async () => {
  const tenant = await world.identity.people.tenant();
  world.automation.break('suspendDeployment', 500);
  await suspend(tenant).expect(200);
  const environment = {
    ...world.automation.environment,
    DATABASE_URL: world.identity.context.config.database.url,
    KEY_ENCRYPTION_KEYS: world.keyEncryptionKeys,
  };
  const other = await startTenantWorld(environment);
  world.automation.restore();
  world.automation.calls.length = 0;
  await makeAllDue(world);
  const replicas = [world, other].map(({ identity }) => identity.context.tenantAdministration);
  await Promise.all(replicas.map(({ provisioning }) => provisioning.check()));
  expect(operations(tenant)).toEqual(['suspendDeployment']);
  expect(await show(tenant)).toMatchObject({ automation_state: 'told' });
  await other.stop();
});

test('automation is notified of a registered user’s tenant, with retries', async () => {
  const mailbox = await openMailbox();
  const open = await startTenantWorld({
    REGISTRATION_ENABLED: 'true',
    MAIL_DIRECTORY: mailbox.directory,
  });
  const { provisioning } = open.identity.context.tenantAdministration;
  const { tenant } = await open.identity.context.database.$transaction((tx) =>
    open.identity.context.tenantCreation.createRegistered(tx, 'Registered'),
  );
  const state = async () =>
    (await open.ask('get', `/api/tenants/${tenant.id}`)).body.data.automation_state;
  open.automation.break('createDeployment', 500);
  await provisioning.check();
  expect(await state()).toBe('pending');
  open.automation.restore();
  await makeAllDue(open);
  await provisioning.check();
  expect(await state()).toBe('told');
  expect(open.automation.callsOf('createDeployment').at(-1)).toMatchObject({
    tenantId: tenant.id,
    body: { slug: 'registered', name: 'Registered' },
  });
  await open.stop();
  await mailbox.remove();
});
