import { until } from '@tessera/local-stack';
import pg from 'pg';
import { countLockWaits } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { createBulkChanges } from './bulk-jobs.ts';
import { claimDeliveries, nextDue } from './claims.repository.ts';
import { wakeOverdue } from './upkeep.ts';
import { createWake } from './wake.ts';

const { crm, tenant, get, post, put, remove } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));
const path = '/api/crm/webhook-endpoints';
const HOUR = 3_600_000;

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const createEndpoint = async (more: object = {}): Promise<string> => {
  const input = { url: receiver.url, event_types: ['crm.contacts.*'], ...more };
  return (await post(path, input).expect(201)).body.data.id;
};
const createContact = (first_name = 'Ada') => post('/api/crm/contacts', { first_name }).expect(201);
const deliveries = async (id: string, more = '') =>
  (await get(`/api/crm/webhook-deliveries?endpoint_id=${id}${more}`).expect(200)).body.data;
const query = (statement: string, values: unknown[]) => crm().context.pool.query(statement, values);
const tenantDb = () => crm().context.database.forTenant(tenant().id);
const wakeNow = (id: string) =>
  tenantDb().transaction((tx) => createWake(crm().context.jobs)(tx, id));

/** Adds deliveries that nobody is told of. */
const addDeliveries = (id: string, number: number, more = 'gen_random_uuid()', age = '1 minute') =>
  query(
    `INSERT INTO tenant_crm.webhook_deliveries (tenant_id, id, endpoint_id, event_id, event_type, record_id, sequence,
       next_attempt_at, expires_at, payload)
     SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 'crm.contacts.updated', ${more}, one,
       now() - $4::interval, now() + interval '1 day', '{}' FROM generate_series(1, $3::int) AS one`,
    [tenant().id, id, number, age],
  );

const stored = async (id: string, table: string, columns: string) => {
  const key = table === 'webhook_endpoints' ? 'id' : 'endpoint_id';
  const { rows } = await query(
    `SELECT ${columns} FROM tenant_crm.${table} WHERE tenant_id = $1 AND ${key} = $2`,
    [tenant().id, id],
  );
  return rows[0];
};

/** Suspends the tenant, and waits until the job of an endpoint has been put off. */
const suspend = async (id: string): Promise<void> => {
  crm().identity.suspend(tenant().id);
  await wakeNow(id);
  await until(async () => {
    const { later } = await stored(id, 'webhook_endpoints', 'later_wakes[1] AS later');
    return later?.getTime() > Date.now() + 60_000;
  });
};

test('A suspended tenant sends nothing: its deliveries wait, and its job asks again later', async () => {
  const id = await createEndpoint();
  await addDeliveries(id, 1);
  await suspend(id);
  expect(receiver.received).toEqual([]);
  expect(await stored(id, 'webhook_deliveries', 'state, attempts')).toEqual({
    state: 'pending',
    attempts: 0,
  });
});

test('After a suspension, one failed request neither ends a delivery for good nor disables the endpoint', async () => {
  receiver.respond((res) => void res.writeHead(500, { 'retry-after': '3600' }).end());
  const id = await createEndpoint();
  await addDeliveries(id, 1);
  await query(
    "UPDATE tenant_crm.webhook_deliveries SET round = 3, expires_at = now() + interval '1 minute' WHERE endpoint_id = $1",
    [id],
  );
  await query(
    "UPDATE tenant_crm.webhook_endpoints SET failing_since = now() - interval '73 hours' WHERE id = $1",
    [id],
  );
  await suspend(id);
  crm().identity.suspend(tenant().id, false);
  await wakeNow(id);
  await until(async () => (await deliveries(id))[0]?.attempts === 1);
  expect(await deliveries(id)).toMatchObject([{ state: 'pending' }]);
  expect((await get(`${path}/${id}`)).body.data.is_enabled).toBe(true);
});

test('The time for retries begins with the first attempt', async () => {
  const id = await createEndpoint();
  await addDeliveries(id, 2);
  const expire =
    'UPDATE tenant_crm.webhook_deliveries SET expires_at = now(), round = sequence - 1';
  await query(`${expire} WHERE endpoint_id = $1`, [id]);
  const claimed = await claimDeliveries(tenantDb(), id);
  const left = claimed
    .toSorted((one, other) => one.round - other.round)
    .map(({ expires_at }) => expires_at.getTime() - Date.now());
  expect(left).toEqual([expect.closeTo(72 * HOUR, -6), expect.closeTo(0, -6)]);
});

