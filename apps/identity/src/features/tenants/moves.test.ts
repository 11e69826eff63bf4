import type { Tenant } from '../../generated/prisma/client.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';
import { tenantStatuses, type transitions } from './state-machine.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());
afterEach(() => {
  world.automation.restore();
  world.automation.calls.length = 0;
});

type Name = keyof typeof transitions;

const operations = {
  suspend: 'suspendDeployment',
  activate: 'activateDeployment',
  retry: 'retryDeployment',
  delete: 'deleteDeployment',
} as const;

/** Decision I13: `active <-> suspended`, `failed -> provisioning`, `active|suspended|failed -> deleting`. */
const allowed: Readonly<Record<string, string>> = {
  'active suspend': 'suspended',
  'suspended activate': 'active',
  'failed retry': 'provisioning',
  'active delete': 'deleting',
  'suspended delete': 'deleting',
  'failed delete': 'deleting',
};

const names = Object.keys(operations) as Name[];
const every = tenantStatuses.flatMap((status) => names.map((name) => [status, name] as const));
const legal = every.filter(([status, name]) => allowed[`${status} ${name}`]);

const make = (status: string): Promise<Tenant> => world.identity.people.tenant({ status });
const move = (tenant: Tenant, name: Name) =>
  name === 'delete'
    ? world.ask('delete', `/api/tenants/${tenant.id}`)
    : world.ask('post', `/api/tenants/${tenant.id}/${name}`);

const deferred = () => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
};

/** The tenant has not changed, and neither events nor activity report a change. */
const untouched = async (tenant: Tenant): Promise<void> => {
  expect(await world.stored(tenant)).toEqual(tenant);
  expect(await world.done(tenant)).toEqual([]);
  expect(await world.told(tenant)).toEqual([]);
};

describe('a tenant that is', () => {
  test.each(every)('%s: %s changes the status as specified or is a 409', async (status, name) => {
    const tenant = await make(status);
    const next = allowed[`${status} ${name}`];
    const answer = await move(tenant, name);
    if (next === undefined) {
      expect([answer.status, answer.body.error]).toEqual([409, 'conflict']);
      expect(world.automation.calls).toEqual([]);
      return untouched(tenant);
    }
    expect([answer.status, answer.body.data?.status]).toEqual([200, next]);
    expect((await world.stored(tenant))?.status).toBe(next);
    expect(await world.told(tenant)).toEqual([next]);
    const done = { suspend: 'suspended', activate: 'activated', retry: 'retried' } as const;
    expect(await world.done(tenant)).toEqual([
      `tenant_${name === 'delete' ? 'deleted' : done[name]}`,
    ]);
    expect(world.automation.callsOf(operations[name])).toHaveLength(1);
  });
});

const faults = [
  'cut',
  'empty',
  'garbage',
  'meaningless',
  'huge',
  'redirect',
  400,
  404,
  500,
] as const;

const until502 = legal.filter(([, name]) => name !== 'suspend');

describe.each(until502)('a failure of deployment automation for %s by %s', (status, name) => {
  const unlessGone = faults.filter((fault) => name === 'activate' || fault !== 404);
  test.each(unlessGone)('%s is a 502; nothing is changed or recorded as done', async (fault) => {
    const tenant = await make(status);
    world.automation.break(operations[name], fault);
    const { status: code, body } = await move(tenant, name);
    expect([code, body.error]).toEqual([502, 'deployment_automation_failed']);
    await untouched(tenant);
  });
});

test('a timeout is a 502, and nothing is changed', async () => {
  const hasty = await startTenantWorld({ DEPLOYMENT_AUTOMATION_TIMEOUT_MS: '50' });
  try {
    hasty.automation.break('activateDeployment', 'silent');
    const tenant = await hasty.identity.people.tenant({ status: 'suspended' });
    const { status, body } = await hasty.ask('post', `/api/tenants/${tenant.id}/activate`);
    expect([status, body.error]).toEqual([502, 'deployment_automation_failed']);
    expect(await hasty.stored(tenant)).toEqual(tenant);
    expect(await hasty.done(tenant)).toEqual([]);
  } finally {
    await hasty.stop();
  }
});

test('a refused connection is a 502 as well', async () => {
  const away = await startTenantWorld({ DEPLOYMENT_AUTOMATION_URL: 'http://127.0.0.1:1' });
  try {
    const tenant = await away.identity.people.tenant();
    const { status, body } = await away.ask('delete', `/api/tenants/${tenant.id}`);
    expect([status, body.error]).toEqual([502, 'deployment_automation_failed']);
    expect(await away.stored(tenant)).toEqual(tenant);
  } finally {
    await away.stop();
  }
});

describe('without deployment automation', () => {
  let bare: TenantWorld;
  beforeAll(async () => {
    bare = await startTenantWorld({
      DEPLOYMENT_AUTOMATION_URL: '',
      DEPLOYMENT_AUTOMATION_TOKEN: '',
    });
  });
  afterAll(() => bare.stop());

  test.each([
    ['active', 'post', '/suspend'],
    ['suspended', 'post', '/activate'],
    ['failed', 'post', '/retry'],
    ['active', 'post', '/sync-config'],
    ['active', 'delete', ''],
    ['deleting', 'delete', ''],
  ] as const)(
    'without automation, for a tenant that is %s: %s %s is a 503 before anything is changed',
    async (status, method, path) => {
      const tenant = await bare.identity.people.tenant({ status });
      const answer = await bare.ask(method, `/api/tenants/${tenant.id}${path}`);
      expect([answer.status, answer.body.error]).toEqual([
        503,
        'deployment_automation_not_configured',
      ]);
      expect(await bare.stored(tenant)).toEqual(tenant);
      expect(await bare.done(tenant)).toEqual([]);
    },
  );

  test('creating a tenant is a 503, and none is created', async () => {
    const { status } = await bare.ask('post', '/api/tenants').send({ name: 'Nobody' });
    expect(status).toBe(503);
    const { database } = bare.identity.context;
    expect(await database.tenant.count({ where: { slug: 'nobody' } })).toBe(0);
  });
});

