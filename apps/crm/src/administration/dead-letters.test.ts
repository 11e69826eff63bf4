import { until } from '@tessera/local-stack';
import { type EventSource, startEvents } from '@tessera/resource-server/testing';
import { runAdmin } from '../testing/admin.ts';
import { startCrm, type TestCrm } from '../testing/crm.ts';

const TOPIC = 'identity.user.updated';

let events: EventSource;
let crm: TestCrm;
beforeAll(async () => {
  events = await startEvents();
  crm = await startCrm({ KAFKA_BROKERS: events.brokers.join(',') });
  await until(() => crm.context.access.stream() === 'connected');
});
afterAll(async () => {
  await crm.stop();
  await events.stop();
});

const admin = (...args: string[]) =>
  runAdmin(crm, ['dead-letters', ...args], { KAFKA_BROKERS: events.brokers.join(',') });

const metrics = () => crm.context.metrics.registry.metrics();

const rejected = (): number => crm.context.access.progress().get(TOPIC)?.rejected ?? 0;

test('Records that CRM cannot parse are counted, listed, shown and published again', async () => {
  await events.publishRaw(TOPIC, '{nope');
  await until(() => rejected() === 1);
  const { output: listed } = await admin('list', TOPIC);
  expect(listed).toEqual([
    expect.objectContaining({ topic: TOPIC, reason: 'The value is not JSON.', copies: 1 }),
  ]);
  const { id } = listed[0];
  expect((await admin('show', id)).output).toMatchObject({ id, value: '{nope', key: 'key' });

  expect(await admin('replay', id)).toMatchObject({ code: 0, output: { replayed: 1 } });
  await until(() => rejected() === 2);
  const text = await metrics();
  expect(text).toContain(`events_rejected_total{topic="${TOPIC}"} 2`);
  expect(text).toContain(`events_consumed_total{topic="${TOPIC}"} 2`);
  expect(text).toContain(`events_lag{topic="${TOPIC}"} 0`);
});

test('A dead letter that does not exist is an error that names it', async () => {
  const missing = await admin('show', `${TOPIC}-0-999`);
  expect(missing.code).toBe(1);
  expect(JSON.stringify(missing.output)).toContain(`no dead letter ${TOPIC}-0-999`);
  expect((await admin('replay', 'x')).code).toBe(1);
});

test('The metrics count the events that wait in the outbox', async () => {
  await until(async () => /outbox_pending\{sink="kafka"\} 0/.test(await metrics()));
  expect(await metrics()).toMatch(/outbox_oldest_seconds\{sink="kafka"\} 0/);
  expect(await metrics()).toMatch(/outbox_pending\{sink="webhooks"\} 0/);
});
