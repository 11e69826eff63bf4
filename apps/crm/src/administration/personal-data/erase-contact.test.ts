import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import type pg from 'pg';
import { collide } from '../../testing/collisions.ts';
import { commandsOf } from '../../testing/commands.ts';
import { isWaitedFor } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { insertAttempt, insertDelivery, type Queries } from '../../testing/webhook-rows.ts';
import { tablesWith } from '../../testing/whole-database.ts';

const { caller, crm, tenant, get, post, remove } = tenantForEachTest();
const pool = () => crm().context.pool;
const create = async (path: string, body: object): Promise<string> =>
  (await post(`/api/crm${path}`, body).expect(201)).body.data.id;
const erase = (contactId: string) =>
  commandsOf(crm())('erase-contact', tenant().id, contactId, '--yes');

/** A deleted contact, and an endpoint that is disabled, so that the service itself creates no deliveries for it. */
const contactAndEndpoint = async () => {
  const endpointId = await create('/webhook-endpoints', {
    url: 'https://example.com/hook',
    event_types: ['*'],
    is_enabled: false,
  });
  const contactId = await create('/contacts', { first_name: 'Ada', last_name: 'Lovelace' });
  const logId = await create('/communication-logs', {
    kind: 'note',
    body: 'Spoke with Lovelace',
    contact_id: contactId,
  });
  await remove(`/api/crm/contacts/${contactId}`).expect(204);
  const of = { tenantId: tenant().id, endpointId, recordId: contactId };
  const record = { last_name: 'Lovelace' };
  return {
    contactId,
    endpointId,
    /** A communication log about the contact. */
    logId,
    /** Inserts a delivery that has the contact as it was. */
    insertShown: (client: Queries) =>
      insertDelivery(client, { ...of, payload: { data: { id: contactId, record } } }),
    /** Inserts a delivery that only names the contact. */
    insertNamed: (state: string) =>
      insertDelivery(pool(), { ...of, state, payload: { data: { id: contactId } } }),
  };
};

test('What tells receivers that a contact was deleted outlives the contact, until it is sent', async () => {
  const { contactId, insertShown, insertNamed } = await contactAndEndpoint();
  const kept = [await insertNamed('pending'), await insertNamed('sending')];
  await insertAttempt(pool(), tenant().id, kept[0] ?? '', 'Lovelace');
  await insertNamed('succeeded');
  await insertNamed('failed');
  await insertShown(pool());
  await pool().query(
    `INSERT INTO tenant_crm.outbox
       (tenant_id, sink, event_id, table_name, record_id, version, action, occurred_at, data)
     VALUES ($1, 'kafka', $2, 'contacts', $3, 2, 'delete', now(), '{}')`,
    [tenant().id, randomUUID(), contactId],
  );
  await erase(contactId);
  const { rows: deliveries } = await pool().query(
    'SELECT id FROM tenant_crm.webhook_deliveries WHERE record_id = $1',
    [contactId],
  );
  expect(deliveries.map(({ id }) => id).sort()).toEqual(kept.sort());
  const { rowCount: events } = await pool().query(
    "SELECT FROM tenant_crm.outbox WHERE record_id = $1 AND sink = 'kafka'",
    [contactId],
  );
  expect(events).toBe(1);
  expect(await tablesWith(pool(), 'Lovelace')).toEqual([]);
});

type Prepared = Awaited<ReturnType<typeof contactAndEndpoint>>;

/** What the service does in a transaction of its own while a contact is erased. */
const changes: readonly [string, (client: pg.ClientBase, prepared: Prepared) => Promise<void>][] = [
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
      await insertAttempt(client, tenant().id, await insertShown(pool()), 'Lovelace');
    },
  ],
  [
    'changes a communication log',
    async (client, { logId }) => {
      await client.query(
        `UPDATE tenant_crm.communication_logs SET version = version + 1
         WHERE tenant_id = $1 AND id = $2`,
        [tenant().id, logId],
      );
      await client.query(
        `INSERT INTO tenant_crm.record_changes
           (tenant_id, table_name, record_id, changed_at, version, action, actor_type, changes)
         VALUES ($1, 'communication_logs', $2, now(), 2, 'update', 'system', '{"body": ["Lovelace", ""]}')`,
        [tenant().id, logId],
      );
    },
  ],
];

test.each(changes)(
  'Erasure waits while the service %s, and erases what that adds',
  async (_, change) => {
    const prepared = await contactAndEndpoint();
    const client = await pool().connect();
    try {
      await client.query('BEGIN');
      await change(client, prepared);
      const erasure = erase(prepared.contactId);
      await until(() => isWaitedFor(pool(), client, 'crm-admin'));
      await client.query('COMMIT');
      expect(await erasure).toMatchObject({ contact_ids: [prepared.contactId] });
    } finally {
      client.release(true);
    }
    expect(await tablesWith(pool(), 'Lovelace')).toEqual([]);
  },
);

