import { createLogger } from '@tessera/http-kit';
import { until } from '@tessera/local-stack';
import { createDatabase, type Database } from '../database.ts';
import { contact } from '../features/contacts/contacts.kind.ts';
import { createRecords } from '../records/records.ts';
import { type OutboxDatabase, openOutbox } from '../testing/outbox.ts';
import { callerIn } from '../testing/records.ts';
import { type OutboxEvent, type OutboxReaderOptions, startOutboxReader } from './outbox-reader.ts';
import { BEFORE_ALL_TENANTS, lastInTurn } from './outbox-turns.ts';

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

const query = async <R = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  (await database.pool.query(text, values)).rows as R[];

/** Ids of tenants, in their order. */
const tenantsOf = (count: number): string[] =>
  Array.from({ length: count }, () => callerIn().tenantId).toSorted();

/** Adds waiting events of tenants, those of each in a row, about records of their own. */
const fill = (tenants: readonly string[], each: number) =>
  query(
    `INSERT INTO tenant_crm.outbox
       (tenant_id, position, sink, event_id, table_name, record_id, version, action, occurred_at, data)
     SELECT tenant_id, nextval('tenant_crm.outbox_position_seq'), 'kafka', gen_random_uuid(), 'contacts',
       gen_random_uuid(), 1, 'create', now(), '{"changed_fields": []}'
     FROM (
       SELECT tenant_id FROM unnest($1::uuid[]) AS tenant_id, generate_series(1, $2) ORDER BY tenant_id OFFSET 0
     ) AS waiting`,
    [tenants, each],
  );

/** How many events of each tenant are next, in the order of the given tenants. */
const nextOf = async (tenants: readonly string[], after: string, most: number) => {
  const rows = await query<{ tenant_id: string; count: number }>(
    `SELECT tenant_id, count(*)::int AS count FROM tenant_crm.next_in_outbox('kafka', $1, $2) GROUP BY 1`,
    [after, most],
  );
  const counts = new Map(rows.map(({ tenant_id, count }) => [tenant_id, count]));
  return tenants.map((id) => counts.get(id) ?? 0);
};

/** Starts a reader; each batch waits until `release` is called, if it is held. */
const start = (options: Partial<OutboxReaderOptions> & { readonly isHeld?: boolean }) => {
  const batches: (readonly OutboxEvent[])[] = [];
  let release = (): void => undefined;
  const released = options.isHeld
    ? new Promise<void>((resolve) => {
        release = resolve;
      })
    : Promise.resolve();
  const reader = startOutboxReader({
    database: access,
    logger,
    sink: 'kafka',
    async handle(events) {
      batches.push(events);
      await released;
    },
    ...options,
  });
  stops.push(() => reader.stop());
  stops.push(async () => release());
  return { batches, release };
};

const tenantsIn = (events: readonly OutboxEvent[] = []): string[] =>
  [...new Set(events.map(({ tenantId }) => tenantId))].toSorted();

const untilEmpty = () =>
  until(async () => {
    const [found] = await query<{ waits: boolean }>(
      'SELECT EXISTS (SELECT FROM tenant_crm.outbox WHERE failed_at IS NULL) AS waits',
    );
    return found?.waits === false;
  });

test('The event of a tenant is in the next batch, although 5,000 of another tenant wait', async () => {
  await fill([callerIn().tenantId], 5000);
  const { batches, release } = start({ batch: 100, isHeld: true });
  await until(() => batches.length === 1);
  const caller = callerIn();
  await contacts.create(caller, { first_name: 'Ada' } as never);
  release();
  await until(() => batches.length > 1);
  expect(batches[1]?.map(({ tenantId }) => tenantId)).toContain(caller.tenantId);
  expect(batches[1]).toHaveLength(100);
});

test('Each tenant gets a turn before any gets a second one, although a batch has fewer events than tenants wait', async () => {
  const tenants = tenantsOf(30);
  await fill(tenants, 5);
  const { batches } = start({ batch: 10 });
  await untilEmpty();
  expect(batches).toHaveLength(15);
  for (let turn = 0; turn < 15; turn += 3) {
    const round = batches.slice(turn, turn + 3).flat();
    expect(round).toHaveLength(30);
    expect(tenantsIn(round)).toEqual(tenants);
  }
});

test('A batch is full while enough events wait, and shared by the tenants that have them', async () => {
  const tenants = tenantsOf(4);
  const [first = '', second = '', third = ''] = tenants;
  await fill([first, third], 1000);
  await fill([second], 3);
  await fill([tenants[3] ?? ''], 60);
  for (const after of [BEFORE_ALL_TENANTS, first, third]) {
    const [ofFirst, ofSecond, ofThird, ofFourth] = await nextOf(tenants, after, 200);
    expect([ofSecond, ofFourth]).toEqual([3, 60]);
    expect((ofFirst ?? 0) + (ofThird ?? 0)).toBe(137);
    expect(Math.min(ofFirst ?? 0, ofThird ?? 0)).toBeGreaterThan(60);
  }
  expect(await nextOf(tenants, BEFORE_ALL_TENANTS, 5000)).toEqual([1000, 3, 1000, 60]);
});