test('Failures are forgotten with a new URL and when an endpoint is restored', async () => {
  const id = await createEndpoint();
  const fail = () =>
    query('UPDATE tenant_crm.webhook_endpoints SET failing_since = now() WHERE id = $1', [id]);
  const failingSince = async () => (await get(`${path}/${id}`).expect(200)).body.data.failing_since;
  await fail();
  await put(`${path}/${id}`, { url: receiver.url }).expect(200);
  expect(await failingSince()).not.toBeNull();
  await put(`${path}/${id}`, { url: `${receiver.url}/new` }).expect(200);
  expect(await failingSince()).toBeNull();
  await fail();
  await remove(`${path}/${id}`).expect(204);
  expect((await get(`${path}/trash`).expect(200)).body.data).toMatchObject([
    { id, deleted_by: { actor_type: 'user' } },
  ]);
  await post(`${path}/${id}/restore`).expect(200);
  expect(await failingSince()).toBeNull();
});

test('While an endpoint gets as many requests as it may, its job does not wake itself', async () => {
  const id = await createEndpoint();
  await addDeliveries(id, 8);
  const first = await claimDeliveries(tenantDb(), id);
  expect(first).toHaveLength(5);
  expect(await claimDeliveries(tenantDb(), id)).toEqual([]);
  const next = await tenantDb().transaction((tx) => nextDue(tx, id));
  expect(next?.getTime()).toBeGreaterThan(Date.now() + 30_000);
  await query("UPDATE tenant_crm.webhook_deliveries SET state = 'failed' WHERE id = $1", [
    first[0]?.id,
  ]);
  const free = await tenantDb().transaction((tx) => nextDue(tx, id));
  expect(free?.getTime()).toBeLessThan(Date.now());
});

test('A secret that cannot be decrypted is a failure with its reason, and a retry with backoff', async () => {
  const id = await createEndpoint();
  await query(
    `UPDATE tenant_crm.webhook_endpoints SET sealed_secrets = '\\x00' WHERE tenant_id = $1 AND id = $2`,
    [tenant().id, id],
  );
  await createContact();
  await until(async () => (await deliveries(id))[0]?.attempts > 0);
  const [delivery] = await deliveries(id);
  expect(delivery).toMatchObject({ response_status: null });
  expect(delivery.error).toContain('The signing secret cannot be decrypted.');
  expect(receiver.received).toEqual([]);
});

test('A secret that cannot be decrypted is replaced without an overlap only', async () => {
  const id = await createEndpoint();
  await query(
    `UPDATE tenant_crm.webhook_endpoints SET sealed_secrets = '\\x00' WHERE tenant_id = $1 AND id = $2`,
    [tenant().id, id],
  );
  const { body } = await post(`${path}/${id}/rotate-secret`, {}).expect(503);
  expect(body).toMatchObject({
    error: 'not_ready',
    message: expect.stringContaining('The former secret cannot be decrypted.'),
  });
  await post(`${path}/${id}/rotate-secret`, { overlap_hours: 0 }).expect(200);
  await createContact();
  await until(() => receiver.received.length === 1);
});

test('An endpoint that is disabled while a request to it fails does not deadlock', async () => {
  let release = (): void => undefined;
  receiver.respond((res) => {
    release = () => void res.writeHead(410).end();
  });
  const id = await createEndpoint();
  // With an earlier failure, a failed attempt has nothing to note on the endpoint before it is disabled.
  await query(
    'UPDATE tenant_crm.webhook_endpoints SET failing_since = now() WHERE tenant_id = $1 AND id = $2',
    [tenant().id, id],
  );
  await createContact();
  await until(() => receiver.received.length === 1);
  const { directUrl } = crm().context.config.database;
  const other = new pg.Client({ connectionString: directUrl });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query(
      'SELECT FROM tenant_crm.webhook_endpoints WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
      [tenant().id, id],
    );
    release();
    await until(async () => (await countLockWaits(crm().context.pool)) > 0);
    const stopped = await other.query(
      `UPDATE tenant_crm.webhook_deliveries SET error = 'stopped' WHERE tenant_id = $1 AND endpoint_id = $2`,
      [tenant().id, id],
    );
    expect(stopped.rowCount).toBe(1);
    await other.query('COMMIT');
  } finally {
    await other.end();
  }
  await until(async () => (await get(`${path}/${id}`)).body.data.disabled_reason === 'gone');
});