test('A contact that is restored while its erasure begins is not erased', async () => {
  const { contactId } = await contactAndEndpoint();
  const client = await pool().connect();
  try {
    await client.query('BEGIN');
    await client.query(
      'UPDATE tenant_crm.contacts SET deleted_at = NULL WHERE tenant_id = $1 AND id = $2',
      [tenant().id, contactId],
    );
    const erasure = erase(contactId);
    const refused = expect(erasure).rejects.toThrow(`Delete the contact ${contactId} first.`);
    await until(() => isWaitedFor(pool(), client, 'crm-admin'));
    await client.query('COMMIT');
    await refused;
  } finally {
    client.release(true);
  }
});

/** Imports a file of contacts none of whose rows has a valid e-mail address; returns the path of these rows. */
const importInvalid = async (...lines: string[]): Promise<string> => {
  const rows = ['first_name,last_name,notes,email', ...lines.map((line) => `${line},none`)];
  const file = rows.join('\n');
  const { body } = await crm()
    .http.post('/api/crm/imports')
    .set(caller())
    .field('resource', 'contacts')
    .attach('file', Buffer.from(file), 'contacts.csv')
    .expect(201);
  const path = `/api/crm/imports/${body.data.id}`;
  await until(async () => (await get(path)).body.data.status === 'completed');
  expect((await get(path)).body.data.rows_failed).toBe(lines.length);
  return `${path}/failures`;
};

/** What remains of the lines of a file. */
const remaining = async (failures: string): Promise<string[]> => {
  const { text } = await get(failures).expect(200);
  const [, ...rows] = text.trimEnd().split('\r\n');
  return rows.map((row) => row.split(',').slice(2, -1).join());
};

/** Erases a new contact. */
const eraseNew = async (fields: object) => {
  const contactId = await create('/contacts', fields);
  await remove(`/api/crm/contacts/${contactId}`).expect(204);
  return erase(contactId);
};

test('Further addresses and numbers are deleted from failed rows of imports, and counted elsewhere', async () => {
  const failures = await importInvalid(
    'A,,Mail to Countess@Engines.test',
    'B,,Call +36 1 555 0101 at home',
    'C,,Somebody else',
  );
  const channelId = await create('/channels', { name: 'Sales' });
  for (const body of ['countess@engines.test has written', 'Who has +36 1 555 0101?', 'Hello']) {
    await create(`/channels/${channelId}/messages`, { body });
  }
  const erased = await eraseNew({
    first_name: 'Ada',
    emails: [{ label: 'private', email: 'countess@engines.test' }],
    phones: [{ label: 'home', phone: '+36 1 555 0101' }],
  });
  expect(erased).toMatchObject({
    deleted: { contacts: 1, import_failures: 2 },
    mentioned_in: { messages: 2 },
  });
  expect(await remaining(failures)).toEqual(['C,,Somebody else']);
});

test('A failed row of an import is deleted if a whole cell is a short number, not if a text contains it', async () => {
  const failures = await importInvalid(
    'A,Hopper,Call +36 1 555 0112',
    'B,Hopper, 0 ',
    'C,Hopper,112',
    'D,Hopper,?',
    'E,Hopper-Murray,Call 112',
  );
  const erased = await eraseNew({
    first_name: 'Ada',
    phone: '0',
    phones: [
      { label: 'emergency', phone: '112' },
      { label: 'home', phone: '?' },
    ],
  });
  expect(erased).toMatchObject({ deleted: { contacts: 1, import_failures: 2 } });
  expect(await remaining(failures)).toEqual([
    'A,Hopper,Call +36 1 555 0112',
    'D,Hopper,?',
    'E,Hopper-Murray,Call 112',
  ]);
});

test('A failed row of an import is deleted if it has the full name, also in two cells, not if it has a part of it', async () => {
  const failures = await importInvalid(
    'ada,Lovelace,?',
    'A,,From Ada Lovelace',
    'Ada,Byron,?',
    'Adam,Lovelace,?',
    'Grace,,Lovelace',
  );
  expect(await eraseNew({ first_name: 'Ada', last_name: 'Lovelace' })).toMatchObject({
    deleted: { import_failures: 2 },
  });
  await eraseNew({ first_name: 'Ada' });
  await eraseNew({ first_name: 'Adam', last_name: '?' });
  expect(await remaining(failures)).toEqual(['Ada,Byron,?', 'Adam,Lovelace,?', 'Grace,,Lovelace']);
});

test('A record that is restored while its contact is erased waits, and is gone', async () => {
  const { contactId, logId } = await contactAndEndpoint();
  await remove(`/api/crm/communication-logs/${logId}`).expect(204);
  const [erased, restored] = await collide<unknown>(
    pool(),
    {
      text: 'SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
      values: [tenant().id, contactId],
    },
    [() => erase(contactId), () => post(`/api/crm/communication-logs/${logId}/restore`)],
  );
  expect(erased).toMatchObject({ contact_ids: [contactId] });
  expect(restored).toMatchObject({ status: 404 });
});
