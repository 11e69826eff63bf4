import { until } from '@tessera/local-stack';
import bcrypt from 'bcrypt';
import { deviceCookieOf } from '../../testing/cookies.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { PASSWORD } from '../../testing/population.ts';

const running: TestIdentity[] = [];
const start = async (environment: Record<string, string>): Promise<TestIdentity> => {
  const identity = await startIdentity(environment);
  running.push(identity);
  return identity;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((identity) => identity.stop()));
});

const attempt = ({ http }: TestIdentity, email: string | null, password: string) =>
  http.post('/api/auth/login').send({ email, password });

describe('for one address', () => {
  test('there are five sign-ins per minute, successful or not', async () => {
    const identity = await start({ RATE_LIMIT_LOGIN: '5' });
    const { email } = await identity.people.user();
    for (const left of [4, 3, 2, 1, 0]) {
      const { status, headers } = await attempt(identity, email, PASSWORD);
      expect([status, headers['x-ratelimit-remaining']]).toEqual([200, `${left}`]);
    }
    const { status, body, headers } = await attempt(identity, email, PASSWORD);
    expect([status, body.error]).toEqual([429, 'rate_limited']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });

  test('a forged X-Forwarded-For is ignored, that of the trusted proxy is used', async () => {
    const direct = await start({ RATE_LIMIT_LOGIN: '1' });
    const proxied = await start({ RATE_LIMIT_LOGIN: '1', TRUSTED_PROXIES: '1' });
    const from = (identity: TestIdentity, forwarded: string) =>
      attempt(identity, 'nobody@example.test', 'wrong').set('x-forwarded-for', forwarded);
    expect((await from(direct, '203.0.113.1')).status).toBe(401);
    expect((await from(direct, '203.0.113.2')).status).toBe(429);
    expect((await from(proxied, '198.51.100.1, 203.0.113.1')).status).toBe(401);
    expect((await from(proxied, '198.51.100.2, 203.0.113.1')).status).toBe(429);
    expect((await from(proxied, '198.51.100.2, 203.0.113.2')).status).toBe(401);
  });
});

describe('for one account', () => {
  test('after five failures even the right password is rejected with Retry-After', async () => {
    const identity = await start({ RATE_LIMIT_LOGIN_FAILURES: '5' });
    const { email } = await identity.people.user();
    for (let i = 0; i < 5; i += 1) {
      expect((await attempt(identity, email, 'wrong')).status).toBe(401);
    }
    const { status, body, headers } = await attempt(identity, email, PASSWORD);
    expect([status, body.error]).toEqual([429, 'rate_limited']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    expect((await attempt(identity, email?.toUpperCase() ?? '', PASSWORD)).status).toBe(429);
    const other = await identity.people.user();
    expect((await attempt(identity, other.email, PASSWORD)).status).toBe(200);
  });

  test('the same applies to an account that does not exist', async () => {
    const identity = await start({ RATE_LIMIT_LOGIN_FAILURES: '2' });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) {
      statuses.push((await attempt(identity, 'nobody@example.test', 'wrong')).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
  });

  test('a hundred concurrent attempts still count as five', async () => {
    const identity = await start({ RATE_LIMIT_LOGIN_FAILURES: '5', HASH_QUEUE_LIMIT: '1000' });
    const { email } = await identity.people.user();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => attempt(identity, email, `guess ${i}`)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(95);
  });

  test('a device lifts the limit only of the account that has confirmed the address', async () => {
    const identity = await start({ REGISTRATION_ENABLED: 'true', RATE_LIMIT_LOGIN_FAILURES: '2' });
    const failuresOnDeviceOf = async (email: string, password: string) => {
      const device = deviceCookieOf(await attempt(identity, email, password).expect(200));
      const statuses = [];
      for (let i = 0; i < 3; i += 1) {
        statuses.push((await attempt(identity, email, 'wrong').set(device)).status);
      }
      return statuses;
    };
    // Otherwise, whoever registers with an address would learn whether it has an account.
    const password = 'Another-horse-8-battery';
    const claim = (email: string) =>
      identity.people.user({ password, data: { email, emailVerifiedAt: null } });
    const { email: taken } = await identity.people.user({ data: { email: 'taken@example.test' } });
    const { email: free } = await claim('free@example.test');
    await claim(taken ?? '');
    const limited = [401, 401, 429];
    expect(await failuresOnDeviceOf(free ?? '', password)).toEqual(limited);
    expect(await failuresOnDeviceOf(taken ?? '', password)).toEqual(limited);
    const { email: own } = await identity.people.user();
    expect(await failuresOnDeviceOf(own ?? '', PASSWORD)).toEqual([401, 401, 401]);
  });

  test('those who know their password are never locked out by signing in', async () => {
    const identity = await start({ RATE_LIMIT_LOGIN_FAILURES: '2' });
    const { email } = await identity.people.user();
    for (let i = 0; i < 6; i += 1) {
      expect((await attempt(identity, email, PASSWORD)).status).toBe(200);
    }
  });
});

describe('hashing', () => {
  test('is bounded: sign-ins that find the queue full get 503', async () => {
    const identity = await start({ HASH_QUEUE_LIMIT: '0', BCRYPT_COST: '10' });
    const { email } = await identity.people.user();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => attempt(identity, email, PASSWORD)),
    );
    const shed = answers.filter(({ status }) => status === 503);
    expect(shed.length).toBeGreaterThan(0);
    expect(answers.length - shed.length).toBeGreaterThan(0);
    for (const { body, headers } of shed) {
      expect([body.error, headers['retry-after']]).toEqual(['overloaded', '1']);
    }
    expect((await attempt(identity, email, PASSWORD)).status).toBe(200);
  });

  test('a rejected sign-in does not count as a failed attempt', async () => {
    const identity = await start({ HASH_QUEUE_LIMIT: '0', RATE_LIMIT_LOGIN_FAILURES: '40' });
    const { email } = await identity.people.user();
    await Promise.all(Array.from({ length: 40 }, () => attempt(identity, email, PASSWORD)));
    for (let i = 0; i < 5; i += 1) {
      expect((await attempt(identity, email, PASSWORD)).status).toBe(200);
    }
  });

  const register = ({ http }: TestIdentity, i: number, address: string) => {
    const application = {
      email: `new-${i}@example.test`,
      first_name: 'Ada',
      last_name: 'Lovelace',
      tenant_name: 'Analytical Engines',
      password: 'Another-horse-8-battery',
      password_confirmation: 'Another-horse-8-battery',
    };
    return http.post('/api/auth/register').set('x-forwarded-for', address).send(application);
  };

  test.each<[string, (i: number) => string]>([
    ['many addresses', (i) => `198.51.100.${i}`],
    ['one network of IPv6', (i) => `2001:db8::${i}`],
  ])('of registrations from %s leaves the next core to a sign-in', async (_, addressOf) => {
    const identity = await start({
      REGISTRATION_ENABLED: 'true',
      TRUSTED_PROXIES: '1',
      BCRYPT_COST: '12',
    });
    const { email } = await identity.people.user();
    const statuses: number[] = [];
    const registrations = Array.from({ length: 59 }, (_element, i) =>
      register(identity, i, addressOf(i)).then(({ status }) => void statuses.push(status)),
    );
    const waiting = async (): Promise<number> => {
      const text = await identity.context.metrics.registry.getSingleMetricAsString(
        'password_hash_queue_length',
      );
      return Number(text.trim().split(' ').at(-1));
    };
    await until(async () => (await waiting()) >= 12);
    const before = await waiting();
    const begun = statuses.filter((status) => status === 202).length;
    const { status } = await attempt(identity, email, PASSWORD).set('x-forwarded-for', '192.0.2.7');
    expect(status).toBe(200);
    const meanwhile = statuses.filter((one) => one === 202).length - begun;
    // In the order of their arrival, all that waited would come first.
    expect(meanwhile).toBeLessThanOrEqual(before / 2);
    await Promise.all(registrations);
    expect(new Set(statuses)).toEqual(new Set([202, 503]));
  });

  test.each([
    ['lower than', 4, 7],
    ['equal to', 7, 7],
    ['higher than', 8, 8],
  ])(
    'takes as much work for a hash with a cost %s the configured one as for an unknown address',
    async (_, cost, work) => {
      const identity = await start({ BCRYPT_COST: '7' });
      const { database } = identity.context;
      const { id, email } = await identity.people.user();
      const { email: other } = await identity.people.user();
      const inactive = await identity.people.user({ data: { isActive: false } });
      const withoutPassword = await identity.people.user();
      await database.user.update({
        where: { id: withoutPassword.id },
        data: { passwordHash: null },
      });
      const passwordHash = await bcrypt.hash(PASSWORD, cost);
      await database.user.update({ where: { id }, data: { passwordHash } });
      const compare = import.meta.jest.spyOn(bcrypt, 'compare');
      try {
        const workFor = async (address: string | null) => {
          compare.mockClear();
          expect((await attempt(identity, address, 'wrong')).status).toBe(401);
          const hashes = compare.mock.calls.map(([, hash]) => String(hash));
          return hashes.reduce((work, hash) => work + 2 ** bcrypt.getRounds(hash), 0);
        };
        const addresses = [email, other, inactive.email, withoutPassword.email, 'no@example.test'];
        for (const address of addresses) {
          expect([address, await workFor(address)]).toEqual([address, 2 ** work]);
        }
        // Without the hash, the configured cost is the highest one.
        await database.user.update({ where: { id }, data: { passwordHash: null } });
        for (const address of addresses) {
          expect([address, await workFor(address)]).toEqual([address, 2 ** 7]);
        }
      } finally {
        compare.mockRestore();
      }
    },
  );

  test('takes as much CPU time for an unknown address', async () => {
    const identity = await start({ BCRYPT_COST: '10' });
    const { email } = await identity.people.user();
    // Not elapsed time, which depends on what else the machine does.
    const cpuTime = async (address: string | null) => {
      const before = process.cpuUsage();
      expect((await attempt(identity, address, 'wrong')).status).toBe(401);
      return process.cpuUsage(before).user;
    };
    const [known, unknown]: [number[], number[]] = [[], []];
    for (let i = 0; i < 7; i += 1) {
      known.push(await cpuTime(email));
      unknown.push(await cpuTime('nobody@example.test'));
    }
    // Without the work of a hash it would be a tenth.
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 2);
    expect(Math.min(...known)).toBeGreaterThan(Math.min(...unknown) / 2);
  });
});
