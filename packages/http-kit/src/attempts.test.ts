import { createAttempts, createFailures } from './attempts.ts';
import { memoryCounters } from './counters.ts';

const { jest } = import.meta;

// The clock is fake: it advances only when a test sets it.
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const attemptsOf = (limit: number, window = 60) =>
  createAttempts({
    name: 'guesses',
    limit,
    window,
    message: 'Later.',
    store: memoryCounters.store('guesses:'),
  });

describe('attempts', () => {
  test('are limited per window and key; the 429 contains the time to wait', async () => {
    const attempts = attemptsOf(2);
    await attempts.take('ada');
    await attempts.take('ada');
    await attempts.take('grace');
    await expect(attempts.take('ada')).rejects.toMatchObject({
      status: 429,
      code: 'rate_limited',
      message: 'Later.',
      headers: {
        'Retry-After': '60',
        'RateLimit-Policy': '"guesses"; q=2; w=60',
        RateLimit: '"guesses"; r=0; t=60',
        'X-RateLimit-Limit': '2',
        'X-RateLimit-Remaining': '0',
      },
    });
  });

  test('that are concurrent count like sequential ones', async () => {
    const attempts = attemptsOf(2);
    const taken = await Promise.allSettled(Array.from({ length: 9 }, () => attempts.take('ada')));
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  test('that were given back do not count', async () => {
    const attempts = attemptsOf(1);
    for (let i = 0; i < 5; i += 1) {
      await attempts.take('ada');
      await attempts.giveBack('ada');
    }
    await attempts.take('ada');
  });

  test('are available again after the window', async () => {
    const attempts = attemptsOf(1, 1);
    await attempts.take('ada');
    jest.advanceTimersByTime(999);
    await expect(attempts.take('ada')).rejects.toMatchObject({ status: 429 });
    jest.advanceTimersByTime(1);
    await attempts.take('ada');
  });
});

describe('failures', () => {
  const failuresOf = (limit: number, store = memoryCounters.store('failures:')) =>
    createFailures({ name: 'failures', limit, window: 60, message: 'Later.', store });

  test('are limited per window and key; later operations are rejected until the window ends', async () => {
    const failures = failuresOf(2);
    await failures.count('ada');
    failures.requireBelowLimit('ada');
    await failures.count('ada');
    expect(() => failures.requireBelowLimit('ada')).toThrow('Later.');
    failures.requireBelowLimit('grace');
    jest.advanceTimersByTime(60_000);
    failures.requireBelowLimit('ada');
  });

  test('counted by another replica are noticed with the next failure', async () => {
    const store = memoryCounters.store('failures:');
    const [here, there] = [failuresOf(2, store), failuresOf(2, store)];
    await here.count('ada');
    await here.count('ada');
    there.requireBelowLimit('ada');
    await there.count('ada');
    expect(() => there.requireBelowLimit('ada')).toThrow('Later.');
  });
});
