import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import type { OutboxEvent } from '../../events/outbox-reader.ts';
import { countLockWaits } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { Backlog } from './backlog.ts';
import { createBulkChanges } from './bulk-jobs.ts';
import { createAnnouncement } from './disabled-mail.ts';
import { createDisabling } from './disabling.ts';
import { takeEvents } from './intake.ts';
import { createRecordReader } from './payload.ts';
import { shownKinds } from './shown-kinds.ts';

const { crm, tenant, caller, get, post, put } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));
const path = '/api/crm/webhook-endpoints';

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const query = (statement: string, values: unknown[] = []) =>
  crm().context.pool.query(statement, values);

const createEndpoint = async (event_types: string[], url = receiver.url, headers = {}) =>
  (await post(path, { url, event_types }, headers).expect(201)).body.data.id as string;

const endpoint = async (id: string) => (await get(`${path}/${id}`).expect(200)).body.data;

const eventOf = (action: 'created' | 'updated'): OutboxEvent => ({
  id: randomUUID(),
  tenantId: tenant().id,
  type: `crm.contacts.${action}`,
  resource: 'contacts',
  tableName: 'contacts',
  recordId: randomUUID(),
  version: 1,
  occurredAt: new Date(),
  data: {
    actor_type: 'system',
    user_id: null,
    client_id: null,
    impersonator_id: null,
    changed_fields: [],
  },
});

/** Takes events as the reader of the outbox does, of which few may wait. Nothing is sent. */
const take = async (events: readonly OutboxEvent[], mostWaiting: number): Promise<void> => {
  const { jobs, database } = crm().context;
  const disable = createDisabling(createBulkChanges(jobs), createAnnouncement(jobs));
  const recordReader = createRecordReader(shownKinds);
  await database
    .forTenant(tenant().id)
    .transaction((db) =>
      takeEvents(
        events,
        { forTenant: () => db },
        { recordReader, wake: async () => undefined, disable, mostWaiting },
      ),
    );
};

const countsOf = async (id: string) => {
  const { rows } = await query(
    `SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
       count(*) FILTER (WHERE state = 'failed')::int AS failed
     FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2`,
    [tenant().id, id],
  );
  return rows[0];
};

test('An endpoint with too many waiting deliveries is disabled and counts what it misses; the others of its tenant go on', async () => {
  const flooded = await createEndpoint(['crm.contacts.updated']);
  const other = await createEndpoint(['crm.contacts.created']);
  await take([eventOf('created')], 20);
  await take(
    Array.from({ length: 30 }, () => eventOf('updated')),
    20,
  );
  const paused = await endpoint(flooded);
  expect(paused).toMatchObject({ is_enabled: false, disabled_reason: 'backlog' });
  expect(paused.missed_since).not.toBeNull();
  const { failed } = await countsOf(flooded);
  expect(failed).toBeLessThanOrEqual(10);
  expect(failed + paused.missed_events).toBe(30);
  expect(await countsOf(other)).toEqual({ pending: 1, failed: 0 });

  await take([eventOf('updated'), eventOf('created')], 20);
  expect((await endpoint(flooded)).missed_events).toBe(paused.missed_events + 1);
  expect(await countsOf(other)).toEqual({ pending: 2, failed: 0 });
  await until(async () =>
    (await crm().context.metrics.registry.metrics()).includes(
      'webhook_endpoints_disabled_total{reason="backlog"} 1',
    ),
  );

  const { body } = await put(`${path}/${flooded}`, { is_enabled: true }).expect(200);
  expect(body.data).toMatchObject({ disabled_reason: null, missed_events: 0, missed_since: null });
  const from = new Date(0).toISOString();
  const replayed = await post(`${path}/${flooded}/replay`, { from }).expect(202);
  expect(replayed.body.data).toEqual({ replayed: failed });
});

test('The endpoints of a tenant share what may wait, and records are smaller the more does', () => {
  const backlog = new Backlog(new Map([['many', 90]]), 100);
  expect([backlog.take('many'), backlog.take('other')]).toEqual([false, true]);
  const shared = new Backlog(new Map(), 100);
  const takenBy = (id: string): number => {
    let taken = 0;
    while (shared.take(id)) taken += 1;
    return taken;
  };
  expect(['a', 'b', 'c'].map(takenBy)).toEqual([50, 25, 13]);
  expect(shared.maxRecordLength * 88).toBeCloseTo(64 * 1024 ** 2, 0);
});

