import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import type { Tenant } from '../../generated/prisma/client.ts';
import { identityDatabase } from '../../testing/identity.ts';
import { severable } from '../../testing/severable.ts';
import { makeAllDue, startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld({ DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '1000' });
});
afterAll(() => world.stop());
afterEach(async () => {
  world.automation.restore();
  await world.identity.context.database.tenant.deleteMany({
    where: { status: { in: ['provisioning', 'deleting'] } },
  });
  await makeAllDue(world);
  await check();
  world.automation.calls.length = 0;
});

const check = (of = world) => of.identity.context.tenantAdministration.provisioning.check();
const provisioning = () => world.identity.people.tenant({ status: 'provisioning' });
const statusOf = async (tenant: Pick<Tenant, 'id'>) => (await world.stored(tenant))?.status;

describe('a deployment that has disappeared', () => {
  test.each([404, 410])(
    'while provisioning (%i) makes its tenant failed, which can be retried and deleted',
    async (status) => {
      const tenant = await provisioning();
      world.automation.break('getDeployment', status);
      await check();
      expect(await statusOf(tenant)).toBe('failed');
      expect(await world.told(tenant)).toEqual(['failed']);
      world.automation.restore();
      world.automation.deployments.forget(tenant.id);
      await world.ask('post', `/api/tenants/${tenant.id}/retry`).expect(200);
      expect(world.automation.callsOf('createDeployment')).toMatchObject([{ tenantId: tenant.id }]);
      await check();
      expect(await statusOf(tenant)).toBe('active');
    },
  );

  test.each([404, 410])('while deleting (%i) causes its tenant to be deleted', async (status) => {
    const tenant = await world.identity.people.tenant({ status: 'failed' });
    world.automation.break('deleteDeployment', status);
    await world.ask('delete', `/api/tenants/${tenant.id}`).expect(200);
    expect(await world.stored(tenant)).toBeNull();
    expect(await world.told(tenant)).toEqual(['deleting', 'gone']);
    await world.ask('get', `/api/tenants/${tenant.id}`).expect(404);
  });

  test('is not assumed from an empty response: nothing is deleted or failed', async () => {
    const [waiting, deleting] = [
      await provisioning(),
      await world.identity.people.tenant({ status: 'deleting' }),
    ];
    world.automation.break('getDeployment', 'empty');
    await check();
    expect([await statusOf(waiting), await statusOf(deleting)]).toEqual([
      'provisioning',
      'deleting',
    ]);
    const active = await world.identity.people.tenant();
    world.automation.break('deleteDeployment', 'empty');
    await world.ask('delete', `/api/tenants/${active.id}`).expect(502);
    expect(await world.stored(active)).toEqual(active);
  });
});

test('a hundred tenants with failing calls do not delay others', async () => {
  const hasty = await startTenantWorld({ DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '150' });
  const data = Array.from({ length: 110 }, (_, at) => ({
    slug: `stuck-${at}`,
    name: 'Stuck',
    status: 'provisioning',
  }));
  const { tenant: tenants } = hasty.identity.context.database;
  const stuck = new Set((await tenants.createManyAndReturn({ data })).map(({ id }) => id));
  const never = new Promise<void>(() => undefined);
  hasty.automation.before = ({ tenantId = '' }) => (stuck.has(tenantId) ? never : undefined);
  await check(hasty);
  const { id } = await hasty.identity.people.tenant({ status: 'provisioning' });
  await makeAllDue(hasty);
  hasty.automation.calls.length = 0;
  const round = check(hasty);
  // Four are polled at once; the one that never failed is among the first.
  await until(() => hasty.automation.calls.length >= 4);
  const asked = hasty.automation.calls.map(({ tenantId }) => tenantId);
  expect(asked.slice(0, 4)).toContain(id);
  await hasty.stop();
  await round;
});

describe('a failed creation', () => {
  const create = (of = world) => of.ask('post', '/api/tenants').send({ name: randomUUID() });
  const deleted = (of = world): unknown[] =>
    of.automation.callsOf('deleteDeployment').map(({ tenantId }) => tenantId);

  test('with a lost response of automation has its deployment removed', async () => {
    world.automation.break('createDeployment', 'lost');
    expect((await create()).status).toBe(502);
    const [call] = world.automation.callsOf('createDeployment');
    await check();
    expect(deleted()).toEqual([call?.tenantId]);
    await makeAllDue(world);
    await check();
    expect(deleted()).toHaveLength(1);
  });

  test('is cleaned up with retries until automation accepts', async () => {
    world.automation.break('createDeployment', 500);
    world.automation.break('deleteDeployment', 500);
    expect((await create()).status).toBe(502);
    await check();
    world.automation.restore();
    await makeAllDue(world);
    await check();
    expect(deleted()).toHaveLength(2);
    await makeAllDue(world);
    await check();
    expect(deleted()).toHaveLength(2);
  });

  test('with a failed commit has its deployment removed', async () => {
    const { pool, database } = world.identity.context;
    world.automation.before = async ({ operation }) => {
      if (operation !== 'createDeployment') return;
      await pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
    };
    const { status, body } = await create();
    expect([status, body.error]).toEqual([503, 'database_unavailable']);
    const [call] = world.automation.callsOf('createDeployment');
    expect(await database.tenant.count({ where: { id: call?.tenantId ?? '' } })).toBe(0);
    await makeAllDue(world);
    await check();
    expect(deleted()).toEqual([call?.tenantId]);
  });

  test('whose tenant exists after all is not cleaned up', async () => {
    const way = await severable(await identityDatabase());
    const cut = await startTenantWorld({ DATABASE_URL: way.url });
    const automated = new Promise<void>((resolve) => {
      cut.automation.before = async ({ operation }) => {
        if (operation !== 'createDeployment') return;
        void way.loseAnswerToCommit();
        resolve();
      };
    });
    const answered = create(cut).then((one) => one);
    await automated;
    expect((await answered).status).toBeGreaterThanOrEqual(500);
    const [call] = cut.automation.callsOf('createDeployment');
    await makeAllDue(cut);
    await check(cut);
    expect(deleted(cut)).toEqual([]);
    expect(await cut.stored({ id: `${call?.tenantId}` })).toMatchObject({ status: 'active' });
    await cut.stop();
    await way.cut();
  });

  test('is not assumed while automation is still working on it', async () => {
    world.automation.before = async ({ operation }) => {
      if (operation !== 'createDeployment') return;
      await makeAllDue(world);
      await check();
    };
    const { status, body } = await create();
    expect([status, body.data.automation_state]).toEqual([201, 'told']);
    expect(deleted()).toEqual([]);
  });

  test('needs no cleanup if automation was never called', async () => {
    const { slug } = await world.identity.people.tenant();
    await world.ask('post', '/api/tenants').send({ name: 'Twin', slug }).expect(422);
    await makeAllDue(world);
    await check();
    expect(world.automation.calls).toEqual([]);
  });
});