test('An ordered endpoint with a long backlog of one record is claimed in bounded parts, then in order', async () => {
  const id = await createEndpoint({ is_ordered: true });
  await addDeliveries(id, 500, `'${crypto.randomUUID()}'::uuid`);
  const claimed = await claimDeliveries(tenantDb(), id);
  expect(claimed).toHaveLength(1);
  expect(await claimDeliveries(tenantDb(), id)).toEqual([]);
  const due = await query(
    `SELECT FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2
       AND state = 'pending' AND next_attempt_at <= now()`,
    [tenant().id, id],
  );
  // What waits for an earlier event is not read again.
  expect(due.rowCount).toBe(0);
  await query(
    `UPDATE tenant_crm.webhook_deliveries SET next_attempt_at = now() WHERE tenant_id = $1 AND id = $2`,
    [tenant().id, claimed[0]?.id],
  );
  await query(
    `UPDATE tenant_crm.webhook_deliveries SET state = 'failed' WHERE tenant_id = $1 AND sequence BETWEEN 4 AND 500`,
    [tenant().id],
  );
  await wakeNow(id);
  await until(async () => (await deliveries(id, '&state=succeeded')).length === 3);
  const { rows } = await query(
    `SELECT sequence::int FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1 AND state = 'succeeded'
     ORDER BY last_attempt_at`,
    [tenant().id],
  );
  expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

test('Lost jobs are replaced for each endpoint, however many deliveries another one has', async () => {
  const [crowded, other] = [await createEndpoint(), await createEndpoint()];
  await addDeliveries(crowded, 1200, 'gen_random_uuid()', '2 hours');
  await addDeliveries(other, 1, 'gen_random_uuid()', '1 hour');
  const woken: string[] = [];
  const failing = async (_db: unknown, endpointId: string): Promise<void> => {
    woken.push(endpointId);
    throw new Error('locked');
  };
  // Each is tried, also after one that failed.
  await expect(wakeOverdue(crm().context.database, failing)).rejects.toThrow('2 overdue');
  expect(woken.toSorted()).toEqual([crowded, other].toSorted());
  await put(`${path}/${crowded}`, { is_enabled: false }).expect(200);
  await wakeOverdue(crm().context.database, createWake(crm().context.jobs));
  await until(async () => (await deliveries(other, '&state=succeeded')).length === 1);
});

test('An endpoint whose job is noted for the next minutes counts as lost only once that is late', async () => {
  const id = await createEndpoint();
  await addDeliveries(id, 1, 'gen_random_uuid()', '1 hour');
  const overdueWith = async (laterWakes: string): Promise<boolean> => {
    await query(
      `UPDATE tenant_crm.webhook_endpoints SET later_wakes = ${laterWakes} WHERE id = $1`,
      [id],
    );
    const woken: string[] = [];
    await wakeOverdue(crm().context.database, async (_db, one) => void woken.push(one));
    return woken.includes(id);
  };
  expect(await overdueWith(`ARRAY[now() + interval '15 minutes']`)).toBe(false);
  expect(await overdueWith(`ARRAY[now() - interval '1 minute']`)).toBe(false);
  expect(await overdueWith(`ARRAY[now() - interval '11 minutes']`)).toBe(true);
  expect(await overdueWith(`ARRAY[now() + interval '3 hours']`)).toBe(true);
  expect(await overdueWith('NULL')).toBe(true);
});

test('A large replay and the end of a large backlog are done in parts, the first with the request', async () => {
  const id = await createEndpoint({ is_enabled: false });
  await addDeliveries(id, 1300);
  await query(
    `UPDATE tenant_crm.webhook_deliveries SET state = 'failed', next_attempt_at = NULL
     WHERE tenant_id = $1 AND endpoint_id = $2`,
    [tenant().id, id],
  );
  await put(`${path}/${id}`, { is_enabled: true }).expect(200);
  receiver.respond((res) => void res.writeHead(503, { 'retry-after': '3600' }).end());
  const from = new Date(0).toISOString();
  const { jobs } = crm().context;
  const limited = createBulkChanges(jobs, 100, 1299);
  const range = { from: new Date(0), to: new Date(), state: 'failed' } as const;
  const db = crm().context.database.forTenant(tenant().id);
  await expect(limited.selectReplay(db, id, range, ['crm.contacts.*'])).rejects.toMatchObject({
    status: 422,
    errors: { from: [expect.stringContaining('1,299')] },
  });
  const { body } = await post(`${path}/${id}/replay`, { from }).expect(202);
  expect(body.data).toEqual({ replayed: 1300 });
  const ended = async () => {
    const { rows } = await query(
      `SELECT count(*) FILTER (WHERE state = 'failed')::int AS failed FROM tenant_crm.webhook_deliveries
       WHERE tenant_id = $1 AND endpoint_id = $2`,
      [tenant().id, id],
    );
    return rows[0].failed;
  };
  await until(async () => (await ended()) === 0);
  await put(`${path}/${id}`, { is_enabled: false }).expect(200);
  expect(await ended()).toBeGreaterThanOrEqual(1000);
  await until(async () => (await ended()) === 1300);
});
