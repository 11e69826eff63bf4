import { randomUUID } from 'node:crypto';
import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import pg from 'pg';
import { createDatabase } from '../database.ts';
import { contact } from '../features/contacts/contacts.kind.ts';
import { createRecords } from '../records/records.ts';
import { type OutboxDatabase, openOutbox } from '../testing/outbox.ts';
import { onPartitions } from '../testing/partitioned-tables.ts';
import { callerIn } from '../testing/records.ts';
import { type OutboxEvent, type OutboxReaderOptions, startOutboxReader } from './outbox-reader.ts';

const logger = createLogger('test', 'silent');

let access: OutboxDatabase['access'];
let database: OutboxDatabase['database'];
let contacts: OutboxDatabase['contacts'];
let stops: (() => Promise<unknown>)[];
beforeEach(async () => {
  ({ access, database, contacts } = await openOutbox(logger));
  stops = [() => database.close()];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
});

/** The server lets every tenant have webhooks, or none. */
const letWebhooks = (exist: boolean) =>
  database.pool.query(`CREATE OR REPLACE FUNCTION tenant_crm.has_webhooks(tenant uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN ${exist}; END $$`);

const waiting = async (sink: string): Promise<number> => {
  const { rows } = await database.pool.query(
    'SELECT count(*)::int AS count FROM tenant_crm.outbox WHERE sink = $1',
    [sink],
  );
  return rows[0].count;
};

const setAside = async (): Promise<{ record_id: string; error: string }[]> => {
  const { rows } = await database.pool.query(
    'SELECT record_id, error FROM tenant_crm.outbox WHERE failed_at IS NOT NULL',
  );
  return rows;
};

const start = (options: Partial<OutboxReaderOptions>) => {
  const seen: OutboxEvent[] = [];
  const reader = startOutboxReader({
    database: access,
    logger,
    sink: 'kafka',
    handle: async (events) => void seen.push(...events),
    ...options,
  });
  stops.push(() => reader.stop());
  return { seen, reader };
};

const person = (first_name: string) => ({ first_name, last_name: 'Doe' }) as never;

