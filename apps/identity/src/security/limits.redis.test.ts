import { type RedisServer, startRedis, until } from '@tessera/local-stack';
import { Redis } from 'ioredis';
import {
  identityDatabase,
  startIdentity,
  type TestIdentity,
  testEnvironment,
} from '../testing/identity.ts';
import { PASSWORD } from '../testing/population.ts';

let redis: RedisServer;
const replicas: TestIdentity[] = [];

const start = async (
  environment: Record<string, string>,
): Promise<[TestIdentity, TestIdentity]> => {
  const { KEY_ENCRYPTION_KEYS = '' } = testEnvironment('');
  const DATABASE_URL = await identityDatabase();
  const shared = {
    DATABASE_URL,
    KEY_ENCRYPTION_KEYS,
    // A busy machine may exceed half a second, and then each replica would count separately.
    REDIS_URL: redis.url,
    REDIS_TIMEOUT_MS: '20000',
    ...environment,
  };
  const replica = async (): Promise<TestIdentity> => {
    const identity = await startIdentity(shared);
    replicas.push(identity);
    return identity;
  };
  return [await replica(), await replica()];
};

/** Sends a command to Redis. */
const configure = async (command: string, ...args: string[]): Promise<void> => {
  const client = new Redis(redis.url);
  await client.call(command, ...args);
  client.disconnect();
};

beforeEach(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  await redis.stop();
});

const attempt = ({ http }: TestIdentity, email: string | null, password: string) =>
  http.post('/api/auth/login').send({ email, password });

describe('two replicas with one Redis', () => {
  test('share the limit of an address', async () => {
    const [one, two] = await start({ RATE_LIMIT_LOGIN: '3' });
    const { email } = await one.people.user();
    const remaining = [];
    for (const replica of [one, two, one]) {
      const { status, headers } = await attempt(replica, email, PASSWORD);
      remaining.push([status, headers['x-ratelimit-remaining']]);
    }
    expect(remaining).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '0'],
    ]);
    const { status, headers } = await attempt(two, email, PASSWORD);
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });

  test('share the failures of an account, even a hundred concurrent ones', async () => {
    const [one, two] = await start({ RATE_LIMIT_LOGIN_FAILURES: '5', HASH_QUEUE_LIMIT: '1000' });
    const { email } = await one.people.user();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => attempt(i % 2 ? one : two, email, `guess ${i}`)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(95);
  });

  test('share the limit of a principal', async () => {
    const [one, two] = await start({ RATE_LIMIT_DEFAULT: '2' });
    const bearer = await one.people.signIn(await one.people.user());
    const statuses = [];
    for (const replica of [one, two, two]) {
      statuses.push((await replica.http.get('/api/me').set(bearer)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('count separately while Redis is unavailable, and together again when it is back', async () => {
    const [one, two] = await start({ RATE_LIMIT_LOGIN: '2' });
    const { email } = await one.people.user();
    const statuses = async (...order: TestIdentity[]) => {
      const seen = [];
      for (const replica of order) seen.push((await attempt(replica, email, PASSWORD)).status);
      return seen;
    };
    await redis.kill();
    expect(await statuses(one, one, one, two, two, two)).toEqual([200, 200, 429, 200, 200, 429]);
    await redis.restart();
    const deadline = Date.now() + 30_000;
    const isShared = async () => (await attempt(one, email, PASSWORD)).status === 200;
    while (!(await isShared())) if (Date.now() > deadline) throw new Error('Not shared again.');
    expect(await statuses(one, two)).toEqual([200, 429]);
  });

  type Bearer = Record<string, string>;

  /** Waits until requests of both replicas have one count. */
  const untilShared = async (one: TestIdentity, two: TestIdentity, bearer: Bearer) => {
    const remaining = async ({ http }: TestIdentity) =>
      Number((await http.get('/api/me').set(bearer)).headers['x-ratelimit-remaining']);
    await until(async () => (await remaining(one)) - (await remaining(two)) === 1);
  };

  /** How long requests take that are counted by address and by principal. */
  const timesOf = async (replica: TestIdentity, bearer: Bearer) => {
    const times: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      const begun = performance.now();
      expect((await replica.http.get('/api/me').set(bearer)).status).toBe(200);
      times.push(performance.now() - begun);
    }
    return times;
  };

  const LIMIT_MS = 3000;
  const limits = { REDIS_TIMEOUT_MS: `${LIMIT_MS}`, RATE_LIMIT_DEFAULT: '100000' };

  test.each<[string, () => Promise<void>, () => Promise<void>, number]>([
    ['refuses connections', () => redis.kill(), () => redis.restart(), 0],
    ['is frozen', async () => redis.signal('SIGSTOP'), async () => redis.signal('SIGCONT'), 1],
    [
      'is a replica that cannot be written',
      () => configure('REPLICAOF', '127.0.0.1', '1'),
      () => configure('REPLICAOF', 'NO', 'ONE'),
      0,
    ],
    [
      'has no memory',
      () => configure('CONFIG', 'SET', 'maxmemory', '1'),
      () => configure('CONFIG', 'SET', 'maxmemory', '0'),
      0,
    ],
  ])(
    'wait at most once for a Redis that %s, and notice that it is back',
    async (_fault, begin, end, slow) => {
      const [one, two] = await start(limits);
      const bearer = await one.people.signIn(await one.people.user());
      await untilShared(one, two, bearer);
      await begin();
      const times = await timesOf(one, bearer);
      expect(times.filter((time) => time >= LIMIT_MS)).toHaveLength(slow);
      await end();
      await untilShared(one, two, bearer);
    },
  );

  test('answer without Redis from the start, and use it once it is there', async () => {
    redis.signal('SIGSTOP');
    const [one, two] = await start(limits);
    const bearer = await one.people.signIn(await one.people.user());
    const times = await timesOf(one, bearer);
    expect(times.filter((time) => time >= LIMIT_MS)).toHaveLength(0);
    redis.signal('SIGCONT');
    await untilShared(one, two, bearer);
  });

  test('store no addresses in Redis, and no key longer than its window', async () => {
    const [one] = await start({ RATE_LIMIT_LOGIN_FAILURES: '5' });
    const { email } = await one.people.user();
    await attempt(one, email, 'wrong');
    const client = new Redis(redis.url);
    const keys = await client.keys('*');
    const lifetimes = await Promise.all(keys.map((key) => client.pttl(key)));
    client.disconnect();
    expect(keys).toContainEqual(
      expect.stringMatching(/^tessera:identity:login-account:[\w-]{43}$/),
    );
    expect(keys.join()).not.toContain(email);
    expect(Math.min(...lifetimes)).toBeGreaterThan(0);
  });
});
