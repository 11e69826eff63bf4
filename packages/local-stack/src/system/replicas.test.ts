import type { Application } from '../application.ts';
import { until } from '../until.ts';
import { follow } from './channel-stream.ts';
import { call } from './requests.ts';
import { type RoundRobin, startRoundRobin } from './round-robin.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

/** One replica of each service uses several cores: to clients, its workers are replicas as well. */
const severalWorkers = { WORKERS: '2' };

let identity: RoundRobin;
let crm: RoundRobin;
let following: { stop(): Promise<void> } | undefined;
let stack: TestStack;
/** The replicas of each service. */
let replicas: { readonly proxy: RoundRobin; readonly application: Application }[];

beforeAll(async () => {
  [identity, crm] = await Promise.all([startRoundRobin(), startRoundRobin()]);
  // They reach each other as soon as they start.
  stack = await startTestStack({
    publicUrls: { identity: identity.url, crm: crm.url },
  });
  replicas = [
    { proxy: identity, application: stack.identity },
    { proxy: crm, application: stack.crm },
    { proxy: identity, application: await stack.addReplica('identity', severalWorkers) },
    { proxy: crm, application: await stack.addReplica('crm', severalWorkers) },
  ];
  for (const { proxy, application } of replicas) proxy.add(application.url);
});
afterAll(async () => {
  await following?.stop();
  await stack?.remove();
  await Promise.all([identity?.stop(), crm?.stop()]);
});

const replicasOf = (service: RoundRobin): Application[] =>
  replicas.filter(({ proxy }) => proxy === service).map(({ application }) => application);

const signIn = async (): Promise<string> => {
  const { email, password } = stack.system.owner;
  const body = { email, password };
  const answer = await call('POST', `${identity.url}/api/auth/login`, { body });
  return (answer.body as { data: { token: string } }).data.token;
};

const createChannel = async (token: string): Promise<string> => {
  const body = { kind: 'public', name: 'Deployment' };
  const { body: answer } = await call('POST', `${crm.url}/api/crm/channels`, { token, body });
  return `${crm.url}/api/crm/channels/${(answer as { data: { id: string } }).data.id}`;
};

/** Repeats a request until it is stopped; the statuses of all responses. */
const repeat = (send: (n: number) => Promise<{ status: number }>) => {
  const statuses: number[] = [];
  let isStopping = false;
  const run = async () => {
    for (let n = 0; !isStopping; n += 1) statuses.push((await send(n)).status);
  };
  const finished = run();
  return {
    statuses,
    async stop() {
      isStopping = true;
      await finished;
    },
  };
};

test('During a rolling restart of all replicas no request is lost, and streams continue without gaps', async () => {
  const token = await signIn();
  const channel = await createChannel(token);
  const stream = follow(channel, token);
  following = stream;
  await until(() => stream.state.lastId !== '');
  const post = (path: string, body: unknown) => call('POST', path, { token, body });
  const messages = repeat((n) => post(`${channel}/messages`, { body: `${n}` }));
  const others = [
    repeat((n) => post(`${crm.url}/api/crm/contacts`, { first_name: `${n}` })),
    repeat(() => call('GET', `${crm.url}/api/crm/contacts`, { token })),
    repeat(() => call('GET', `${identity.url}/api/me`, { token })),
  ];
  const all = [messages, ...others];
  const progress = () => Math.min(...all.map(({ statuses }) => statuses.length));

  for (const { proxy, application } of replicas) {
    const before = progress();
    await until(() => progress() > before + 5);
    proxy.remove(application.url);
    // Connections are accepted in their order, so with this one the earlier ones are accepted too.
    await call('GET', `${application.url}/livez`);
    await application.stop();
    await application.start();
    proxy.add(application.url);
  }
  const after = progress();
  await until(() => progress() > after + 5);
  await Promise.all(all.map((one) => one.stop()));

  expect(new Set(all.slice(0, 2).flatMap(({ statuses }) => statuses))).toEqual(new Set([201]));
  expect(new Set(all.slice(2).flatMap(({ statuses }) => statuses))).toEqual(new Set([200]));
  const posted = messages.statuses.map((_status, n) => `${n}`);
  await until(() => stream.texts.length >= posted.length);
  expect(stream.texts).toEqual(posted);
  expect(stream.state.connections).toBeGreaterThan(1);
  for (const { proxy, application } of replicas) {
    expect(proxy.counts.get(application.url)).toBeGreaterThan(10);
  }
}, 180_000);

