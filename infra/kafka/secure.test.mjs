import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consume, createPublisher } from '../../packages/event-bus/src/index.ts';
import { startBroker } from './kafka.mjs';
import { createCertificate } from './secure.mjs';

const users = { tessera: 'a-password-of-the-test' };
const logger = { debug() {}, info() {}, warn() {}, error() {} };

let directory;
let ca;
let broker;
const running = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tessera-tls-'));
  const certificate = await createCertificate(directory);
  ca = certificate.ca;
  broker = await startBroker({ secure: { keystore: certificate.keystore, users } });
});
afterEach(() => Promise.all(running.splice(0).map((end) => end())));
afterAll(async () => {
  await broker?.stop();
  await rm(directory, { recursive: true });
});

const publisherWith = (security) => {
  const publisher = createPublisher({ brokers: broker.brokers, clientId: 'test', security });
  running.push(() => publisher.close());
  return publisher;
};

const user = (mechanism, password = users.tessera) => ({
  mechanism,
  username: 'tessera',
  password,
});
const message = { topic: 'secured', key: 'key', value: 'a value' };

test.each(['plain', 'scram-sha-512'])(
  'Events are published and consumed over TLS by a user who authenticates with %s',
  async (mechanism) => {
    const security = { ca, sasl: user(mechanism) };
    let consumption;
    const received = new Promise((resolve) => {
      consumption = consume({
        brokers: broker.brokers,
        clientId: 'test',
        security,
        groupId: `test-${mechanism}`,
        topics: [message.topic],
        logger,
        onRecord: async ({ value }) => resolve(String(value)),
        onConnected: () => publisherWith(security).publish([message]),
      });
    });
    running.push(() => consumption.stop());
    await expect(received).resolves.toBe(message.value);
  },
);

test.each([
  ['with a wrong password', () => ({ ca, sasl: user('scram-sha-512', 'wrong') }), /authenticat/i],
  ['without a user', () => ({ ca }), /SASL|closed|disconnect|authenticat/i],
  [
    'if another authority has signed its certificate',
    () => ({ sasl: user('plain') }),
    /certificate/i,
  ],
  ['without TLS', () => undefined, /closed|disconnect|timeout|time limit/i],
])('The broker is not used %s, and the error says why', async (_, security, reason) => {
  await expect(publisherWith(security()).publish([message])).rejects.toThrow(reason);
});
