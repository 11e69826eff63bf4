import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { openFileStore } from '../../files/store.ts';
import { isWaitedFor } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { insertAttempt, insertDelivery } from '../../testing/webhook-rows.ts';
import { tablesWith } from '../../testing/whole-database.ts';
import { deleteTenant } from './delete-tenant.ts';

const { crm, tenant, post } = tenantForEachTest();
const pool = () => crm().context.pool;

test('A tenant is deleted although something is added that refers to a row in the batch', async () => {
  const endpoint = await post('/api/crm/webhook-endpoints', {
    url: 'https://example.com/hook',
    event_types: ['crm.companies.*'],
  }).expect(201);
  const tenantId = tenant().id;
  const deliveryId = await insertDelivery(pool(), {
    tenantId,
    endpointId: endpoint.body.data.id,
    recordId: randomUUID(),
    payload: {},
  });
  const store = openFileStore(crm().context.config.files, undefined);
  const client = await pool().connect();
  try {
    await client.query('BEGIN');
    await insertAttempt(client, tenantId, deliveryId);
    const deletion = deleteTenant({ pool: pool(), store, tenantId });
    await until(() => isWaitedFor(pool(), client, 'crm'));
    await client.query('COMMIT');
    expect(await deletion).toMatchObject({ tenant_id: tenantId });
  } finally {
    client.release(true);
  }
  expect(await tablesWith(pool(), tenantId)).toEqual([]);
});
