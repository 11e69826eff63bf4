import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
afterEach(() => world.stop());

const health = async () => {
  const { text, body } = await world.ask('get', '/api/service-health').expect(200);
  for (const secret of [world.crm.token, world.automation.token])
    expect(text).not.toContain(secret);
  const services: { name: string; status: string }[] = body.data.services;
  const byName = Object.fromEntries(services.map(({ name, status }) => [name, status]));
  return { status: body.data.status as string, ...byName };
};

test('all dependencies are checked', async () => {
  world = await startTenantWorld();
  expect(await health()).toEqual({
    status: 'ok',
    database: 'up',
    event_relay: 'not_configured',
    mail: 'not_configured',
    crm: 'up',
    deployment_automation: 'up',
  });
});

test('a dependency that does not respond or reports an error is down', async () => {
  world = await startTenantWorld({ CRM_TIMEOUT_MS: '50', DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '50' });
  world.crm.instead = () => undefined;
  world.automation.break('getHealth', 'silent');
  expect(await health()).toMatchObject({
    status: 'degraded',
    database: 'up',
    crm: 'down',
    deployment_automation: 'down',
  });
  world.crm.instead = () => ({ status: 503, body: {} });
  world.automation.break('getHealth', 500);
  expect(await health()).toMatchObject({ crm: 'down', deployment_automation: 'down' });
});

test('an event that has waited too long means that the relay is down', async () => {
  // The broker does not exist.
  world = await startTenantWorld({ KAFKA_BROKERS: '127.0.0.1:1' });
  expect(await health()).toMatchObject({ status: 'ok', event_relay: 'up' });
  await world.identity.context.database.outboxEvent.create({
    data: {
      topic: 'identity.user.updated',
      key: 'someone',
      payload: {},
      createdAt: new Date(Date.now() - 60_000),
    },
  });
  expect(await health()).toMatchObject({ status: 'degraded', event_relay: 'down' });
});

test('dependencies that are not configured do not count', async () => {
  world = await startTenantWorld({
    CRM_URL: '',
    CRM_SYSTEM_TOKEN: '',
    DEPLOYMENT_AUTOMATION_URL: '',
    DEPLOYMENT_AUTOMATION_TOKEN: '',
  });
  expect(await health()).toMatchObject({
    status: 'ok',
    crm: 'not_configured',
    deployment_automation: 'not_configured',
  });
});
