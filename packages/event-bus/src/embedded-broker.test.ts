import { type Broker, startBroker, withoutSchemas } from '@tessera/local-stack';
import { createPublisher } from './publisher.ts';

const topic = 'test.moved';
const asyncapi = {
  asyncapi: '3.0.0',
  info: { title: 'test', version: '1' },
  channels: {
    moved: { address: topic, messages: { moved: { $ref: '#/components/messages/moved' } } },
  },
  components: {
    messages: {
      moved: {
        name: 'moved',
        payload: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      },
    },
  },
};

let broker: Broker;
beforeAll(async () => {
  broker = await startBroker({ asyncapi: withoutSchemas(asyncapi) });
});
afterAll(() => broker.stop());

test('The broker of the local stack accepts batches of records of any size', async () => {
  const publisher = createPublisher({ brokers: broker.brokers, clientId: 'test' });
  const value = JSON.stringify({ text: 'a'.repeat(600) });
  try {
    for (let batch = 0; batch < 3; batch += 1) {
      await publisher.publish([1, 2, 3].map((n) => ({ topic, key: `0${n}`, value })));
    }
  } finally {
    await publisher.close();
  }
});
