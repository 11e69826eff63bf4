import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { deferred, freePort, type ServiceProcess, spawnService, until } from '@tessera/local-stack';
import { IdentityStandIn } from '@tessera/resource-server/testing';
import { crmDatabase, testEnvironment } from './testing/crm.ts';

const identity = new IdentityStandIn();
const running: ServiceProcess[] = [];
let databaseUrl: string;

const start = (environment: Record<string, string> = {}): ServiceProcess => {
  const made = spawnService('crm', {
    ...testEnvironment(databaseUrl, identity.url),
    LOG_LEVEL: 'trace',
    ...environment,
  });
  running.push(made);
  return made;
};

beforeAll(async () => {
  await identity.start();
  databaseUrl = await crmDatabase();
});
afterEach(async () => {
  identity.restore();
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
});
afterAll(() => identity.stop());

test('the log contains no token, whatever happens', async () => {
  const crm = start();
  const url = await crm.ready();
  const { token, headers } = identity.signIn();
  const ask = (more: Record<string, string> = {}, query = '') =>
    fetch(`${url}/api/crm/contacts${query}`, { headers: { ...headers, ...more } });
  await ask({ 'x-request-id': 'request-7' });
  await ask({}, `?token=${token}`);
  await ask({ 'x-tenant': 'globex' });
  await ask({ authorization: `Bearer ${token}x` });
  identity.intercept('/api/user', () => ({ status: 200, body: `<html>${token}` }));
  await ask();
  await identity.stop();
  await ask();
  await identity.start();
  crm.child.kill('SIGTERM');
  await crm.ended;
  expect(crm.logs()).toContain('request-7');
  expect(crm.logs()).toContain('identity_unavailable');
  for (const hidden of token.split('.')) expect(crm.logs().includes(hidden)).toBe(false);
});

test('on SIGTERM it completes running requests, accepts no new ones, and exits with 0', async () => {
  const crm = start();
  const url = await crm.ready();
  const [asked, answer] = [deferred(), deferred()];
  identity.intercept('/api/user', async (usual) => {
    asked.resolve();
    await answer.promise;
    return usual;
  });
  const { headers } = identity.signIn();
  const under = fetch(`${url}/api/crm/contacts`, { headers });
  await asked.promise;
  crm.child.kill('SIGTERM');
  await until(() => crm.logs().includes('stopping'));
  answer.resolve();
  expect((await under).status).toBe(403);
  expect(await crm.ended).toBe(0);
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});

test.each(['1', '2'])(
  'after SIGTERM it serves requests for a while, but is not ready, with WORKERS=%s',
  async (WORKERS) => {
    const crm = start({ STOP_DELAY_SECONDS: '3', WORKERS });
    const url = await crm.ready();
    crm.child.kill('SIGTERM');
    await until(async () => (await fetch(`${url}/readyz`)).status === 503);
    expect((await fetch(`${url}/api/crm/health`)).status).toBe(200);
    expect(await crm.ended).toBe(0);
  },
);

test('it starts and stops although the broker and identity are unavailable', async () => {
  const crm = start({ KAFKA_BROKERS: '127.0.0.1:1', IDENTITY_URL: 'http://127.0.0.1:1' });
  const url = await crm.ready();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const answer = await fetch(`${url}/api/crm/contacts`, { headers: identity.signIn().headers });
  expect(answer.status).toBe(503);
  crm.child.kill('SIGINT');
  expect(await crm.ended).toBe(0);
});

test('if the port is in use, it exits with 1 and a line that names the port and its variable', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    const crm = start({ PORT: `${port}` });
    expect(await crm.ended).toBe(1);
    expect(crm.logs()).toContain(`Port ${port} is taken; set CRM_PORT to a free one.`);
  } finally {
    taken.close();
  }
});

test('it prints only log lines', async () => {
  const crm = await start();
  const url = await crm.ready();
  await fetch(`${url}/api/crm/health`);
  crm.child.kill('SIGTERM');
  await crm.ended;
  for (const line of crm.logs().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
});

test('metrics have a separate port', async () => {
  const port = await freePort();
  const crm = start({ METRICS_PORT: `${port}` });
  const url = await crm.ready();
  await fetch(`${url}/api/crm/health`);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('operation="getHealth"');
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
});
