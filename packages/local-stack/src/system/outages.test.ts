import { setTimeout as delay } from 'node:timers/promises';
import { isReady } from '../application.ts';
import { keepRunning } from '../keep-running.ts';
import { until } from '../until.ts';
import { crmClient, identityClient, statuses } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.remove(), 30_000);

const listContacts = (token: string) => crmClient(stack, token).GET('/api/crm/contacts');
const createContact = (token: string) =>
  crmClient(stack, token).POST('/api/crm/contacts', { body: { first_name: 'Ágnes' } });
const changeRole = async (token: string, role: string): Promise<number> => {
  const { tenant_id: tenantId, user_id: userId } = stack.system.viewer;
  const { response } = await identityClient(stack, token).PUT(
    '/api/tenants/{tenantId}/members/{userId}',
    { params: { path: { tenantId, userId } }, body: { role } },
  );
  return response.status;
};

test('while identity is unavailable CRM responds with 503 and never 401; afterwards everything works again', async () => {
  const token = await signIn(stack, 'owner');
  expect((await listContacts(token)).response.status).toBe(200);
  await stack.identity.kill();
  const away = await callUntil(
    () => listContacts(token),
    ({ response }) => response.status === 503,
  );
  expect(away.at(-1)?.error).toMatchObject({ error: 'identity_unavailable' });
  await stack.identity.start();
  const back = await callUntil(
    () => listContacts(token),
    ({ response }) => response.status === 200,
  );
  expect([200, 503]).toEqual(expect.arrayContaining(statuses([...away, ...back])));
});

test('while the broker is unavailable both services work, and changes take effect', async () => {
  const owner = await signIn(stack, 'owner');
  const viewer = await signIn(stack, 'viewer');
  expect((await createContact(viewer)).response.status).toBe(403);
  await stack.broker.kill();
  expect((await listContacts(viewer)).response.status).toBe(200);
  expect(await changeRole(owner, 'member')).toBe(200);
  await callUntil(
    () => createContact(viewer),
    ({ response }) => response.status === 201,
  );
  expect(await changeRole(owner, 'viewer')).toBe(200);
  await callUntil(
    () => createContact(viewer),
    ({ response }) => response.status === 403,
  );
  await stack.broker.start();
  expect(await changeRole(owner, 'member')).toBe(200);
  await callUntil(
    () => createContact(viewer),
    ({ response }) => response.status === 201,
  );
  expect(await changeRole(owner, 'viewer')).toBe(200);
});

test('each service starts without a broker, and pending events are published when it is available', async () => {
  await stack.broker.kill();
  await Promise.all([stack.identity.stop(), stack.crm.stop()]);
  await Promise.all([stack.identity.start(), stack.crm.start()]);
  const owner = await signIn(stack, 'owner');
  const viewer = await signIn(stack, 'viewer');
  expect((await createContact(viewer)).response.status).toBe(403);
  expect(await changeRole(owner, 'member')).toBe(200);
  expect(await unpublished()).toBeGreaterThan(0);
  await stack.broker.start();
  while ((await unpublished()) > 0) await delay(20);
  await callUntil(
    () => createContact(viewer),
    ({ response }) => response.status === 201,
  );
});

const unpublished = async (): Promise<number> => {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: stack.postgres.url('identity') });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(
      'SELECT count(*) FROM identity.outbox WHERE published_at IS NULL',
    );
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
};

test('a service that is killed under `npm start` is started again, and this is reported', async () => {
  const reports: string[] = [];
  const kept = keepRunning('CRM', stack.crm, (sentence) => reports.push(sentence));
  await stack.crm.kill();
  await until(() => reports.length === 2);
  expect(reports).toEqual([expect.stringContaining(stack.crm.log), 'CRM runs again.']);
  await until(() => isReady(stack.crm.url));
  await kept.stop();
  await stack.crm.kill();
  await stack.crm.start();
  expect(reports).toHaveLength(2);
});

test('a service that cannot be started again ends `npm start` with the reason', async () => {
  const broken = {
    url: stack.crm.url,
    log: stack.crm.log,
    start: () => Promise.reject(new Error('no database')),
    stop: () => Promise.resolve(),
    kill: () => Promise.resolve(),
    signal: () => undefined,
    ended: () => Promise.resolve(),
  };
  const { gaveUp } = keepRunning('CRM', broken, () => undefined, 1);
  await expect(gaveUp).resolves.toBe('no database');
});
