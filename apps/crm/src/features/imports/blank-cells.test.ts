import { importingFiles } from '../../testing/import-files.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { get, post, put } = tenant;
const { importFile, failuresOf } = importingFiles(tenant);

const create = async (path: string, fields: object): Promise<string> =>
  (await post(`/api/crm/${path}`, fields).expect(201)).body.data.id;
const read = async (path: string) => (await get(`/api/crm/${path}`).expect(200)).body.data;

const clear = { duplicates: 'update', blank_cells: 'clear' };

const filled = {
  last_name: 'Lovelace',
  email: 'ada@example.com',
  tags: ['vip'],
  phones: [{ label: 'home', phone: '1' }],
  notes: 'kept',
  custom: { tier: 2 },
};
const header = 'id,first_name,last_name,email,tags,phones,custom.tier';
const filledContact = async (): Promise<string> => {
  const field = { key: 'tier', label: 'Tier', type: 'number' };
  await create('custom-fields', field);
  return create('contacts', { first_name: 'Ada', ...filled });
};

test('Blank cells clear the fields of records with "clear", but not those that are missing at the end', async () => {
  const id = await filledContact();
  const file = `${header}\n${id},Augusta, ,,,,\n`;
  const checked = await importFile(file, { ...clear, dry_run: 'true' });
  expect(checked).toMatchObject({ rows_updated: 1, rows_failed: 0, blank_cells: 'clear' });
  expect(await read(`contacts/${id}`)).toMatchObject(filled);
  expect(await importFile(file, clear)).toMatchObject({ rows_updated: 1, rows_failed: 0 });
  const emptied = { last_name: null, email: null, tags: [], phones: [], custom: {} };
  expect(await read(`contacts/${id}`)).toEqual(
    expect.objectContaining({ first_name: 'Augusta', notes: 'kept', ...emptied }),
  );
  await put(`/api/crm/contacts/${id}`, filled).expect(200);
  // The row may have been cut by a line break.
  await importFile(`${header}\n${id},Augusta,\n`, clear);
  const cut = { ...filled, first_name: 'Augusta', last_name: null };
  expect(await read(`contacts/${id}`)).toMatchObject(cut);
});

test('Blank cells keep the values of records otherwise', async () => {
  const id = await filledContact();
  const counts = { rows_skipped: 1, blank_cells: 'keep' };
  expect(await importFile(`${header}\n${id},,,,,,\n`, { duplicates: 'update' })).toMatchObject(
    counts,
  );
  expect(await read(`contacts/${id}`)).toMatchObject(filled);
});

test('A blank cell of a required field fails its row with "clear", and names the field', async () => {
  const tier = await create('custom-fields', { key: 'tier', label: 'Tier', type: 'number' });
  const ids = [
    await create('contacts', { first_name: 'Ada', custom: { tier: 1 } }),
    await create('contacts', { first_name: 'Bob' }),
  ];
  await put(`/api/crm/custom-fields/${tier}`, { is_required: true }).expect(200);
  const rows = [`${ids[0]},,1`, `${ids[0]},Ada,`, `${ids[1]},Bobby,`, ',Eve,', ',Joe,5'];
  const found = await importFile(`id,first_name,custom.tier\n${rows.join('\n')}\n`, clear);
  expect(found).toMatchObject({ rows_updated: 1, rows_created: 1, rows_failed: 3 });
  expect(await failuresOf(found)).toEqual([
    expect.stringMatching(/^2,first_name is required,/),
    expect.stringMatching(/^3,custom.tier is required,/),
    expect.stringMatching(/^5,custom.tier is required,/),
  ]);
  expect(await read('contacts?sort=created_at')).toMatchObject([
    { first_name: 'Ada', custom: { tier: 1 } },
    { first_name: 'Bobby', custom: {} },
    { first_name: 'Joe', custom: { tier: 5 } },
  ]);
});

test('An export that is imported again with "clear" changes nothing', async () => {
  await filledContact();
  await create('contacts', { first_name: 'Bob' });
  await create('custom-fields', { key: 'region', label: 'R', type: 'text', is_required: true });
  const { text } = await get('/api/crm/contacts/export').expect(200);
  expect(await importFile(text, clear)).toMatchObject({ rows_skipped: 2, rows_failed: 0 });
});

test('A contact that is found by a further address keeps its addresses with "clear"', async () => {
  const emails = [{ label: 'home', email: 'ada@b.example' }];
  const id = await create('contacts', { first_name: 'Ada', ...filled, custom: {}, emails });
  const file = 'first_name,email,emails,notes\nAda,ada@b.example,,\n';
  expect(await importFile(file, clear)).toMatchObject({ rows_updated: 1 });
  const addresses = { email: 'ada@example.com', emails };
  expect(await read(`contacts/${id}`)).toMatchObject({ ...addresses, notes: null });
});

test.each(['skip', 'create'])('Clearing blank cells with "%s" is 422', async (duplicates) => {
  const request = tenant.crm().http.post('/api/crm/imports').set(tenant.caller());
  void request.field('resource', 'contacts').field('blank_cells', 'clear');
  void request.field('duplicates', duplicates);
  const { body } = await request.attach('file', Buffer.from('first_name\nAda\n'), 'a.csv');
  expect(body.errors).toEqual({
    blank_cells: ['blank_cells can only be clear if duplicates is update'],
  });
});
