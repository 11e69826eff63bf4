import { randomUUID } from 'node:crypto';
import { operations } from './contract.ts';
import { DeploymentAutomationStandIn } from './stand-in.ts';

const standIn = new DeploymentAutomationStandIn();
beforeAll(() => standIn.start());
afterAll(() => standIn.stop());
afterEach(() => standIn.restore());

const ask = async (
  method: string,
  path: string,
  {
    token = standIn.token,
    key = randomUUID() as string | null,
    body,
  }: {
    token?: string;
    key?: string | null;
    body?: unknown;
  } = {},
) => {
  const answer = await fetch(standIn.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(key !== null && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const path = (more = '') => `/deployments/${randomUUID()}${more}`;

test('it implements every operation of the contract', () => {
  expect(operations.map(({ id }) => id).sort()).toEqual([
    'activateDeployment',
    'configureDeployment',
    'createDeployment',
    'deleteDeployment',
    'getDeployment',
    'getHealth',
    'retryDeployment',
    'setVersions',
    'suspendDeployment',
  ]);
});

test('it rejects requests without its token', async () => {
  expect((await ask('GET', '/health', { token: 'x' })).status).toBe(401);
  expect((await ask('GET', '/health')).body).toEqual({ status: 'ok' });
});

test('it rejects requests that violate the contract: a missing key, an invalid body, an unknown path', async () => {
  expect((await ask('POST', path('/suspend'), { key: null })).status).toBe(400);
  expect((await ask('PUT', path('/versions'), { body: { versions: { api: 7 } } })).status).toBe(
    422,
  );
  expect((await ask('PUT', path('/versions'))).status).toBe(422);
  expect((await ask('GET', '/deployments/acme')).status).toBe(404);
});

test('a call with the key of an earlier one is not executed again', async () => {
  const [one, key] = [path(), randomUUID()];
  const first = await ask('POST', `${one}/suspend`, { key });
  await ask('POST', `${one}/activate`);
  expect(await ask('POST', `${one}/suspend`, { key })).toEqual(first);
  expect((await ask('GET', one)).body.state).toBe('active');
});

test('an operation in progress completes at the next status request', async () => {
  const one = path();
  expect((await ask('DELETE', one)).body.state).toBe('deleting');
  expect((await ask('GET', one)).body.state).toBe('gone');
});

test('a call that is set to fail has no effect', async () => {
  const one = path();
  standIn.break('suspendDeployment', 500);
  expect((await ask('POST', `${one}/suspend`)).status).toBe(500);
  standIn.restore();
  expect((await ask('GET', one)).body.state).toBe('active');
});

test('a forgotten deployment is unknown until it is created', async () => {
  const tenantId = randomUUID();
  const one = `/deployments/${tenantId}`;
  standIn.deployments.forget(tenantId);
  expect((await ask('GET', one)).status).toBe(404);
  expect((await ask('POST', `${one}/suspend`)).status).toBe(404);
  expect((await ask('DELETE', one)).status).toBe(404);
  const scale = {
    min_replicas: 1,
    max_replicas: 2,
    cpu_request: '1',
    cpu_limit: '1',
    memory_request: '1Gi',
    memory_limit: '1Gi',
    target_cpu_percent: 70,
  };
  const scaling = { api: scale, worker: scale, scheduler: scale, websocket: scale };
  const body = { slug: 'acme', name: 'Acme', plan: 'starter', versions: {}, scaling };
  expect((await ask('PUT', one, { body })).status).toBe(202);
  expect((await ask('GET', one)).body.state).toBe('active');
});
