import type { User } from '../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import type { Bearer } from '../testing/population.ts';
import { stepsOf } from '../testing/sign-in.ts';

const PIN = '192837';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

interface Guessing {
  guess(
    code: string,
  ): Promise<{ status: number; body: { error?: string }; headers: Record<string, string> }>;
  right(): Promise<string>;
  wrong(): string;
  /** Makes the lock expire. */
  wait(): Promise<unknown>;
}

const past = new Date(0);

const factors = {
  'the second factor': async (user: User, bearer: Bearer): Promise<Guessing> => {
    const authenticator = await identity.people.enableTwoFactor(user, bearer);
    const { verify } = stepsOf(identity);
    return {
      guess: (code) => verify(bearer, code),
      right: () => authenticator.code(),
      wrong: () => authenticator.wrongCode(),
      wait: () =>
        identity.context.database.twoFactor.update({
          where: { userId: user.id },
          data: { lockedUntil: past },
        }),
    };
  },
  'the PIN': async (user: User, bearer: Bearer): Promise<Guessing> => {
    await identity.people.setPin(bearer, PIN);
    const { verifyPin } = stepsOf(identity);
    return {
      guess: (pin) => verifyPin(bearer, pin),
      right: async () => PIN,
      wrong: () => '918273',
      wait: () =>
        identity.context.database.pin.update({
          where: { userId: user.id },
          data: { lockedUntil: past },
        }),
    };
  },
};

describe.each(Object.entries(factors))('%s is locked', (_, prepare) => {
  let guessing: Guessing;
  let user: User;
  beforeEach(async () => {
    user = await identity.people.user();
    guessing = await prepare(user, await identity.people.signIn(user));
  });

  const fail = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1)
      expect((await guessing.guess(guessing.wrong())).status).toBe(422);
  };
  const lockedFor = async (): Promise<number> => {
    const { status, body, headers } = await guessing.guess(await guessing.right());
    expect([status, body.error, headers['x-ratelimit-remaining']]).toEqual([
      429,
      'rate_limited',
      '0',
    ]);
    expect(headers.ratelimit).toMatch(/"; r=0; t=\d+$/);
    return Number(headers['retry-after']);
  };

  test('after five consecutive wrong ones, even for the right one, and the response says until when', async () => {
    await fail(5);
    const seconds = await lockedFor();
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  test('for a time that grows with each further wrong one, up to a day', async () => {
    await fail(5);
    const times = [];
    for (let i = 0; i < 13; i += 1) {
      await guessing.wait();
      await fail(1);
      times.push(Math.round((await lockedFor()) / 60));
    }
    expect(times).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440, 1440]);
  });

  test('not after that time; the right one resets the count', async () => {
    await fail(5);
    await guessing.wait();
    expect((await guessing.guess(await guessing.right())).status).toBe(200);
    await fail(4);
    expect((await guessing.guess(await guessing.right())).status).toBe(200);
    await fail(5);
    expect(await lockedFor()).toBeLessThanOrEqual(60);
  });

  test('after five of thirty concurrent wrong ones', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => guessing.guess(guessing.wrong())),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(25);
  });

  test('only for this user', async () => {
    await fail(5);
    const other = await identity.people.user();
    const theirs = await prepare(other, await identity.people.signIn(other));
    expect((await theirs.guess(await theirs.right())).status).toBe(200);
  });

  test('and each wrong one is in the activity log', async () => {
    await fail(2);
    const entries = await identity.context.database.activityEntry.findMany({
      where: { userId: user.id },
    });
    const failures = entries.filter(({ action }) => /^(two_factor|pin)_failed$/.test(action));
    expect(failures).toHaveLength(2);
  });
});

test('PINs that could not be verified do not count', async () => {
  const busy = await startIdentity({ HASH_QUEUE_LIMIT: '0', BCRYPT_COST: '10' });
  try {
    const user = await busy.people.user();
    const bearer = await busy.people.signIn(user);
    await busy.people.setPin(bearer, PIN);
    const { verifyPin } = stepsOf(busy);
    const answers = await Promise.all(Array.from({ length: 12 }, () => verifyPin(bearer, PIN)));
    expect(answers.some(({ status }) => status === 503)).toBe(true);
    expect((await verifyPin(bearer, PIN)).status).toBe(200);
  } finally {
    await busy.stop();
  }
});

describe('requests a minute', () => {
  test.each([
    ['/api/auth/2fa/verify', { code: '123456' }],
    ['/api/auth/pin/verify', { pin: '192837' }],
  ])('POST %s is 5 a minute', async (path, body) => {
    const strict = await startIdentity({
      RATE_LIMIT_TWO_FACTOR: '5',
      RATE_LIMIT_PIN: '5',
      LOCKOUT_ATTEMPTS: '100',
    });
    try {
      const user = await strict.people.user();
      const bearer = await strict.people.signIn(user);
      const statuses = [];
      for (let i = 0; i < 6; i += 1) {
        const answer = await strict.http.post(path).set(bearer).send(body);
        statuses.push(answer.status);
        if (i === 5) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
      expect(statuses).toEqual([409, 409, 409, 409, 409, 429]);
      const unknown = await strict.http.post(path).send(body);
      expect(unknown.status).toBe(429);
    } finally {
      await strict.stop();
    }
  });
});
