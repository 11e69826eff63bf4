import { deferred, until } from '@tessera/local-stack';
import { consume } from './consumption.ts';
import type { SessionOptions } from './session.ts';
import { quiet } from './testing/reading.ts';

test('The lag is that of all partitions, and ends with the stream: the next one starts at the end', async () => {
  const sessions: { readonly options: SessionOptions; end(reason: string): void }[] = [];
  const consumption = consume(
    {
      // Nothing listens there.
      brokers: ['127.0.0.1:9'],
      clientId: 'test',
      groupId: 'test',
      topics: ['sold', 'moved'],
      logger: quiet,
      onRecord: () => undefined,
      onConnected: () => undefined,
    },
    (options) => {
      const { promise, resolve } = deferred<string>();
      sessions.push({ options, end: resolve });
      return { connected: () => true, ended: promise, close: async () => resolve('closed') };
    },
  );
  const lags = () => [...consumption.progress()].map(([topic, { lag }]) => [topic, lag]);
  const [first] = sessions;
  first?.options.onBatchEnd?.('sold', 0, 500);
  first?.options.onBatchEnd?.('sold', 1, 20);
  first?.options.onBatchEnd?.('moved', 0, 3);
  first?.options.onBatchEnd?.('sold', 1, 7);
  expect(lags()).toEqual([
    ['sold', 507],
    ['moved', 3],
  ]);

  first?.end('the broker stopped answering');
  await until(() => sessions.length === 2);
  // A batch that was still being read.
  first?.options.onBatchEnd?.('sold', 0, 400);
  expect(lags()).toEqual([
    ['sold', 0],
    ['moved', 0],
  ]);
  await consumption.stop();
});