describe('the outbox', () => {
  test('has an event for each change of a record, without the values of fields', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, person('Ada'));
    await contacts.update(caller, id, { first_name: 'Grace' } as never, undefined);
    await contacts.delete(caller, id, undefined);
    const { seen } = start({});
    await until(() => seen.length === 3);
    expect(seen.map(({ type, version, data }) => [type, version, data.changed_fields])).toEqual([
      ['crm.contacts.created', 1, []],
      ['crm.contacts.updated', 2, ['first_name']],
      ['crm.contacts.deleted', 3, []],
    ]);
    expect(seen[0]).toMatchObject({
      tenantId: caller.tenantId,
      recordId: id,
      tableName: 'contacts',
      data: { actor_type: 'user', user_id: caller.principal.id, client_id: null },
    });
    expect(JSON.stringify(seen)).not.toMatch(/Ada|Grace|Doe/);
    expect(new Set(seen.map((event) => event.id)).size).toBe(3);
    await until(async () => (await waiting('kafka')) === 0);
  });

  test('has an event for each record of a change of many', async () => {
    const caller = callerIn();
    await contacts.addMany(caller, ['Ada', 'Grace', 'Edsger'].map(person));
    expect(await waiting('kafka')).toBe(3);
  });

  test('has no event of a change that is rolled back', async () => {
    const caller = callerIn();
    const failing = database.transaction(caller.tenantId, async () => {
      await contacts.create(caller, person('Ada'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await waiting('kafka')).toBe(0);
  });

  test('stays empty while no broker is configured and no tenant has a webhook', async () => {
    const silent = createDatabase(access, logger);
    stops.push(() => silent.close());
    await createRecords(contact, silent).create(callerIn(), person('Ada'));
    expect(await waiting('kafka')).toBe(0);
    await letWebhooks(true);
    await createRecords(contact, silent).create(callerIn(), person('Ada'));
    expect([await waiting('kafka'), await waiting('webhooks')]).toEqual([0, 1]);
  });

  test('has the same event id for every sink', async () => {
    await letWebhooks(true);
    await contacts.create(callerIn(), person('Ada'));
    const { rows } = await database.pool.query(
      'SELECT sink, event_id FROM tenant_crm.outbox ORDER BY sink',
    );
    expect(rows.map(({ sink }) => sink)).toEqual(['kafka', 'webhooks']);
    expect(rows[0].event_id).toBe(rows[1].event_id);
  });
});

describe('a reader', () => {
  test('is woken by a change, without a poll', async () => {
    const { seen } = start({ pollMs: 3_600_000 });
    for (let count = 1; count <= 5; count += 1) {
      await contacts.create(callerIn(), person('Ada'));
      await until(() => seen.length === count);
    }
  });

  test('commits what it writes to the rows of tenants together with the deletion of the events', async () => {
    const [acme, globex] = [callerIn(), callerIn()];
    for (const caller of [acme, globex, acme]) await contacts.create(caller, person('Ada'));
    let failures = 2;
    const tag = (event: OutboxEvent) => ({
      text: 'UPDATE tenant_crm.contacts SET notes = coalesce(notes, $3) || $3 WHERE tenant_id = $1 AND id = $2',
      values: [event.tenantId, event.recordId, 'x'],
    });
    start({
      async handle(events, tx) {
        for (const event of events) await tx.forTenant(event.tenantId).query(tag(event));
        failures -= 1;
        if (failures >= 0) throw new Error('the sink is broken');
      },
    });
    await until(async () => (await waiting('kafka')) === 0);
    const { rows } = await database.pool.query('SELECT notes FROM tenant_crm.contacts');
    expect(rows.map(({ notes }) => notes)).toEqual(['xx', 'xx', 'xx']);
  });

  test('sets an event aside that its sink refuses, and hands over all others', async () => {
    const caller = callerIn();
    const names = Array.from({ length: 9 }, (_, index) => `Ada ${index}`);
    const ids = await contacts.addMany(caller, names.map(person));
    const refused = new Set([ids[2], ids[3], ids[8]]);
    const taken: string[] = [];
    start({
      async handle(events) {
        if (events.some(({ recordId }) => refused.has(recordId))) {
          const cause = Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
          throw new Error('Cannot publish', { cause });
        }
        taken.push(...events.map(({ recordId }) => recordId));
      },
    });
    await until(async () => (await waiting('kafka')) === refused.size);
    const others = ids.filter((id) => !refused.has(id));
    await until(() => taken.length === others.length);
    expect(taken.toSorted()).toEqual(others.toSorted());
    await until(async () => (await setAside()).length === refused.size);
    expect((await setAside()).map(({ record_id }) => record_id).toSorted()).toEqual(
      [...refused].toSorted(),
    );
    expect((await setAside())[0]?.error).toBe('Cannot publish');
  });

  test('never sets an event aside because of an outage, and hands over fewer at a time until it ends', async () => {
    const caller = callerIn();
    await contacts.addMany(caller, ['Ada', 'Grace', 'Edsger', 'Alan'].map(person));
    const sizes: number[] = [];
    start({
      async handle(events) {
        sizes.push(events.length);
        if (sizes.length < 4) throw new Error('the broker did not answer in time');
      },
    });
    await until(async () => (await waiting('kafka')) === 0);
    expect(sizes.slice(0, 5)).toEqual([4, 2, 1, 1, 2]);
    expect(await setAside()).toEqual([]);
  });

  test('of one sink does not wait for another sink that is broken', async () => {
    await letWebhooks(true);
    const { seen } = start({});
    start({
      sink: 'webhooks',
      handle: async () => {
        throw new Error('the sink is broken');
      },
    });
    const caller = callerIn();
    for (let count = 1; count <= 3; count += 1) {
      await contacts.create(caller, person('Ada'));
      await until(() => seen.length === count);
    }
    expect(await waiting('webhooks')).toBe(3);
  });

  test('takes over when the other one stops, and each event is handled once', async () => {
    const first = start({});
    await contacts.create(callerIn(), person('Ada'));
    await until(() => first.seen.length === 1);
    const second = start({});
    await contacts.create(callerIn(), person('Ada'));
    await until(() => first.seen.length === 2);
    await first.reader.stop();
    await contacts.create(callerIn(), person('Ada'));
    await until(() => second.seen.length === 1);
    expect(first.seen.length).toBe(2);
  });

  test('continues after its connection is cut', async () => {
    const { seen } = start({});
    await contacts.create(callerIn(), person('Ada'));
    await until(async () => (await waiting('kafka')) === 0);
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm outbox kafka'
         AND datname = current_database()`,
    );
    await contacts.create(callerIn(), person('Ada'));
    await until(async () => (await waiting('kafka')) === 0);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2);
  });
});

test('A user who does not own the tables reads the outbox, and a tenant does not see the rows of others', async () => {
  if (onPartitions) return;
  const name = `member_${randomUUID().replaceAll('-', '')}`;
  await database.pool.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret' IN ROLE tessera_tenant`);
  const own = new URL(access.url);
  own.username = name;
  own.password = 'secret';
  await contacts.create(callerIn(), person('Ada'));
  const { seen } = start({ database: { rowSecurity: true, directUrl: own.href } });
  await until(async () => (await waiting('kafka')) === 0);
  expect(seen.length).toBe(1);
  await contacts.create(callerIn(), person('Ada'));
  const client = new pg.Client({ connectionString: own.href });
  await client.connect();
  const count = 'SELECT count(*)::int AS count FROM tenant_crm.outbox';
  expect((await client.query(count)).rows[0].count).toBe(0);
  await client.query(`SELECT set_config('tessera.tenant_id', '${randomUUID()}', false)`);
  for (const call of [
    "first_in_outbox('kafka', 9)",
    `next_in_outbox('kafka', '${randomUUID()}', 9)`,
  ]) {
    expect((await client.query(`SELECT * FROM tenant_crm.${call}`)).rows).toEqual([]);
  }
  await client.end();
});
