import { until } from '@tessera/local-stack';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { deleteExpiredDeliveries, oldestDelivery } from './upkeep.ts';

const path = '/api/crm/webhook-endpoints';
let crm: TestCrm;
let receiver: WebhookReceiver;
let headers: Record<string, string>;
beforeAll(async () => {
  receiver = await startReceiver();
  crm = await startCrm({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' });
  headers = crm.caller();
});
afterAll(async () => {
  await crm.stop();
  await receiver.stop();
});

const post = (url: string, body: object = {}) => crm.http.post(url).set(headers).send(body);

test('Deliveries are deleted with their attempts 30 days after they have ended, and not before', async () => {
  const { body } = await post(path, { url: receiver.url, event_types: ['*'] }).expect(201);
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    ids.push((await post(`${path}/${body.data.id}/test`).expect(202)).body.data.id);
  }
  const [expired, young, waiting] = ids;
  const { pool } = crm.context;
  const left = async (table: string, column: string): Promise<string[]> => {
    const { rows } = await pool.query(`SELECT ${column} AS id FROM tenant_crm.${table}`);
    return rows.map(({ id }) => id);
  };
  await until(async () => (await left('webhook_attempts', 'delivery_id')).length === 3);
  const text = await crm.context.metrics.registry.metrics();
  expect(text).toContain('webhook_attempts_total{result="succeeded"} 3');
  expect(text).toContain('webhook_attempt_duration_seconds_count{result="succeeded"} 3');
  expect(text).toContain('webhook_oldest_delivery_seconds 0');

  const age = (days: number, state: string, id: string | undefined) =>
    pool.query(
      `UPDATE tenant_crm.webhook_deliveries SET created_at = now() - $1 * interval '1 day', state = $2,
         updated_at = now() - $1 * interval '1 day' WHERE id = $3`,
      [days, state, id],
    );
  await age(31, 'succeeded', expired);
  await age(29, 'succeeded', young);
  await age(31, 'pending', waiting);
  expect(await oldestDelivery(crm.context.database)).toBeGreaterThan(30 * 86_400);
  expect(await deleteExpiredDeliveries(crm.context.database)).toBe(1);
  expect((await left('webhook_deliveries', 'id')).toSorted()).toEqual([young, waiting].toSorted());
  expect((await left('webhook_attempts', 'delivery_id')).toSorted()).toEqual(
    [young, waiting].toSorted(),
  );
});

test('Without an encryption key, an endpoint cannot be created', async () => {
  const keyless = await startCrm({ KEY_ENCRYPTION_KEYS: '', SYSTEM_TOKENS: '' });
  const { body } = await keyless.http
    .post(path)
    .set(keyless.caller())
    .send({ url: 'https://example.com/hook', event_types: ['*'] })
    .expect(503);
  expect(body.message).toContain('no encryption key is configured');
  const { rowCount } = await keyless.context.pool.query('SELECT FROM tenant_crm.webhook_endpoints');
  expect(rowCount).toBe(0);
  await keyless.stop();
});
