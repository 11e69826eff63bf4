import { randomUUID } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import { WAITING } from '../testing/locks.ts';
import {
  ascending,
  change,
  makeOutbox,
  type TestOutbox,
  TOPIC,
  versionsByTenant,
} from '../testing/outbox.ts';
import { severable } from '../testing/severable.ts';
import { bumpPolicyVersion, enqueue } from './outbox.ts';
import { type OutboxRecord, type Relay, startRelay } from './relay.ts';

const logger = createLogger('test', 'silent');

let outbox: TestOutbox;
let stops: (() => Promise<void>)[];
beforeEach(async () => {
  outbox = await makeOutbox();
  stops = [() => outbox.close()];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

const start = (options: Partial<Parameters<typeof startRelay>[0]>): Relay => {
  const relay = startRelay({
    connectionString: outbox.url,
    publish: async () => undefined,
    logger,
    ...options,
  });
  stops.push(() => relay.stop());
  return relay;
};

/** A relay that appends records to a list instead of a broker. */
const startListing = (name = 'relay') => {
  const seen: OutboxRecord[] = [];
  const relay = start({
    async publish(records) {
      seen.push(...records);
    },
  });
  return { name, relay, seen };
};

describe('a relay', () => {
  test('publishes committed events, immediately and in order', async () => {
    const { seen } = startListing();
    const [acme = '', globex = ''] = outbox.tenantIds;
    for (const tenantId of [acme, globex, acme, acme]) await change(outbox.database, tenantId);
    await until(() => outbox.allSent());
    expect(seen.map(({ topic, key }) => [topic, key])).toEqual([
      [TOPIC, acme],
      [TOPIC, globex],
      [TOPIC, acme],
      [TOPIC, acme],
    ]);
    const versions = versionsByTenant(seen.map(({ value }) => value));
    expect(versions).toEqual({ [acme]: [2, 3, 4], [globex]: [2] });
  });

  test('does not wait for its next poll when it is notified', async () => {
    const seen: OutboxRecord[] = [];
    start({
      pollMs: 3_600_000,
      async publish(records) {
        seen.push(...records);
      },
    });
    const [acme = ''] = outbox.tenantIds;
    for (let i = 1; i <= 20; i += 1) {
      await change(outbox.database, acme);
      await until(() => seen.length === i);
    }
  });

  test('does not lose a notification that arrives while it publishes', async () => {
    const [acme = ''] = outbox.tenantIds;
    let changedMeanwhile = false;
    start({
      pollMs: 3_600_000,
      async publish() {
        if (changedMeanwhile) return;
        changedMeanwhile = true;
        await change(outbox.database, acme);
      },
    });
    await change(outbox.database, acme);
    await until(() => outbox.allSent());
    expect(await outbox.database.outboxEvent.count()).toBe(2);
  });

  test('publishes a row whose transaction began first and committed last', async () => {
    const [acme = '', globex = ''] = outbox.tenantIds;
    const { seen } = startListing();
    await outbox.database.$transaction(async (tx) => {
      const version = await bumpPolicyVersion(tx, acme);
      await enqueue(tx, { type: TOPIC, data: { tenant_id: acme, version, user_ids: null } });
      await change(outbox.database, globex);
      await until(() => seen.length === 1);
    }, WAITING);
    await until(() => seen.length === 2);
    expect(seen.map(({ key }) => key)).toEqual([globex, acme]);
  });

  test('does not publish events that were rolled back', async () => {
    const [acme = ''] = outbox.tenantIds;
    const { seen } = startListing();
    const failing = outbox.database.$transaction(async (tx) => {
      const version = await bumpPolicyVersion(tx, acme);
      await enqueue(tx, { type: TOPIC, data: { tenant_id: acme, version, user_ids: null } });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await change(outbox.database, acme);
    await until(() => outbox.allSent());
    expect(versionsByTenant(seen.map(({ value }) => value))).toEqual({ [acme]: [2] });
  });

  test('publishes many more events than fit into one batch', async () => {
    const [acme = ''] = outbox.tenantIds;
    const sizes: number[] = [];
    for (let i = 0; i < 25; i += 1) await change(outbox.database, acme);
    start({
      batch: 10,
      async publish(records) {
        sizes.push(records.length);
      },
    });
    await until(() => outbox.allSent());
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('publishes events that are too large for one batch of a broker, and marks them afterwards', async () => {
    const [acme = ''] = outbox.tenantIds;
    const userIds = Array.from({ length: 1000 }, () => randomUUID());
    for (let i = 0; i < 30; i += 1) await change(outbox.database, acme, userIds);
    const seen: OutboxRecord[] = [];
    const marked: number[] = [];
    start({
      async publish(records) {
        const bytes = records.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
        // As Kafka with its default limit.
        if (bytes > 1024 * 1024) throw new Error('MESSAGE_TOO_LARGE');
        const where = { NOT: { publishedAt: null } };
        marked.push((await outbox.database.outboxEvent.count({ where })) - seen.length);
        seen.push(...records);
      },
    });
    await until(() => outbox.allSent());
    expect(marked.length).toBeGreaterThan(1);
    expect(new Set(marked)).toEqual(new Set([0]));
    const versions = versionsByTenant(seen.map(({ value }) => value));
    expect(versions).toEqual({ [acme]: ascending(2, 30) });
  });

  test('retries failed events and skips none', async () => {
    const [acme = ''] = outbox.tenantIds;
    const seen: OutboxRecord[] = [];
    let refusals = 2;
    for (let i = 0; i < 3; i += 1) await change(outbox.database, acme);
    start({
      async publish(records) {
        if (refusals > 0) {
          refusals -= 1;
          throw new Error('the broker is unavailable');
        }
        seen.push(...records);
      },
    });
    await until(() => outbox.allSent());
    const versions = versionsByTenant(seen.map(({ value }) => value));
    expect(versions).toEqual({ [acme]: [2, 3, 4] });
  });
});

describe('of several relays', () => {
  test('one publishes, and each event is published once', async () => {
    const [acme = '', globex = ''] = outbox.tenantIds;
    const relays = [startListing('one'), startListing('two'), startListing('three')];
    for (let i = 0; i < 20; i += 1) await change(outbox.database, i % 2 === 0 ? acme : globex);
    await until(() => outbox.allSent());
    const seen = relays.map((relay) => relay.seen.length).sort((a, b) => a - b);
    expect(seen).toEqual([0, 0, 20]);
  });

  test('another one takes over when it stops', async () => {
    const [acme = ''] = outbox.tenantIds;
    const first = startListing('first');
    await change(outbox.database, acme);
    await until(() => outbox.allSent());
    const second = startListing('second');
    await first.relay.stop();
    await change(outbox.database, acme);
    await until(() => outbox.allSent());
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  });
});

describe('without the database', () => {
  test('a relay reconnects and takes its lock again', async () => {
    const [acme = ''] = outbox.tenantIds;
    const way = await severable(outbox.url);
    const seen: OutboxRecord[] = [];
    start({
      connectionString: way.url,
      async publish(records) {
        seen.push(...records);
      },
    });
    await change(outbox.database, acme);
    await until(() => outbox.allSent());
    await way.cut();
    await change(outbox.database, acme);
    await way.mend();
    await until(() => outbox.allSent());
    await way.cut();
    expect(versionsByTenant(seen.map(({ value }) => value))).toEqual({ [acme]: [2, 3] });
  });

  test('a relay can be stopped', async () => {
    const way = await severable(outbox.url);
    const relay = start({ connectionString: way.url });
    await way.cut();
    await relay.stop();
  });
});
