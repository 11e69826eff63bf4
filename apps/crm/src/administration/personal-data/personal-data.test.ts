import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTables } from '@tessera/database-kit';
import { until } from '@tessera/local-stack';
import { commandsOf } from '../../testing/commands.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { fillEveryTable, tablesWith } from '../../testing/whole-database.ts';
import { contactRows } from './contact-rows.ts';
import { otherIds, userColumns } from './user-columns.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-person-'));
});
afterAll(() => rm(folder, { recursive: true }));

const pool = () => crm().context.pool;
const admin = (...args: string[]) => commandsOf(crm())(...args);
const create = async (path: string, body: object, headers = {}) =>
  (await post(`/api/crm${path}`, body, headers).expect(201)).body.data;
const rowsOf = async (path: string, table: string): Promise<Record<string, unknown>[]> => {
  const text = await readFile(join(path, 'tables', `${table}.jsonl`), 'utf8');
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
};

/** A contact that was changed, merged, written about and worked for; returns its id. */
const knownContact = async (): Promise<string> => {
  await create('/webhook-endpoints', { url: 'https://example.com/hook', event_types: ['*'] });
  const key = { 'Idempotency-Key': randomUUID() };
  const contact = await create(
    '/contacts',
    { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@engines.test' },
    key,
  );
  const duplicate = await create('/contacts', {
    first_name: 'Augusta',
    last_name: 'Byron-King',
    email: 'augusta@ockham.test',
  });
  await put(`/api/crm/contacts/${contact.id}`, { notes: 'Lovelace likes numbers' }).expect(200);
  await put(`/api/crm/contacts/${contact.id}`, { notes: null }).expect(200);
  await create('/communication-logs', {
    kind: 'note',
    body: 'Spoke with Augusta Byron-King',
    contact_id: duplicate.id,
  });
  const task = await create('/tasks', { title: 'Call Lovelace', contact_id: contact.id });
  await create('/time-entries', {
    task_id: task.id,
    note: 'Call with Lovelace',
    started_at: '2026-01-05T09:00:00Z',
    minutes: 30,
  });
  await post(`/api/crm/contacts/${contact.id}/merge`, { contact_id: duplicate.id }).expect(200);
  return contact.id;
};

const traces = ['ada@engines.test', 'augusta@ockham.test', 'Lovelace', 'Byron-King'];

test('A contact is exported with everything about it, and erased so that no table contains it', async () => {
  const contactId = await knownContact();
  const other = await create('/contacts', { first_name: 'Grace', last_name: 'Hopper' });
  const channel = await create('/channels', { name: 'Sales' });
  const message = await create(`/channels/${channel.id}/messages`, { body: 'Ada Lovelace called' });
  const { id } = tenant();

  const target = join(folder, 'ada');
  expect(await admin('export-contact', id, contactId, target)).toMatchObject({ folder: target });
  const names = (await rowsOf(target, 'contacts')).map(({ last_name }) => last_name);
  expect(names.sort()).toEqual(['Byron-King', 'Lovelace']);
  expect(await rowsOf(target, 'communication_logs')).toEqual([
    expect.objectContaining({ body: 'Spoke with Augusta Byron-King' }),
  ]);
  expect(await rowsOf(target, 'tasks')).toHaveLength(1);
  const history = await rowsOf(target, 'record_changes');
  expect(JSON.stringify(history)).toContain('Lovelace likes numbers');

  await expect(admin('erase-contact', id, contactId, '--yes')).rejects.toThrow(
    `Delete the contact ${contactId} first.`,
  );
  await remove(`/api/crm/contacts/${contactId}`).expect(204);
  const erased = await admin('erase-contact', id, contactId, '--yes');
  expect(erased).toMatchObject({
    contact_ids: expect.arrayContaining([contactId]),
    deleted: { contacts: 2, communication_logs: 1, tasks: 1, contact_merges: 1 },
    mentioned_in: { messages: 1 },
  });
  // The tenant decides about what people have written.
  await remove(`/api/crm/channels/${channel.id}/messages/${message.id}`);
  await pool().query('DELETE FROM tenant_crm.messages WHERE tenant_id = $1', [id]);
  for (const trace of traces) expect([trace, await tablesWith(pool(), trace)]).toEqual([trace, []]);
  const { body: entries } = await get('/api/crm/time-entries').expect(200);
  expect(entries.data).toEqual([
    expect.objectContaining({ minutes: 30, note: null, task_id: null }),
  ]);
  const [entry] = entries.data;
  expect(Date.parse(entry.updated_at)).toBeGreaterThan(Date.parse(entry.created_at));
  const { body: changes } = await get(`/api/crm/time-entries/${entry.id}/history`).expect(200);
  const none = { from: null, to: null };
  expect(changes.data[0]).toMatchObject({
    version: 2,
    action: 'update',
    actor_type: 'system',
    changes: { note: none, task_id: none },
  });
  await until(async () => {
    const { rowCount } = await pool().query(
      `SELECT FROM tenant_crm.webhook_deliveries WHERE tenant_id = $1 AND record_id = $2
         AND event_type = 'crm.time_entries.updated'`,
      [id, entry.id],
    );
    return rowCount === 1;
  });
  await get(`/api/crm/contacts/${other.id}`).expect(200);
  const { body: contacts } = await get('/api/crm/contacts').expect(200);
  expect(contacts.meta.total).toBe(1);
  await expect(admin('erase-contact', id, contactId, '--yes')).rejects.toThrow('has no contact');
});

test('A contact of another tenant is neither exported nor erased', async () => {
  const contactId = await knownContact();
  await expect(
    admin('export-contact', randomUUID(), contactId, join(folder, 'none')),
  ).rejects.toThrow('has no contact');
  await expect(admin('erase-contact', randomUUID(), contactId, '--yes')).rejects.toThrow(
    'has no contact',
  );
  await get(`/api/crm/contacts/${contactId}`).expect(200);
});

test('Every table that refers to a contact or names a record of any kind is considered', async () => {
  const tables = await readTables(pool(), 'tenant_crm');
  const known = contactRows.map(({ table }) => table);
  const referring = tables.filter(({ references }) =>
    references.some(({ table }) => ['contacts', 'communication_logs', 'tasks'].includes(table)),
  );
  const referred = tables.flatMap(({ references }) => references.map(({ table }) => table));
  const locked = contactRows.filter(({ isLocked }) => isLocked).map(({ table }) => table);
  // History and activities name communication logs.
  expect(locked.sort()).toEqual(
    known.filter((name) => referred.includes(name) || name === 'communication_logs').sort(),
  );
  // `eraseContact` clears these columns.
  const cleared = ['time_entries'];
  const naming = tables.filter(({ columns }) =>
    columns.some(({ name }) => name === 'record_id' || name === 'resource_id'),
  );
  // Only articles, posts and pages have slugs.
  const unrelated = ['content_slugs'];
  const names = [...referring, ...naming].map(({ name }) => name);
  expect(names.filter((name) => ![...known, ...cleared, ...unrelated].includes(name))).toEqual([]);
});

test('A user is exported, and erased so that no table contains their id', async () => {
  const userId = randomUUID();
  const own = caller({ id: userId });
  const owned = await create('/contacts', { first_name: 'Grace', owner_id: userId });
  const leave = await create(
    '/leave-requests',
    { kind: 'sick', first_day: '2026-07-06', last_day: '2026-07-07', reason: 'Broken leg' },
    own,
  );
  const entry = await create(
    '/time-entries',
    { started_at: '2026-01-06T09:00:00Z', minutes: 45 },
    own,
  );
  const channel = await create('/channels', { name: 'Work' }, own);
  const body = `Hello <@${userId}> and <@${userId.toUpperCase()}>`;
  const message = await create(`/channels/${channel.id}/messages`, { body }, own);

  const target = join(folder, 'user');
  await admin('export-user', userId, target);
  expect(await rowsOf(target, 'contacts')).toEqual([expect.objectContaining({ id: owned.id })]);
  expect(await rowsOf(target, 'leave_requests')).toEqual([
    expect.objectContaining({ reason: 'Broken leg' }),
  ]);
  expect(await rowsOf(target, 'messages')).toHaveLength(1);
  expect((await rowsOf(target, 'record_changes')).length).toBeGreaterThan(0);

  // Every other column that can name a user names this one, in another tenant.
  const elsewhere = randomUUID();
  await fillEveryTable(pool(), elsewhere, userId);
  for (const { name, columns } of await readTables(pool(), 'tenant_crm')) {
    const named = columns.filter((column) => userColumns.includes(column.name));
    if (named.length === 0) continue;
    const values = named.map(
      (column) => `${column.name} = ${column.type === 'uuid[]' ? 'ARRAY[$1::uuid]' : '$1::uuid'}`,
    );
    await pool().query(
      `UPDATE tenant_crm.${name} SET ${values.join(', ')} WHERE tenant_id = $2
       AND ctid IN (SELECT min(ctid) FROM tenant_crm.${name} WHERE tenant_id = $2)`,
      [userId, elsewhere],
    );
  }
  // Only for this test: bytes and words of a file are not about users.
  await pool().query('UPDATE tenant_crm.file_contents SET words = NULL WHERE tenant_id = $1', [
    elsewhere,
  ]);

  await admin('erase-user', userId, '--yes');
  expect(await tablesWith(pool(), userId)).toEqual([]);
  expect(await tablesWith(pool(), 'Broken leg')).toEqual([]);
  const { rows } = await pool().query(
    `SELECT entry.user_id AS entry, contact.owner_id AS contact FROM tenant_crm.time_entries AS entry
     JOIN tenant_crm.contacts AS contact USING (tenant_id) WHERE entry.id = $1 AND contact.id = $2`,
    [entry.id, owned.id],
  );
  expect(rows).toEqual([{ entry: rows[0].contact, contact: expect.any(String) }]);
  await get(`/api/crm/contacts/${owned.id}`).expect(200);
  const written = await get(`/api/crm/channels/${channel.id}/messages/${message.id}`).expect(200);
  const pseudonym = rows[0].contact;
  const { body: owners } = await get(`/api/crm/contacts/${owned.id}/history`).expect(200);
  const byCrm = { action: 'update', actor_type: 'system' };
  expect(owners.data[0]).toMatchObject({ ...byCrm, version: 2, changes: {} });
  const { body: absence } = await get(`/api/crm/leave-requests/${leave.id}/history`).expect(200);
  const none = { from: null, to: null };
  expect(absence.data).toMatchObject([
    { ...byCrm, version: 3, changes: {} },
    { ...byCrm, version: 2, changes: { reason: none, review_comment: none } },
    { action: 'create', version: 1 },
  ]);
  expect(written.body.data).toMatchObject({
    body: `Hello <@${pseudonym}> and <@${pseudonym}>`,
    mentions: [pseudonym],
  });
});

test('The direct channel with a user who was erased is found by its present people only', async () => {
  const [erased, other] = [randomUUID(), randomUUID()];
  const open = (userId: string) =>
    post('/api/crm/channels', { kind: 'direct', user_ids: [userId] }, caller({ id: other }));
  const { body: channel } = await open(erased).expect(201);
  await admin('erase-user', erased, '--yes');
  const found = await get(`/api/crm/channels/${channel.data.id}`, caller({ id: other })).expect(
    200,
  );
  const people: string[] = found.body.data.user_ids;
  const pseudonym = people.find((id) => id !== other) ?? '';
  expect(people).not.toContain(erased);
  expect((await open(pseudonym).expect(200)).body.data.id).toBe(channel.data.id);
  expect((await open(erased).expect(201)).body.data.id).not.toBe(channel.data.id);
});

test('Every column of ids is known to contain users or not', async () => {
  const tables = await readTables(pool(), 'tenant_crm');
  const ids = tables.flatMap(({ columns, references }) =>
    columns
      .filter(({ type, isGenerated }) => /^uuid/.test(type) && !isGenerated)
      .map(({ name }) => name)
      .filter((name) => !references.some(({ columns: pairs }) => name in pairs)),
  );
  const known = [...userColumns, ...otherIds];
  expect([...new Set(ids)].filter((name) => !known.includes(name))).toEqual([]);
  const all = tables.flatMap(({ columns }) => columns.map(({ name }) => name));
  expect(known.filter((name) => !all.includes(name))).toEqual([]);
});
