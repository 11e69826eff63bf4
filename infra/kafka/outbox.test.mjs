import { createRequire } from 'node:module';
import {
  firstOccurrences,
  gapsIn,
  runWithKills,
  sequencesOf,
} from '../../apps/identity/src/testing/killed-relay.ts';
import { makeOutbox } from '../../apps/identity/src/testing/outbox.ts';

// The only package that depends on it.
const load = createRequire(new URL('../../packages/event-bus/package.json', import.meta.url));
const kafkajs = load('kafkajs');

/** All messages of the topics. */
const contentsOf = async ({ brokers }, topics) => {
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const left = new Map();
  for (const topic of topics) {
    for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
      if (high !== '0') left.set(`${topic} ${partition}`, BigInt(high));
    }
  }
  await admin.disconnect();
  const values = [];
  const consumer = kafka.consumer({ groupId: 'reader' });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await new Promise((resolve) => {
    consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        values.push(String(message.value));
        const place = `${topic} ${partition}`;
        if (BigInt(message.offset) + 1n === left.get(place)) left.delete(place);
        if (left.size === 0) resolve();
      },
    });
  });
  await consumer.disconnect();
  return values;
};

test('of 2,000 changes none is lost, and each key keeps its order, however often relay and Kafka are killed', async () => {
  const outbox = await makeOutbox();
  let published = [];
  try {
    const { stored, acknowledged } = await runWithKills(
      { outbox, changes: 2000, kills: { relay: 15, broker: 5 }, seed: 20_261_121 },
      async (broker) => {
        published = await contentsOf(broker, ['identity.policy.updated', 'identity.token.revoked']);
      },
    );
    const expected = sequencesOf(stored);
    expect([stored.length, Object.keys(expected).length]).toEqual([2000, 5]);
    for (const seen of [published, acknowledged].map(sequencesOf)) {
      expect(firstOccurrences(seen)).toEqual(expected);
      expect(gapsIn(seen, expected)).toEqual([]);
    }
    console.log(`${published.length - stored.length} of them were published more than once.`);
  } finally {
    await outbox.close();
  }
}, 300_000);
