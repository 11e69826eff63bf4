import { createRequire } from 'node:module';

const { jest } = import.meta;

// Checks on the library's own class that the patch in patches/ is applied.
interface RequestQueue {
  pending: unknown[];
  maybeThrottle(milliseconds: number): void;
  push(request: object): void;
  checkPendingRequests(): void;
  destroy(): void;
}
type RequestQueueClass = new (options: object) => RequestQueue;
const load = createRequire(import.meta.url);
const Queue = load('kafkajs/src/network/requestQueue') as RequestQueueClass;

const queue = (): RequestQueue =>
  new Queue({
    maxInFlightRequests: 1,
    requestTimeout: 1000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'test',
    logger: { debug: () => undefined },
  });

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('An idle connection sets no timer', () => {
  const idle = queue();
  const check = jest.spyOn(idle, 'checkPendingRequests');
  idle.checkPendingRequests();
  expect(jest.getTimerCount()).toBe(0);
  jest.advanceTimersByTime(1000);
  expect(check).toHaveBeenCalledTimes(1);
});

test('A request that the broker throttles is sent after the requested delay', () => {
  const throttled = queue();
  let sent = 0;
  throttled.maybeThrottle(500);
  throttled.push({
    entry: { correlationId: 1, resolve: () => undefined },
    expectResponse: false,
    sendRequest: () => {
      sent += 1;
    },
  });
  jest.advanceTimersByTime(499);
  expect(sent).toBe(0);
  jest.advanceTimersByTime(2);
  expect(sent).toBe(1);
  expect(jest.getTimerCount()).toBe(0);
});
