import { until } from '@tessera/local-stack';
import type pg from 'pg';
import { commandsOf } from '../../testing/commands.ts';
import { countLockWaits } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { insertAttempt, insertDelivery, type Queries } from '../../testing/webhook-rows.ts';
import { tablesWith } from '../../testing/whole-database.ts';

const { crm, tenant, post, remove } = tenantForEachTest();
const pool = () => crm().context.pool;
const create = async (path: string, body: object): Promise<string> =>
  (await post(`/api/crm${path}`, body).expect(201)).body.data.id;
const erase = (contactId: string) =>
  commandsOf(crm())('erase-contact', tenant().id, contactId, '--yes');

/** A deleted contact, and what inserts a delivery that shows it. */
const shownContact = async () => {
  const endpointId = await create('/webhook-endpoints', {
    url: 'https://example.com/hook',
    event_types: ['crm.contacts.*'],
  });
  const contactId = await create('/contacts', { first_name: 'Ada', last_name: 'Lovelace' });
  await remove(`/api/crm/contacts/${contactId}`).expect(204);
  const payload = { data: { id: contactId, record: { last_name: 'Lovelace' } } };
  const insertShown = (client: Queries) =>
    insertDelivery(client, { tenantId: tenant().id, endpointId, recordId: contactId, payload });
  return { contactId, endpointId, insertShown };
};

const deliveriesOf = async (contactId: string) => {
  const { rows } = await pool().query<{ event_type: string; payload: string }>(
    'SELECT event_type, payload FROM tenant_crm.webhook_deliveries WHERE record_id = $1',
    [contactId],
  );
  return rows;
};

test('Receivers still get the deletion of a contact that was erased at once', async () => {
  const { contactId, insertShown } = await shownContact();
  await insertShown(pool());
  await erase(contactId);
  await until(async () =>
    (await deliveriesOf(contactId)).some(({ event_type }) => event_type === 'crm.contacts.deleted'),
  );
  for (const { payload } of await deliveriesOf(contactId)) {
    expect(JSON.parse(payload).data).not.toHaveProperty('record');
  }
});

type ShownContact = Awaited<ReturnType<typeof shownContact>>;

/** What the service does in a transaction of its own while a contact is erased. */
const changes: readonly [
  string,
  (client: pg.ClientBase, contact: ShownContact) => Promise<unknown>,
][] = [
  [
    'takes an event from the outbox',
    async (client, { endpointId, insertShown }) => {
      await client.query(
        'SELECT FROM tenant_crm.webhook_endpoints WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE',
        [tenant().id, endpointId],
      );
      await insertShown(client);
    },
  ],
  [
    'logs an attempt',
    async (client, { insertShown }) => {
      const deliveryId = await insertShown(pool());
      await insertAttempt(client, tenant().id, deliveryId);
    },
  ],
];

test.each(changes)(
  'Erasure waits while the service %s, and erases what that adds',
  async (_, change) => {
    const contact = await shownContact();
    const client = await pool().connect();
    try {
      await client.query('BEGIN');
      await change(client, contact);
      const erasure = erase(contact.contactId);
      await until(async () => (await countLockWaits(pool(), 'crm-admin')) > 0);
      await client.query('COMMIT');
      expect(await erasure).toMatchObject({ contact_ids: [contact.contactId] });
    } finally {
      client.release();
    }
    expect(await tablesWith(pool(), 'Lovelace')).toEqual([]);
  },
);