/** Adds deliveries of an endpoint, which are not due or have failed. */
const addDeliveries = (id: string, count: number, state: 'pending' | 'failed') =>
  query(
    `INSERT INTO tenant_crm.webhook_deliveries (tenant_id, id, endpoint_id, event_id, event_type, sequence, state,
       next_attempt_at, expires_at, payload)
     SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 'crm.contacts.updated', one, $4,
       CASE WHEN $4 = 'pending' THEN now() + interval '1 day' END, now() + interval '2 days', '{}'
     FROM generate_series(1, $3::int) AS one`,
    [tenant().id, id, count, state],
  );

test('Replays wait while many deliveries do, and few of a tenant may wait', async () => {
  const id = await createEndpoint(['crm.contacts.updated']);
  await addDeliveries(id, 10_000, 'pending');
  await addDeliveries(id, 3, 'failed');
  const { jobs, database } = crm().context;
  const bulk = createBulkChanges(jobs, 1);
  const db = database.forTenant(tenant().id);
  const range = { from: new Date(0), to: new Date(), state: 'failed' } as const;
  const replay = async (times: number): Promise<void> =>
    db.transaction(async (tx) => {
      const selected = await bulk.selectReplay(tx, id, range, ['*']);
      for (let time = 0; time < times; time += 1) await bulk.replay(tx, id, selected, ['*']);
    });
  await expect(replay(21)).rejects.toMatchObject({ status: 429, details: { limit: 20 } });
  await replay(1);
  await until(async () => {
    const { rows } = await query(
      `SELECT priority FROM crm_jobs.job
       WHERE name = 'webhook_replay' AND group_id = $1 AND state = 'created' AND start_after > now()`,
      [tenant().id],
    );
    return rows[0]?.priority === -1_000_000;
  });
  expect(await countsOf(id)).toEqual({ pending: 10_001, failed: 2 });
});

test('Deliveries of another tenant are sent while those of 30 endpoints wait for receivers that do not answer', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await until(() => silent.listening);
  const { port } = silent.address() as { port: number };
  try {
    for (let count = 0; count < 30; count += 1) {
      await createEndpoint(['crm.contacts.*'], `http://127.0.0.1:${port}/`);
    }
    for (let count = 0; count < 20; count += 1)
      await post('/api/crm/contacts', { first_name: 'Ada' });
    // Half of the twenty workers, each with at most five requests.
    await until(() => sockets.size >= 10);
    const quiet = caller({ tenants: [newTenant('quiet')] });
    await createEndpoint(['crm.contacts.*'], receiver.url, quiet);
    await post('/api/crm/contacts', { first_name: 'Grace' }, quiet).expect(201);
    await until(() => receiver.received.length === 1);
    expect(sockets.size).toBeGreaterThanOrEqual(10);
    const { rows } = await query(
      `SELECT count(*)::int AS running FROM crm_jobs.job
       WHERE name = 'webhook_delivery' AND state = 'active' AND group_id = $1`,
      [tenant().id],
    );
    expect(rows[0].running).toBeLessThanOrEqual(10);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test('Deliveries hold no connection while another transaction has locked their endpoints', async () => {
  for (let count = 0; count < 8; count += 1) await createEndpoint(['crm.contacts.*']);
  const responses: (() => void)[] = [];
  receiver.respond((res) => void responses.push(() => void res.writeHead(204).end()));
  await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
  await until(() => responses.length === 8);
  const { pool } = crm().context;
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(
      'SELECT FROM tenant_crm.webhook_endpoints WHERE tenant_id = $1 FOR NO KEY UPDATE',
      [tenant().id],
    );
    for (const respond of responses) respond();
    // Each of the eight looks for the lock several times meanwhile.
    for (let look = 0; look < 20; look += 1) {
      expect(await countLockWaits(pool)).toBe(0);
      await pool.query('SELECT pg_sleep(0.05)');
    }
    const { rows } = await pool.query(
      `SELECT DISTINCT state FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1`,
      [tenant().id],
    );
    expect(rows).toEqual([{ state: 'sending' }]);
    await holder.query('COMMIT');
  } finally {
    holder.release();
  }
  await until(async () => {
    const { rows } = await query(
      `SELECT count(*)::int AS count FROM tenant_crm.webhook_deliveries
       WHERE tenant_id = $1 AND state = 'succeeded' AND attempts = 1`,
      [tenant().id],
    );
    return rows[0].count === 8;
  });
});
