import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());

const config = (method: 'get' | 'put' | 'delete', id: string, body?: object) => {
  const asked = world.ask(method, `/api/tenants/${id}/scaling-config`);
  return body ? asked.send(body) : asked;
};

const fields = [
  'min_replicas',
  'max_replicas',
  'cpu_request',
  'cpu_limit',
  'memory_request',
  'memory_limit',
  'target_cpu_percent',
];

test('covers 4 services with 7 fields each, and begins with the defaults of the plan', async () => {
  const [starter, enterprise] = await Promise.all(
    ['starter', 'enterprise'].map(async (plan) => {
      const { id } = await world.identity.people.tenant({ plan });
      return (await config('get', id).expect(200)).body.data;
    }),
  );
  expect(Object.keys(starter)).toEqual(['api', 'worker', 'scheduler', 'websocket']);
  for (const service of Object.values(starter)) {
    expect(Object.keys(service as object)).toEqual(fields);
  }
  expect(enterprise.api.max_replicas).toBeGreaterThan(starter.api.max_replicas);
});

test('a change keeps what it does not name, and DELETE returns to the defaults', async () => {
  const { id } = await world.identity.people.tenant();
  const defaults = (await config('get', id)).body.data;
  const change = { api: { max_replicas: 9 }, worker: { cpu_limit: '2.5', memory_limit: '3Gi' } };
  const changed = (await config('put', id, change).expect(200)).body.data;
  expect(changed).toEqual({
    ...defaults,
    api: { ...defaults.api, ...change.api },
    worker: { ...defaults.worker, ...change.worker },
  });
  expect((await config('get', id)).body.data).toEqual(changed);
  expect((await config('delete', id).expect(200)).body.data).toEqual(defaults);
  expect((await config('get', id)).body.data).toEqual(defaults);
  expect(await world.done({ id })).toEqual(['tenant_scaling_updated', 'tenant_scaling_reset']);
});

test.each([
  ['api.max_replicas', { api: { min_replicas: 5, max_replicas: 4 } }],
  ['worker.cpu_limit', { worker: { cpu_request: '1', cpu_limit: '900m' } }],
  ['websocket.memory_limit', { websocket: { memory_request: '2Gi', memory_limit: '1025Mi' } }],
  ['scheduler.target_cpu_percent', { scheduler: { target_cpu_percent: 101 } }],
  ['api.cpu_limit', { api: { cpu_limit: 'much' } }],
  ['api.replicas', { api: { replicas: 1 } }],
  ['shadow', { shadow: { min_replicas: 1 } }],
])('invalid values are a 422 on %s, and nothing is stored', async (field, change) => {
  const { id } = await world.identity.people.tenant();
  const { status, body } = await config('put', id, change);
  expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  expect((await world.stored({ id }))?.scaling).toBeNull();
});
