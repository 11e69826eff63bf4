import { parseCrmEvent } from '@tessera/contracts';
import { until } from '@tessera/local-stack';
import { startTelemetry } from '@tessera/telemetry';
import request from 'supertest';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { type FollowedEvents, followCrmEvents } from '../testing/crm-events.ts';

let followed: FollowedEvents;
let crm: TestCrm;
let headers: Record<string, string>;
let stopTelemetry: () => Promise<void>;
beforeAll(async () => {
  // Nothing listens there: what is recorded is lost, and nothing else.
  stopTelemetry = await startTelemetry('crm', {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  });
  followed = await followCrmEvents();
  crm = await startCrm({ KAFKA_BROKERS: followed.brokers.join(',') });
  headers = crm.caller();
});
afterAll(async () => {
  await crm.stop();
  await followed.stop();
  await stopTelemetry();
});

const send = (method: 'post' | 'put' | 'delete', path: string, body: object = {}) =>
  crm.http[method](`/api/crm${path}`).set(headers).send(body);

/** The events of a record, in the order of their arrival. */
const eventsOf = (id: string) => followed.seen.filter(({ event }) => event.data.record_id === id);

const allPublished = async (): Promise<boolean> => {
  const { rows } = await crm.context.pool.query('SELECT FROM tenant_crm.outbox');
  return rows.length === 0;
};

test('Every change of a record is an event of its resource, without the values of its fields', async () => {
  const { body } = await send('post', '/contacts', {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.com',
  }).expect(201);
  const { id } = body.data;
  await send('put', `/contacts/${id}`, { first_name: 'Augusta', notes: 'secret' }).expect(200);
  await send('delete', `/contacts/${id}`).expect(204);
  await send('post', `/contacts/${id}/restore`).expect(200);
  await until(() => eventsOf(id).length === 4);
  const events = eventsOf(id).map(({ event }) => event);
  expect(events.map(({ type, data }) => [type, data.version, data.changed_fields])).toEqual([
    ['crm.contacts.created', 1, []],
    ['crm.contacts.updated', 2, ['first_name', 'notes']],
    ['crm.contacts.deleted', 3, []],
    ['crm.contacts.restored', 4, []],
  ]);
  const key = `${crm.identity.acme.id}/${id}`;
  expect(eventsOf(id).map((one) => one.key)).toEqual(Array(4).fill(key));
  expect(events[0]).toMatchObject({
    specversion: '1.0',
    source: '/tessera/crm',
    subject: key,
    data: { tenant_id: crm.identity.acme.id, actor: { type: 'user', user_id: expect.any(String) } },
  });
  expect(JSON.stringify(events)).not.toMatch(/Ada|Augusta|Lovelace|example\.com|secret/);
  await until(allPublished);
});

test('Events of the chat contain nothing of the messages', async () => {
  const { body: channel } = await send('post', '/channels', {
    name: 'confidential-merger',
    kind: 'private',
  }).expect(201);
  const { body } = await send('post', `/channels/${channel.data.id}/messages`, {
    body: 'We buy Globex',
  }).expect(201);
  await until(() => eventsOf(body.data.id).length === 1);
  expect(eventsOf(body.data.id)[0]?.event.type).toBe('crm.chat.messages.created');
  expect(JSON.stringify(followed.seen)).not.toMatch(/confidential-merger|Globex/);
});

test('Events wait while the broker is unavailable, and changes do not', async () => {
  await until(allPublished);
  await followed.kill();
  const { body } = await send('post', '/companies', { name: 'Acme' }).expect(201);
  await send('put', `/companies/${body.data.id}`, { name: 'Globex' }).expect(200);
  expect(await allPublished()).toBe(false);
  await followed.restart();
  await until(allPublished);
  await send('put', `/companies/${body.data.id}`, { name: 'Initech' }).expect(200);
  await until(() => eventsOf(body.data.id).some(({ event }) => event.data.version === 3));
});

test('The document of the events is public, and describes each of them', async () => {
  const { body } = await request(crm.url).get('/docs/events.json').expect(200);
  expect(Object.keys(body.channels)).toContain('crm.contacts');
  for (const { event } of followed.seen) {
    const topic = event.type.slice(0, event.type.lastIndexOf('.'));
    expect(parseCrmEvent(topic, JSON.stringify(event))).toMatchObject({ ok: true });
    expect(body.channels).toHaveProperty([topic]);
  }
});

test('An event carries the trace of the request that made the change', async () => {
  const traces = ['1', '2'].map((digit) => digit.repeat(32));
  const traced = (method: 'post' | 'put', path: string, trace: string | undefined, body: object) =>
    send(method, path, body).set('traceparent', `00-${trace}-${'3'.repeat(16)}-01`);
  const path = '/contacts';
  const { body } = await traced('post', path, traces[0], { first_name: 'Ada' }).expect(201);
  const { id } = body.data;
  await traced('put', `${path}/${id}`, traces[1], { first_name: 'Augusta' }).expect(200);
  await until(() => eventsOf(id).length === 2);
  const parents = eventsOf(id).map(({ headers }) => headers.traceparent?.split('-'));
  expect(parents.map((parts) => parts?.[1])).toEqual(traces);
  // The span of the service, not that of its caller.
  for (const parts of parents) expect(parts?.[2]).not.toBe('3'.repeat(16));
});