test('The events of each record keep the order of its changes', async () => {
  const callers = Array.from({ length: 5 }, () => callerIn());
  const { batches } = start({ batch: 7 });
  const changed = await Promise.all(
    callers.map(async (caller) => {
      const { id } = await contacts.create(caller, { first_name: 'Ada' } as never);
      for (let change = 0; change < 12; change += 1) {
        await contacts.update(caller, id, { notes: `${change}` } as never, undefined);
      }
      return id;
    }),
  );
  await untilEmpty();
  const versionsOf = (id: string): number[] =>
    batches.flat().flatMap(({ recordId, version }) => (recordId === id ? [version] : []));
  const all = Array.from({ length: 13 }, (_, index) => index + 1);
  expect(changed.map(versionsOf)).toEqual(changed.map(() => all));
});

test('An event that commits after a later one is handed over, too', async () => {
  const caller = callerIn();
  const { batches } = start({});
  const name = (first_name: string) => ({ first_name }) as never;
  const early = await database.transaction(caller.tenantId, async () => {
    const { id } = await contacts.create(caller, name('Ada'));
    const other = createDatabase({ ...access, publishesEvents: true }, logger);
    stops.push(() => other.close());
    await createRecords(contact, other).create(caller, name('Grace'));
    await until(() => batches.length === 1);
    return id;
  });
  await until(() => batches.flat().length === 2);
  expect(batches.flat().at(-1)?.recordId).toBe(early);
});

test('An event that is refused is set aside among those of many tenants, and all others are handed over in order', async () => {
  const tenants = tenantsOf(8);
  await fill(tenants, 40);
  const entries = await query<{ event_id: string; tenant_id: string }>(
    'SELECT event_id, tenant_id FROM tenant_crm.outbox ORDER BY position',
  );
  const refused = new Set([17, 55, 56, 319].map((index) => entries[index]?.event_id));
  const taken: OutboxEvent[] = [];
  start({
    batch: 50,
    async handle(events) {
      const isRefused = events.some(({ id }) => refused.has(id));
      if (isRefused) throw Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
      taken.push(...events);
    },
  });
  await untilEmpty();
  const [aside] = await query<{ ids: string[] }>(
    'SELECT array_agg(event_id) AS ids FROM tenant_crm.outbox',
  );
  expect(new Set(aside?.ids)).toEqual(refused);
  for (const tenant of tenants) {
    const all = entries.filter(({ tenant_id }) => tenant_id === tenant);
    const expected = all.map(({ event_id }) => event_id).filter((id) => !refused.has(id));
    const own = taken.filter(({ tenantId }) => tenantId === tenant);
    expect(own.map(({ id }) => id)).toEqual(expected);
  }
});

test('Another tenant does not wait until all refused events of a tenant are set aside', async () => {
  const [refused = '', other = ''] = tenantsOf(2);
  await fill([refused], 30);
  await fill([other], 1);
  const asideBefore: (number | undefined)[] = [];
  start({
    batch: 50,
    async handle(events) {
      if (tenantsIn(events).includes(refused)) {
        throw Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
      }
      const [aside] = await query<{ count: number }>(
        'SELECT count(*)::int AS count FROM tenant_crm.outbox WHERE failed_at IS NOT NULL',
      );
      asideBefore.push(aside?.count);
    },
  });
  await untilEmpty();
  expect(asideBefore).toEqual([1]);
});

/** How many rows of the outbox the statements of a transaction have read so far, and how. */
const readBy = async (client: Pick<Database['pool'], 'query'>) => {
  const { rows } = await client.query<{ scanned: number; found: number; deleted: number }>(
    `SELECT sum(seq_tup_read)::int AS scanned, sum(idx_tup_fetch)::int AS found, sum(n_tup_del)::int AS deleted
     FROM pg_stat_xact_user_tables WHERE schemaname = 'tenant_crm' AND relname ~ '^outbox'`,
  );
  return rows[0] as (typeof rows)[0];
};

test('Finding a batch reads a few rows of the outbox, whatever waits in it, and deleting it does not scan the table', async () => {
  // What the planner knows is that the table is empty, as it is most of the time.
  await query('ANALYZE tenant_crm.outbox');
  await fill([callerIn().tenantId], 20_000);
  await fill(tenantsOf(1000), 3);
  const client = await database.pool.connect();
  try {
    for (const known of ['nothing', 'everything']) {
      if (known === 'everything') await query('ANALYZE tenant_crm.outbox');
      await client.query('BEGIN');
      const before = await readBy(client);
      const { rows } = await client.query(
        `SELECT array_agg(position) AS positions FROM tenant_crm.next_in_outbox('kafka', $1, 500)`,
        [BEFORE_ALL_TENANTS],
      );
      const found = await readBy(client);
      expect(found.found - before.found).toBeLessThan(1500);
      const { positions } = rows[0];
      await client.query("SELECT tenant_crm.delete_from_outbox('kafka', $1)", [positions]);
      const after = await readBy(client);
      expect(after.deleted - before.deleted).toBe(500);
      // With statistics, scanning so few rows can be the cheapest plan.
      if (known === 'nothing') expect(after.scanned - before.scanned).toBe(0);
      await client.query('ROLLBACK');
    }
  } finally {
    client.release();
  }
});

test('The next turn is that of the tenant after the last one, and then that of the smallest id', () => {
  expect(lastInTurn(['a', 'c', 'b'], BEFORE_ALL_TENANTS)).toBe('c');
  expect(lastInTurn(['e', 'a', 'd', 'b'], 'c')).toBe('b');
  expect(lastInTurn([], 'c')).toBe('c');
});
