import { createPublisher } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { startRelay } from '../outbox/relay.ts';

/** A relay that is killed between the broker's answer and its mark; run as a process of its own. */
const { DATABASE_URL: connectionString = '', BROKER: broker = '' } = process.env;
const publisher = createPublisher({ brokers: [broker], clientId: 'dying relay' });

startRelay({
  connectionString,
  logger: createLogger('dying relay', 'silent'),
  batch: 2,
  async publish(records) {
    await publisher.publish([...records]);
    process.kill(process.pid, 'SIGKILL');
    // The signal needs a moment.
    await new Promise(() => undefined);
  },
});
