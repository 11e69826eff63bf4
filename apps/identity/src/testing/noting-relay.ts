import { appendFileSync } from 'node:fs';
import { createPublisher } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { startRelay } from '../outbox/relay.ts';

/**
 * A relay that notes in a file what the broker has acknowledged, before it marks the events as published:
 * the file holds every event that is marked, whenever the relay is killed. SIGKILL can cut a note short,
 * so each note starts on a line of its own. Run as a process of its own.
 */
const { DATABASE_URL: connectionString = '', BROKER: broker = '', NOTES: notes = '' } = process.env;
const publisher = createPublisher({ brokers: [broker], clientId: 'noting relay', timeoutMs: 2000 });

startRelay({
  connectionString,
  logger: createLogger('noting relay', 'silent'),
  // Small ones, so that many hand-overs are there to be interrupted.
  batch: 10,
  async publish(records) {
    await publisher.publish([...records]);
    appendFileSync(notes, records.map(({ value }) => `\n${value}`).join(''));
  },
});
