import { until } from '@tessera/local-stack';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { noteRun } from './endpoints.repository.ts';
import { createWake } from './wake.ts';

const { crm, tenant, get, post } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));
const HOUR = 3_600_000;

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const createEndpoint = async (): Promise<string> => {
  const input = { url: receiver.url, event_types: ['crm.contacts.*'] };
  return (await post('/api/crm/webhook-endpoints', input).expect(201)).body.data.id;
};
const query = (statement: string, values: unknown[]) => crm().context.pool.query(statement, values);
const tenantDb = () => crm().context.database.forTenant(tenant().id);

/** The jobs of an endpoint that have not ended: those that are due, and those for later. */
const jobsOf = async (id: string): Promise<{ readonly due: number; readonly later: number }> => {
  const { rows } = await query(
    `SELECT count(*) FILTER (WHERE start_after <= now())::int AS due,
       count(*) FILTER (WHERE start_after > now())::int AS later
     FROM crm_jobs.job WHERE name = 'webhook_delivery' AND state < 'completed' AND data->>'endpoint_id' = $1`,
    [id],
  );
  return rows[0];
};

test('While a delivery waits for its retry, one job waits for it, however many events there are', async () => {
  const id = await createEndpoint();
  const inState = async (state: string): Promise<number> => {
    const path = `/api/crm/webhook-deliveries?endpoint_id=${id}&state=${state}`;
    return (await get(path).expect(200)).body.meta.total;
  };
  const untilIdle = () => until(async () => (await jobsOf(id)).due === 0);
  receiver.respond((res) => void res.writeHead(503, { 'retry-after': '3600' }).end());
  await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
  await until(async () => receiver.received.length === 1 && (await inState('pending')) === 1);
  await untilIdle();
  receiver.respond((res) => void res.writeHead(204).end());
  for (let sent = 1; sent <= 5; sent += 1) {
    await post('/api/crm/contacts', { first_name: 'Bob' }).expect(201);
    await until(async () => (await inState('succeeded')) === sent);
    await untilIdle();
  }
  expect(await jobsOf(id)).toEqual({ due: 0, later: 1 });
});

describe('A job is enqueued', () => {
  /** An endpoint whose jobs do not run, and what was enqueued for it. */
  const asleep = async () => {
    const id = await createEndpoint();
    const enqueued: (Date | undefined)[] = [];
    const wake = createWake({
      enqueue: async (_tx, _job, _payload, { runAt } = {}) => {
        enqueued.push(runAt);
        return '';
      },
    });
    return {
      id,
      wake: (at?: Date) => tenantDb().transaction((tx) => wake(tx, id, at)),
      run: () => noteRun(tenantDb(), id),
      /** What was enqueued since the last call. */
      taken: () => enqueued.splice(0),
      set: (values: string) =>
        query(
          `UPDATE tenant_crm.webhook_endpoints SET ${values} WHERE tenant_id = $1 AND id = $2`,
          [tenant().id, id],
        ),
    };
  };
  const soon = new Date(Date.now() + HOUR);
  const later = new Date(Date.now() + 2 * HOUR);
  const latest = new Date(Date.now() + 3 * HOUR);

  test('for an earlier time than those that wait, which remain noted when it runs', async () => {
    const { wake, run, taken, set } = await asleep();
    for (const at of [later, latest, soon, later, latest]) await wake(at);
    expect(taken()).toEqual([later, soon]);
    await wake();
    await wake();
    expect(taken()).toEqual([undefined]);
    await run();
    for (const at of [soon, later, latest]) await wake(at);
    expect(taken()).toEqual([]);
    await set('later_wakes = ARRAY[now(), later_wakes[2]]');
    await run();
    for (const at of [later, latest]) await wake(at);
    expect(taken()).toEqual([]);
    await wake(soon);
    expect(taken()).toEqual([soon]);
  });

  test('beside the later one that the previous release has noted', async () => {
    const { wake, run, taken, set } = await asleep();
    await set(`wake_at = '${later.toISOString()}'`);
    await wake();
    await run();
    await wake(latest);
    expect(taken()).toEqual([undefined]);
  });

  test('in place of one that was lost, and only for a limited number of times', async () => {
    const { wake, taken, set } = await asleep();
    await set(`wake_at = now() - interval '11 minutes'`);
    await wake();
    expect(taken()).toEqual([undefined]);
    await set(`wake_at = NULL, later_wakes = ARRAY[now() - interval '1 second']`);
    await wake(later);
    expect(taken()).toEqual([later]);
    for (let earlier = 1; earlier <= 30; earlier += 1) {
      await wake(new Date(later.getTime() - earlier * 1000));
    }
    const { rows } = await query(
      `SELECT cardinality(later_wakes) AS noted FROM tenant_crm.webhook_endpoints WHERE tenant_id = $1`,
      [tenant().id],
    );
    expect(rows).toEqual([{ noted: 20 }]);
  });
});
