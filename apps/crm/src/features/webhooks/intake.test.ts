import { randomUUID } from 'node:crypto';
import type { Statement } from '@tessera/database-kit';
import type { OutboxEvent } from '../../events/outbox-reader.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { watchStatements } from '../../testing/watched-statements.ts';
import { takeEvents } from './intake.ts';
import { createRecordReader } from './payload.ts';
import { shownKinds } from './shown-kinds.ts';

const { crm, tenant, post, remove } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));

const createEndpoint = async (event_types: string[]) =>
  post('/api/crm/webhook-endpoints', { url: 'http://127.0.0.1:1/', event_types }).expect(201);

const created = async (path: string, input: object): Promise<string> =>
  (await post(`/api/crm/${path}`, input).expect(201)).body.data.id;

const eventOf = (resource: 'contacts' | 'companies', recordId: string): OutboxEvent => ({
  id: randomUUID(),
  tenantId: tenant().id,
  type: `crm.${resource}.updated`,
  resource,
  tableName: resource,
  recordId,
  version: 2,
  occurredAt: new Date(),
  data: {
    actor_type: 'system',
    user_id: null,
    client_id: null,
    impersonator_id: null,
    changed_fields: [],
  },
});

/** Takes events as the reader of the outbox does; returns the statements that read a table. */
const take = async (events: readonly OutboxEvent[]) => {
  const { source, statements } = watchStatements(crm().context.database);
  await source.forTenant(tenant().id).transaction((db) =>
    takeEvents(
      events,
      { forTenant: () => db },
      {
        recordReader: createRecordReader(shownKinds),
        wake: async () => undefined,
        disable: async () => undefined,
      },
    ),
  );
  const reading =
    (table: string) =>
    ({ text }: Statement) =>
      text.includes(`FROM tenant_crm.${table} `);
  return (table: string): number => statements.filter(reading(table)).length;
};

const payloadsOf = async (events: readonly OutboxEvent[]) => {
  const { rows } = await crm().context.pool.query<{ event_id: string; payload: string }>(
    'SELECT event_id, payload FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1',
    [tenant().id],
  );
  const payloads = new Map(rows.map((row) => [row.event_id, JSON.parse(row.payload)]));
  return events.map(({ id }) => payloads.get(id));
};

test('The records of a batch of events are read in one statement for each table', async () => {
  const people: string[] = [];
  for (const first_name of ['Ada', 'Grace', 'Edsger'])
    people.push(await created('contacts', { first_name }));
  const company = await created('companies', { name: 'Acme' });
  const deleted = people[2] ?? '';
  await remove(`/api/crm/contacts/${deleted}`).expect(204);
  await createEndpoint(['*']);
  const events = [
    eventOf('contacts', people[1] ?? ''),
    eventOf('companies', company),
    eventOf('contacts', people[0] ?? ''),
    eventOf('contacts', people[1] ?? ''),
    eventOf('contacts', deleted),
  ];
  const readings = await take(events);
  expect([readings('contacts'), readings('companies')]).toEqual([1, 1]);
  const records = (await payloadsOf(events)).map(({ data }) => data.record);
  expect(records.slice(0, 4)).toMatchObject([
    { id: people[1], first_name: 'Grace' },
    { id: company, name: 'Acme' },
    { id: people[0], first_name: 'Ada' },
    { id: people[1], first_name: 'Grace' },
  ]);
  expect(records[4]).toBeUndefined();
});

test('Records are not read for events that no endpoint takes', async () => {
  const contact = await created('contacts', { first_name: 'Ada' });
  const company = await created('companies', { name: 'Acme' });
  await createEndpoint(['crm.companies.*']);
  const events = [eventOf('contacts', contact), eventOf('companies', company)];
  const readings = await take(events);
  expect([readings('contacts'), readings('companies')]).toEqual([0, 1]);
  expect(await payloadsOf(events)).toMatchObject([
    undefined,
    { data: { record: { id: company } } },
  ]);
  const none = await take([eventOf('contacts', contact)]);
  expect([none('contacts'), none('companies')]).toEqual([0, 0]);
});
