import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { asyncapiDocument } from '@tessera/contracts';
import { type Consumption, consume, createPublisher, type Publisher } from '@tessera/event-bus';
import { createLogger } from '@tessera/http-kit';
import { type Broker, startBroker, testedProgram, until } from '@tessera/local-stack';
import {
  ascending,
  change,
  makeOutbox,
  type TestOutbox,
  TOPIC,
  versionsByTenant,
} from '../testing/outbox.ts';
import { type OutboxRecord, type Relay, startRelay } from './relay.ts';

const logger = createLogger('test', 'silent');

let outbox: TestOutbox;
let broker: Broker;
let publisher: Publisher;
let relays: Relay[];
beforeEach(async () => {
  outbox = await makeOutbox();
  broker = await startBroker({ asyncapi: asyncapiDocument() });
  publisher = createPublisher({ brokers: broker.brokers, clientId: 'test', timeoutMs: 2000 });
  relays = [];
});
afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  await publisher.close();
  await broker.stop();
  await outbox.close();
});

const start = (
  publish = (records: readonly OutboxRecord[]) => publisher.publish([...records]),
): void => {
  relays.push(startRelay({ connectionString: outbox.url, publish, logger }));
};

/** A relay that records what the broker acknowledged, and what failed. */
const startNoting = () => {
  const sent: string[] = [];
  const refusals: unknown[] = [];
  start(async (records) => {
    try {
      await publisher.publish([...records]);
    } catch (error) {
      refusals.push(error);
      throw error;
    }
    sent.push(...records.map(({ value }) => value));
  });
  return { sent, refusals };
};

/** The records that arrive at the broker from now on. */
const listen = async () => {
  const values: string[] = [];
  const consumption: Consumption = consume({
    brokers: broker.brokers,
    clientId: 'test',
    groupId: 'test',
    topics: [TOPIC],
    logger,
    onConnected: () => undefined,
    onRecord(record) {
      values.push(String(record.value));
      return undefined;
    },
  });
  await until(consumption.connected);
  return { values, consumption };
};

/** Runs a relay in a process that is killed after the broker has taken its first two events. */
const relayUntilKilled = async (): Promise<string | null> => {
  const program = testedProgram('apps/identity/src/testing/dying-relay');
  const child = spawn(process.execPath, program, {
    env: { ...process.env, DATABASE_URL: outbox.url, BROKER: broker.brokers[0] },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = await once(child, 'exit');
  return signal;
};

describe('events that are published to a broker', () => {
  test('are neither lost nor out of order when the relay is killed between sending and marking', async () => {
    const [acme = '', globex = ''] = outbox.tenantIds;
    const { values, consumption } = await listen();
    for (let i = 0; i < 12; i += 1) await change(outbox.database, i % 3 === 0 ? globex : acme);
    expect(await relayUntilKilled()).toBe('SIGKILL');
    // Sent, but not yet marked in the database.
    await until(() => values.length === 2);
    expect(await outbox.database.outboxEvent.count({ where: { publishedAt: null } })).toBe(12);

    start();
    await until(() => outbox.allSent());
    await until(() => values.length === 14);
    await consumption.stop();
    const versions = versionsByTenant(values);
    // Repeated events arrive in the same order.
    expect(versions).toEqual({
      [acme]: [2, ...ascending(2, 8)],
      [globex]: [2, ...ascending(2, 4)],
    });
  });

  test('wait while the broker is unavailable, and are published when it is back', async () => {
    const [acme = ''] = outbox.tenantIds;
    const { sent, refusals } = startNoting();
    await change(outbox.database, acme);
    await until(() => outbox.allSent());

    await broker.kill();
    await change(outbox.database, acme);
    await change(outbox.database, acme);
    await until(() => refusals.length > 0);
    expect(await outbox.allSent()).toBe(false);

    broker = await startBroker({ asyncapi: asyncapiDocument(), port: broker.port });
    await until(() => outbox.allSent());
    expect(versionsByTenant(sent)).toEqual({ [acme]: [2, 3, 4] });
  });

  test('wait for a broker that starts after the relay', async () => {
    const [acme = ''] = outbox.tenantIds;
    await broker.stop();
    const { sent, refusals } = startNoting();
    await change(outbox.database, acme);
    await until(() => refusals.length > 0);
    broker = await startBroker({ asyncapi: asyncapiDocument(), port: broker.port });
    await until(() => outbox.allSent());
    expect(versionsByTenant(sent)).toEqual({ [acme]: [2] });
  });
});
