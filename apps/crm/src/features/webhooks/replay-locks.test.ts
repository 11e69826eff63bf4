import { until } from '@tessera/local-stack';
import pg from 'pg';
import { countLockWaits } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { bulkHandlers } from './bulk-jobs.ts';
import { createWake } from './wake.ts';

const { crm, tenant, post, put } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));
const path = '/api/crm/webhook-endpoints';

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const query = (statement: string, values: unknown[]) => crm().context.pool.query(statement, values);

/** An endpoint with a delivery that has failed. */
const createEndpoint = async (): Promise<string> => {
  const input = { url: receiver.url, event_types: ['crm.contacts.*'] };
  const { id } = (await post(path, input).expect(201)).body.data;
  await query(
    `INSERT INTO tenant_crm.webhook_deliveries
       (tenant_id, id, endpoint_id, event_id, event_type, state, expires_at, payload)
     VALUES ($1, gen_random_uuid(), $2, 'lost', 'crm.contacts.created', 'failed', now(), '{}')`,
    [tenant().id, id],
  );
  return id;
};

const byRequest = async (id: string): Promise<void> => {
  await post(`${path}/${id}/replay`, { from: new Date(0).toISOString() }).expect(202);
};

const byJob = async (id: string): Promise<void> => {
  const { database, jobs } = crm().context;
  const handlers = bulkHandlers({ database, jobs, wake: createWake(jobs) });
  const replay = handlers.find(({ job }) => job.name === 'webhook_replay');
  const payload = {
    tenant_id: tenant().id,
    endpoint_id: id,
    from: new Date(0).toISOString(),
    to: new Date().toISOString(),
    state: 'failed',
    after: new Date(0).toISOString(),
    after_id: id,
  };
  await replay?.handle(payload as never, {} as never);
};

/** Runs work while a replay waits to read the deliveries; returns their states after the replay. */
const duringSearch = async (
  id: string,
  replay: (id: string) => Promise<void>,
  work: () => Promise<void>,
): Promise<readonly string[]> => {
  const { directUrl } = crm().context.config.database;
  const blocker = new pg.Client({ connectionString: directUrl });
  await blocker.connect();
  try {
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE tenant_crm.webhook_deliveries');
    const replaying = replay(id);
    await until(async () => (await countLockWaits(crm().context.pool)) > 0);
    await work();
    await blocker.query('COMMIT');
    await replaying;
  } finally {
    await blocker.end();
  }
  const { rows } = await query(
    'SELECT state FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2',
    [tenant().id, id],
  );
  return rows.map(({ state }) => state);
};

describe.each([
  ['request', byRequest],
  ['job', byJob],
])('A %s that replays deliveries', (_, replay) => {
  test('looks for them before it locks the endpoint', async () => {
    const id = await createEndpoint();
    const states = await duringSearch(id, replay, async () => {
      const { rowCount } = await query(
        `SELECT FROM tenant_crm.webhook_endpoints WHERE tenant_id = $1 AND id = $2
         FOR NO KEY UPDATE NOWAIT`,
        [tenant().id, id],
      );
      expect(rowCount).toBe(1);
    });
    expect(states).not.toEqual(['failed']);
  });

  test('leaves out types that the endpoint has ceased to select meanwhile', async () => {
    const id = await createEndpoint();
    const states = await duringSearch(id, replay, async () => {
      await put(`${path}/${id}`, { event_types: ['crm.tasks.*'] }).expect(200);
    });
    expect(states).toEqual(['failed']);
  });
});