test('A change of rights takes effect at every replica', async () => {
  const token = await signIn();
  const { tenant_id: tenantId, user_id: userId, email, password } = stack.system.viewer;
  const login = { body: { email, password } };
  const { body } = await call('POST', `${identity.url}/api/auth/login`, login);
  const viewer = (body as { data: { token: string } }).data.token;
  const member = `${identity.url}/api/tenants/${tenantId}/members/${userId}`;
  const create = async ({ url }: Application) => {
    const path = `${url}/api/crm/contacts`;
    return (await call('POST', path, { token: viewer, body: { first_name: 'Ada' } })).status;
  };
  for (const [role, status] of [
    ['member', 201],
    ['viewer', 403],
  ] as const) {
    expect((await call('PUT', member, { token, body: { role } })).status).toBe(200);
    for (const replica of replicasOf(crm))
      await until(async () => (await create(replica)) === status);
  }
});

test('Imports that are sent to different replicas run one after the other, and every replica knows them', async () => {
  const token = await signIn();
  const [first, second] = replicasOf(crm) as [Application, Application];
  const send = async ({ url }: Application, rows: number): Promise<string> => {
    const form = new FormData();
    form.append('resource', 'companies');
    const names = Array.from({ length: rows }, () => `Company ${crypto.randomUUID()}`);
    form.append('file', new Blob([`name\n${names.join('\n')}\n`], { type: 'text/csv' }));
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/api/crm/imports`, { method: 'POST', headers, body: form });
    expect(response.status).toBe(201);
    return ((await response.json()) as { data: { id: string } }).data.id;
  };
  const statusesAt = async ({ url }: Application): Promise<string[]> => {
    const path = `${url}/api/crm/imports?sort=created_at`;
    const { body } = await call('GET', path, { token });
    return (body as { data: { status: string }[] }).data.map(({ status }) => status);
  };

  const ids = [];
  for (const replica of [first, second, first]) ids.push(await send(replica, 2000));
  const cancelled = await send(second, 20_000);
  const progress = ids.map((id) =>
    call('GET', `${second.url}/api/crm/imports/${id}/stream`, { token }),
  );
  const cancelling = await call('POST', `${first.url}/api/crm/imports/${cancelled}/cancel`, {
    token,
  });
  expect(cancelling.status).toBe(200);

  const seen: string[][] = [];
  await until(async () => {
    const found = [await statusesAt(first), await statusesAt(second)];
    seen.push(...found);
    return found.every((statuses) => !/pending|running/.test(statuses.join()));
  });
  for (const statuses of seen) {
    expect(statuses.filter((status) => status === 'running').length).toBeLessThanOrEqual(1);
  }
  expect(seen.at(-1)).toEqual(['completed', 'completed', 'completed', 'cancelled']);
  for (const { text } of await Promise.all(progress)) {
    const events = text.split('\n').filter((line) => line.startsWith('data: '));
    expect(JSON.parse(events.at(-1)?.slice(6) ?? '')).toMatchObject({
      status: 'completed',
      rows_created: 2000,
    });
  }
  const { body: list } = await call('GET', `${crm.url}/api/crm/companies`, { token });
  const { body: stopped } = await call('GET', `${crm.url}/api/crm/imports/${cancelled}`, { token });
  const { rows_created } = (stopped as { data: { rows_created: number } }).data;
  expect((list as { meta: { total: number } }).meta.total).toBe(6000 + rows_created);
});
