import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { freePort, type ServiceProcess, spawnService, until } from '@tessera/local-stack';
import { identityDatabase, testEnvironment } from './testing/identity.ts';

/** Requests for a new password per address and hour. */
const LIMIT = 100;

let identity: ServiceProcess;
let url: string;
let metricsUrl: string;

beforeAll(async () => {
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  identity = spawnService('identity', {
    ...testEnvironment(await identityDatabase()),
    WORKERS: '2',
    METRICS_PORT: `${metricsPort}`,
    LOG_LEVEL: 'info',
    BCRYPT_COST: '10',
    RATE_LIMIT_PASSWORD_FORGOT: `${LIMIT}`,
  });
  url = await identity.ready();
});
afterAll(async () => {
  identity.child.kill('SIGKILL');
  await identity.ended;
});

interface Line {
  readonly msg: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly operation?: string;
}
const lines = (): Line[] =>
  identity
    .logs()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** The lines of the workers that have started, in this order. */
const started = (): Line[] => lines().filter(({ msg }) => msg === 'the worker is ready');

/** The status of a request on a connection of its own, which the primary process gives to one of the workers. */
const statusOf = async (path: string, method = 'GET'): Promise<number | undefined> => {
  const sent = request(`${url}${path}`, { method, agent: false, timeout: 5000 });
  sent.end();
  sent.on('timeout', () => sent.destroy(new Error('no response')));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
};

/** Lacks the address, and counts. */
const askForPassword = () => statusOf('/api/auth/password/forgot', 'POST');

/** How many requests for a new password the limit has allowed. */
let allowedCount = 0;

const workersOf = (operation: string): Set<number | undefined> =>
  new Set(
    lines()
      .filter((line) => line.operation === operation)
      .map(({ worker }) => worker),
  );

const metric = async (name: string): Promise<Map<string, number>> => {
  const text = await (await fetch(metricsUrl)).text();
  const found = text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\S+)$`, 'gm'));
  return new Map([...found].map(([, labels = '', value]) => [labels, Number(value)]));
};

test('both workers answer, share their limits, and report their metrics in one place', async () => {
  const statuses = await Promise.all(Array.from({ length: 30 }, () => statusOf('/livez')));
  expect(statuses).toEqual(Array(30).fill(200));
  await until(() => workersOf('getLiveness').size === 2);
  expect(workersOf('getLiveness')).toEqual(new Set([1, 2]));

  const limited = await Promise.all(Array.from({ length: LIMIT + 20 }, askForPassword));
  const allowed = limited.filter((status) => status !== 429);
  expect(new Set(allowed)).toEqual(new Set([422]));
  allowedCount = allowed.length;
  expect(allowedCount).toBeLessThanOrEqual(LIMIT);
  // Hits that one worker has in reserve are not available to the other one.
  expect(allowedCount).toBeGreaterThanOrEqual(0.95 * LIMIT);

  const memory = await metric('process_resident_memory_bytes');
  expect([...memory.keys()].sort()).toEqual(['worker="1"', 'worker="2"', 'worker="primary"']);
  for (const bytes of memory.values()) expect(bytes).toBeGreaterThan(10_000_000);
  const counts = await metric('http_server_request_duration_seconds_count');
  const live = [...counts].filter(([labels]) => labels.includes('operation="getLiveness"'));
  expect(live).toHaveLength(2);
  expect(live.reduce((sum, [, count]) => sum + count, 0)).toBe(30);
});

test('a worker that is killed is replaced, while the other one answers', async () => {
  const [first] = started().filter(({ worker }) => worker === 2);
  expect(first?.pid).toBeGreaterThan(1);
  process.kill(first?.pid as number, 'SIGKILL');
  const replacement = () => started().filter(({ worker }) => worker === 2)[1];
  const sent: Promise<number | undefined>[] = [];
  await until(() => {
    sent.push(statusOf('/livez').catch(() => undefined));
    return replacement() !== undefined;
  });
  const statuses = await Promise.all(sent);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  // Only the connection that the killed worker was being given can be lost.
  expect(statuses.filter((status) => status !== 200).length).toBeLessThanOrEqual(1);
  expect(replacement()?.pid).not.toBe(first?.pid);
  const atOnce = await Promise.all(Array.from({ length: 10 }, () => statusOf('/livez')));
  expect(atOnce).toEqual(Array(10).fill(200));
  const replaced = await metric('workers_replaced');
  expect(replaced).toEqual(new Map([['worker="primary"', 1]]));
  // The counters are not those of the worker; the other one may still have hits in reserve.
  const last = await Promise.all(Array.from({ length: 0.1 * LIMIT }, askForPassword));
  expect(last).toContain(429);
  allowedCount += last.filter((status) => status !== 429).length;
  expect(allowedCount).toBeLessThanOrEqual(LIMIT);
});

test('SIGTERM lets both workers complete their requests, and the exit code is 0', async () => {
  const signIn = async (at: number): Promise<ClientRequest> => {
    const body = JSON.stringify({ email: `nobody-${at}@example.test`, password: 'wrong' });
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${url}/api/auth/login`, { method: 'POST', headers, agent: false });
    sent.end(body);
    await once(sent, 'finish');
    return sent;
  };
  const running = await Promise.all([0, 1, 2, 3].map(signIn));
  const answers = Promise.all(running.map((sent) => once(sent, 'response')));
  // Connections are accepted in their order: both workers have the requests when they answer these.
  await Promise.all([statusOf('/livez'), statusOf('/livez')]);
  identity.child.kill('SIGTERM');
  const statuses = (await answers).map(([response]) => (response as IncomingMessage).statusCode);
  expect(statuses).toEqual([401, 401, 401, 401]);
  expect(await identity.ended).toBe(0);
  expect(workersOf('login')).toEqual(new Set([1, 2]));
});