describe('a call to deployment automation', () => {
  test('sends its own token and no header of the caller', async () => {
    const tenant = await make('active');
    await move(tenant, 'suspend').set('cookie', 'session=1').set('x-tenant', 'acme');
    const [call] = world.automation.calls;
    expect(call?.headers.authorization).toBe(`Bearer ${world.automation.token}`);
    expect(call?.headers).not.toHaveProperty('cookie');
    expect(call?.headers).not.toHaveProperty('x-tenant');
  });

  test('that is repeated after a lost response has the same idempotency key and is executed once', async () => {
    const tenant = await make('suspended');
    world.automation.break('activateDeployment', 'lost');
    expect((await move(tenant, 'activate')).status).toBe(502);
    await untouched(tenant);
    world.automation.restore();
    expect((await move(tenant, 'activate')).status).toBe(200);
    const [first, second] = world.automation.callsOf('activateDeployment');
    expect(second?.key).toBe(first?.key);
  });

  test('is executed again if the configuration is sent a second time, but not if the response was lost', async () => {
    const tenant = await make('active');
    const send = () => world.ask('post', `/api/tenants/${tenant.id}/sync-config`);
    await send().expect(200);
    world.automation.break('configureDeployment', 'lost');
    await send().expect(502);
    world.automation.restore();
    await send().expect(200);
    const [first, lost, repeated] = world.automation
      .callsOf('configureDeployment')
      .map(({ key }) => key);
    expect(lost).not.toBe(first);
    expect(repeated).toBe(lost);
  });

  test('for another state of the tenant has another key', async () => {
    const tenant = await make('active');
    for (const name of ['suspend', 'activate', 'suspend'] as const) await move(tenant, name);
    const [first, second] = world.automation.callsOf('suspendDeployment');
    expect(second?.key).not.toBe(first?.key);
  });
});

describe('two concurrent transitions of one tenant', () => {
  test.each([
    ['suspend', 'suspend'],
    ['suspend', 'delete'],
  ] as const)('%s and %s do not both succeed', async (one, other) => {
    const tenant = await make('active');
    const { promise: asked, resolve: ask } = deferred();
    const { promise: released, resolve: release } = deferred();
    world.automation.before = async () => {
      ask();
      await released;
    };
    const first = move(tenant, one).then((answer) => answer);
    await asked;
    const second = await move(tenant, other);
    expect([second.status, second.body.error]).toEqual([409, 'conflict']);
    release();
    expect((await first).status).toBe(200);
    expect(await world.told(tenant)).toHaveLength(1);
    expect(world.automation.calls).toHaveLength(1);
  });

  test('transitions of different tenants do not wait for each other', async () => {
    const [held, free] = [await make('active'), await make('active')];
    const { promise: released, resolve: release } = deferred();
    world.automation.before = ({ tenantId }) => (tenantId === held.id ? released : undefined);
    const waiting = move(held, 'suspend').then((answer) => answer);
    expect((await move(free, 'suspend')).status).toBe(200);
    release();
    expect((await waiting).status).toBe(200);
  });
});

test('completed operations of deployment automation are applied once', async () => {
  const { provisioning } = world.identity.context.tenantAdministration;
  const cases = [
    ['provisioning', 'active', 'active'],
    ['provisioning', 'failed', 'failed'],
    ['provisioning', 'provisioning', 'provisioning'],
  ] as const;
  for (const [status, outcome, becomes] of cases) {
    const tenant = await make(status);
    world.automation.deployments.outcome = outcome;
    world.automation.deployments.move(tenant.id, 'provisioning');
    await Promise.all([provisioning.check(), provisioning.check()]);
    expect((await world.stored(tenant))?.status).toBe(becomes);
    expect(await world.told(tenant)).toEqual(becomes === status ? [] : [becomes]);
    await world.identity.context.database.tenant.delete({ where: { id: tenant.id } });
  }
});

test('an undeployed tenant is deleted with its tokens and service accounts, and this is published', async () => {
  const tenant = await make('active');
  const robot = await world.identity.people.user({ tenant, data: { isServiceAccount: true } });
  const member = await world.identity.people.caller(tenant, '*');
  await move(tenant, 'delete').expect(200);
  expect((await world.stored(tenant))?.status).toBe('deleting');
  await world.identity.context.tenantAdministration.provisioning.check();
  expect(await world.stored(tenant)).toBeNull();
  expect(await world.told(tenant)).toEqual(['deleting', 'gone']);
  await world.ask('get', `/api/tenants/${tenant.id}`).expect(404);
  const { database } = world.identity.context;
  expect(await database.user.findUnique({ where: { id: robot.id } })).toBeNull();
  await world.identity.http.get('/api/me').set(member).expect(401);
});

test('a tenant is not deleted until deployment automation reports that it is gone', async () => {
  const tenant = await make('deleting');
  world.automation.break('getDeployment', 500);
  await world.identity.context.tenantAdministration.provisioning.check();
  expect((await world.stored(tenant))?.status).toBe('deleting');
});
