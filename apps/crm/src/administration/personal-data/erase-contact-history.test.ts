import { commandsOf } from '../../testing/commands.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { tablesWith } from '../../testing/whole-database.ts';

const { crm, tenant, get, post, put, remove } = tenantForEachTest();
const pool = () => crm().context.pool;
const create = async (path: string, body: object): Promise<string> =>
  (await post(`/api/crm${path}`, body).expect(201)).body.data.id;
const change = (id: string, body: object) => put(`/api/crm/contacts/${id}`, body).expect(200);
const deleteContact = (id: string) => remove(`/api/crm/contacts/${id}`).expect(204);
const erase = (contactId: string) =>
  commandsOf(crm())('erase-contact', tenant().id, contactId, '--yes');

test('Former names, addresses and numbers are looked for, and names in both orders', async () => {
  const id = await create('/contacts', {
    first_name: 'Augusta',
    last_name: 'Byron',
    email: 'byron@example.com',
    phones: [{ label: 'home', phone: '+36 1 555 0101' }],
  });
  await change(id, { email: 'king@example.com' });
  await change(id, { email: null, first_name: 'Ada', phones: [] });
  await change(id, { last_name: 'Lovelace' });
  await deleteContact(id);
  const channelId = await create('/channels', { name: 'Sales' });
  const traces = [
    'Byron@example.com',
    'king@example.com',
    'call +36 1 555 0101',
    'Augusta Byron',
    'Byron, Augusta',
    'Byron Ada',
    'Lovelace Ada',
  ];
  // She has never been called Augusta Lovelace.
  for (const body of [...traces, 'Augusta Lovelace']) {
    await create(`/channels/${channelId}/messages`, { body });
  }
  const { rows } = await pool().query<{ id: string }>(
    `INSERT INTO tenant_crm.import_failures (tenant_id, import_id, row_number, cells, errors)
     VALUES ($1, gen_random_uuid(), 2, '{Augusta,Byron}', '{}'), ($1, gen_random_uuid(), 2, '{Augusta,Lovelace}', '{}')
     RETURNING import_id AS id`,
    [tenant().id],
  );
  expect(rows).toHaveLength(2);
  expect(await erase(id)).toMatchObject({
    deleted: { contacts: 1, import_failures: 1 },
    mentioned_in: { messages: traces.length },
  });
});

describe('Of a merge that was undone,', () => {
  const undone = async () => {
    const survivor = await create('/contacts', { first_name: 'Grace', email: 'grace@example.com' });
    const other = { first_name: 'Ada', phone: '+36 1 555 0102', email: 'lovelace@example.com' };
    const [id, third] = [
      await create('/contacts', other),
      await create('/contacts', { first_name: 'Eve', title: 'CTO' }),
    ];
    for (const contact_id of [id, third]) {
      for (const action of ['merge', 'unmerge']) {
        await post(`/api/crm/contacts/${survivor}/${action}`, { contact_id }).expect(200);
      }
    }
    return { survivor, id };
  };

  test('nothing of the erased contact remains in the history of the other one', async () => {
    const { survivor, id } = await undone();
    await deleteContact(id);
    expect(await erase(id)).toMatchObject({ contact_ids: [id], mentioned_in: {} });
    for (const trace of ['lovelace@example.com', '555 0102']) {
      expect(await tablesWith(pool(), trace)).toEqual([]);
    }
    const { body } = await get(`/api/crm/contacts/${survivor}/history`).expect(200);
    expect(
      body.data.map(({ action, changes }: { action: string; changes: object }) => [
        action,
        Object.keys(changes),
      ]),
    ).toEqual([
      ['unmerge', ['title']],
      ['merge', ['title']],
      ['unmerge', []],
      ['merge', []],
      ['create', []],
    ]);
  });

  test('the address of the other contact is not one of the contact that took it', async () => {
    const { survivor } = await undone();
    await deleteContact(survivor);
    const channelId = await create('/channels', { name: 'Sales' });
    await create(`/channels/${channelId}/messages`, { body: 'From lovelace@example.com' });
    expect((await erase(survivor)) as { mentioned_in: object }).toMatchObject({ mentioned_in: {} });
  });
});

test('The number of imports that have not ended is printed', async () => {
  const id = await create('/contacts', { first_name: 'Ada' });
  await deleteContact(id);
  for (const status of ['pending', 'uploading', 'completed']) {
    await pool().query(
      `INSERT INTO tenant_crm.imports (tenant_id, id, resource, status, encoding, delimiter, duplicates, dry_run, principal)
       VALUES ($1, gen_random_uuid(), 'contacts', $2, 'utf-8', 'comma', 'skip', false, '{}')`,
      [tenant().id, status],
    );
  }
  expect(await erase(id)).toMatchObject({ unfinished_imports: 2 });
});
