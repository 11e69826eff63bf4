import { collide } from '../../testing/collisions.ts';
import { type EndedImport, importingFiles } from '../../testing/import-files.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const ofTest = tenantForEachTest();
const { caller, crm, get, post, put, remove, tenant } = ofTest;
const { importFile } = importingFiles(ofTest);
const update = { duplicates: 'update' };
const errorsOf = async ({ id }: EndedImport): Promise<string> =>
  (await get(`/api/crm/imports/${id}/failures`).expect(200)).text;

const create = async (path: string, fields: object): Promise<string> =>
  (await post(`/api/crm/${path}`, fields).expect(201)).body.data.id;
const contact = (first_name: string, fields: object = {}) =>
  create('contacts', { first_name, ...fields });
const listed = async (path = 'contacts'): Promise<EndedImport[]> =>
  (await get(`/api/crm/${path}?sort=created_at`).expect(200)).body.data;
const names = async () => (await listed()).map(({ first_name }) => first_name);
const exported = async (path = 'contacts'): Promise<string> =>
  (await get(`/api/crm/${path}/export`).expect(200)).text;

describe('The id of a live record is that of the row:', () => {
  test.each(['update', 'skip'])(
    'an export that is imported again with "%s" changes nothing',
    async (duplicates) => {
      const field = { key: 'tier', label: 'Tier', type: 'number' };
      await post('/api/crm/custom-fields', field).expect(201);
      const address = { label: 'home', line1: 'Main street 1', city: 'Vienna', country: 'AT' };
      const lists = {
        tags: ['vip', 'press'],
        emails: [{ label: 'home', email: 'ada@example.com' }],
        addresses: [address],
      };
      await contact('Ada', { email: 'office@example.com', ...lists, custom: { tier: 1.5 } });
      await contact('Bob', { email: 'office@example.com' });
      await contact('Eve');
      await create('companies', { name: 'Acme', addresses: [address] });
      for (const [resource, rows] of [
        ['contacts', 3],
        ['companies', 1],
      ] as const) {
        const before = await listed(resource);
        const found = await importFile(await exported(resource), { resource, duplicates });
        expect(found).toMatchObject({ rows_read: rows, rows_skipped: rows });
        expect(await listed(resource)).toEqual(before);
        const { body } = await get(`/api/crm/${resource}/${before[0]?.id}/history`).expect(200);
        expect(body.data).toHaveLength(1);
      }
    },
  );

  test('companies without a domain are not created again', async () => {
    await create('companies', { name: 'Acme' });
    const file = (await exported('companies')).replace('Acme', 'Acme Ltd');
    expect(await importFile(file, { ...update, resource: 'companies' })).toMatchObject({
      rows_created: 0,
      rows_updated: 1,
    });
    expect(await listed('companies')).toMatchObject([{ name: 'Acme Ltd' }]);
  });

  test('rows about one record are saved in their order, also those with an address that it gets', async () => {
    const id = await contact('Ada');
    const file = `id,first_name,email\n${id.toUpperCase()},Augusta,\n ${id} ,Augusta Ada,ada@example.com\n,Lady Ada,ada@example.com\n`;
    expect(await importFile(file, update)).toMatchObject({ rows_created: 0, rows_updated: 3 });
    expect(await listed()).toMatchObject([{ id, first_name: 'Lady Ada' }]);
  });

  test('a column that is mapped to it has it, too, and one that is mapped to nothing has not', async () => {
    const id = await contact('Ada');
    const file = `Contact,first_name\n${id},Augusta\n`;
    const mapping = JSON.stringify({ Contact: 'id' });
    expect(await importFile(file, { ...update, mapping })).toMatchObject({ rows_updated: 1 });
    const ignored = { ...update, mapping: JSON.stringify({ id: null }) };
    const again = `id,first_name\n${id},Ada\n`;
    expect(await importFile(again, ignored)).toMatchObject({ rows_created: 1 });
    expect(await importFile(again, { duplicates: 'create' })).toMatchObject({ rows_created: 1 });
    expect(await names()).toEqual(['Augusta', 'Ada', 'Ada']);
  });

  test('others are compared by their address', async () => {
    const deleted = await contact('Old', { email: 'ada@example.com' });
    await remove(`/api/crm/contacts/${deleted}`).expect(204);
    await contact('Ada', { email: 'ada@example.com' });
    const ids = ['17', deleted, crypto.randomUUID()];
    const rows = ids.map((id, n) => `${id},Augusta ${n},ada@example.com\n`).join('');
    const file = `id,first_name,email\n${rows}17,Bob,bob@example.com\n`;
    expect(await importFile(file, update)).toMatchObject({ rows_updated: 3, rows_created: 1 });
    expect(await names()).toEqual(['Augusta 2', 'Bob']);
  });
});

test('A contact keeps a choice that was removed, and others do not get it', async () => {
  const field = { key: 'tier', label: 'Tier', type: 'choice', choices: ['gold', 'silver'] };
  const declared = await create('custom-fields', field);
  const id = await contact('Ada', { custom: { tier: 'gold' } });
  const other = await contact('Bob');
  await put(`/api/crm/custom-fields/${declared}`, { choices: ['silver'] }).expect(200);
  const file = `id,first_name,custom.tier\n${id},Augusta,gold\n${other},Bobby,gold\n,Eve,gold\n`;
  const found = await importFile(file, update);
  expect(found).toMatchObject({ rows_updated: 1, rows_failed: 2 });
  expect(await errorsOf(found)).toMatch(/^3,custom.tier must be .*\r\n4,custom.tier must be /m);
  expect(await names()).toEqual(['Augusta', 'Bob']);
});

describe('A file that lacks required fields', () => {
  test.each(['true', 'false'])(
    'updates records, and fails only rows that would create one (dry run: %s)',
    async (dry_run) => {
      const id = await contact('Ada', { email: 'ada@example.com' });
      await contact('Bob', { email: 'bob@example.com' });
      const rows = `${id},,1\n,bob@example.com,2\n,eve@example.com,3\n17,,4\n`;
      const found = await importFile(`id,email,phone\n${rows}`, { ...update, dry_run });
      expect(found).toMatchObject({ rows_updated: 2, rows_created: 0, rows_failed: 2 });
      expect(await errorsOf(found)).toMatch(
        /^4,first_name is required,.*\r\n5,first_name is required,/m,
      );
      const phones = dry_run === 'true' ? [null, null] : ['1', '2'];
      expect((await listed()).map(({ phone }) => phone)).toEqual(phones);
      expect(await names()).toEqual(['Ada', 'Bob']);
      const acme = await create('companies', { name: 'Acme' });
      const companies = `id,name,notes\n${acme},,VIP\n,,VIP too\n`;
      const others = await importFile(companies, { ...update, dry_run, resource: 'companies' });
      expect(others).toMatchObject({ rows_updated: 1, rows_failed: 1 });
      expect(await errorsOf(others)).toMatch(/^3,name is required,/m);
    },
  );

  test('fails a row whose record is only that of an earlier row which fails', async () => {
    const missing = '019aa0f5-0000-7000-8000-000000000001';
    const rows = `Bob,bob@example.com,${missing}\n,bob@example.com,\nRob,bob@example.com,\n,bob@example.com,\n`;
    const found = await importFile(`first_name,email,company_id\n${rows}`, update);
    expect(found).toMatchObject({ rows_created: 1, rows_skipped: 1, rows_failed: 2 });
    expect(await errorsOf(found)).toMatch(/^2,company_id .*\r\n3,first_name is required,/m);
    expect(await names()).toEqual(['Rob']);
  });

  test.each(['skip', 'create'])('is 422 with "%s"', async (duplicates) => {
    const request = crm().http.post('/api/crm/imports').set(caller());
    void request.field('resource', 'contacts').field('duplicates', duplicates);
    const { body } = await request.attach('file', Buffer.from('id,phone\n,1\n'), 'a.csv');
    expect(body.errors.mapping[0]).toMatch(/"first_name"/);
  });
});

test('An export is skipped whose contacts lack a value that is required now or have a choice that was removed', async () => {
  const choice = { key: 'tier', label: 'Tier', type: 'choice', choices: ['gold', 'silver'] };
  const declared = await create('custom-fields', choice);
  await contact('Ada', { custom: { tier: 'gold' } });
  await contact('Bob');
  const file = await exported();
  const changed = { choices: ['silver'], is_required: true };
  await put(`/api/crm/custom-fields/${declared}`, changed).expect(200);
  const added = { key: 'region', label: 'Region', type: 'text', is_required: true };
  await create('custom-fields', added);
  for (const dry_run of ['true', 'false']) {
    const same = await importFile(file, { dry_run });
    expect(same).toMatchObject({ rows_skipped: 2, rows_failed: 0, rows_created: 0 });
    const rows = 'Eve,silver,north\nJoe,gold,north\nKim,,north\nLea,silver,\n';
    const found = await importFile(`first_name,custom.tier,custom.region\n${rows}`, { dry_run });
    expect(found).toMatchObject({ rows_created: 1, rows_failed: 3 });
    expect(await errorsOf(found)).toMatch(
      /^3,custom.tier must be .*\r\n4,custom.tier is required.*\r\n5,custom.region is required/m,
    );
  }
  expect(await names()).toEqual(['Ada', 'Bob', 'Eve']);
});

test('A row fails that could update several records, and says how to name one of them', async () => {
  for (const name of ['Ada', 'Bob']) await contact(name, { email: 'office@example.com' });
  const file = 'first_name,email\nEve,office@example.com\n';
  const failed = await importFile(file, update);
  expect(failed).toMatchObject({ rows_failed: 1, rows_updated: 0 });
  expect(await errorsOf(failed)).toMatch(/^2,"email is that of several contacts: .*""id""/m);
  expect(await importFile(file)).toMatchObject({ rows_skipped: 1 });
  for (const name of ['Acme', 'Acme Ltd']) {
    await create('companies', { name, domain: 'acme.example' });
  }
  const companies = 'name,domain\nAcme,acme.example\n';
  const other = await importFile(companies, { ...update, resource: 'companies' });
  expect(await errorsOf(other)).toMatch(/^2,"domain is that of several companies: /m);
});

describe('A contact that was merged into another one', () => {
  const merged = async () => {
    const id = await contact('Ada', { email: 'ada@a.example' });
    const other = await contact('A.', { email: 'ada@b.example', title: 'Lady' });
    await post(`/api/crm/contacts/${id}/merge`, { contact_id: other }).expect(200);
    return id;
  };
  const file = 'first_name,email,emails,title\nAugusta,ada@b.example,[],Countess\n';

  test('is not created again by its address', async () => {
    await merged();
    expect(await importFile(file)).toMatchObject({ rows_created: 0, rows_skipped: 1 });
    expect(await names()).toEqual(['Ada']);
  });

  test('updates it with "update", and all addresses remain', async () => {
    const id = await merged();
    expect(await importFile(file, update)).toMatchObject({ rows_created: 0, rows_updated: 1 });
    const emails = [{ label: 'merged', email: 'ada@b.example' }];
    const both = { first_name: 'Augusta', title: 'Countess', email: 'ada@a.example', emails };
    expect(await listed()).toMatchObject([{ id, ...both }]);
  });

  test('is not the contact of a row whose primary address is that of another one', async () => {
    await merged();
    const own = await contact('Bea', { email: 'ada@b.example' });
    expect(await importFile(file, update)).toMatchObject({ rows_updated: 1 });
    expect((await listed()).find(({ id }) => id === own)).toMatchObject({ first_name: 'Augusta' });
  });
});

test('A company is found by its domain with and without www', async () => {
  await create('companies', { name: 'Acme', domain: 'www.acme.example' });
  const file = 'name,domain\nAcme Ltd,acme.example\n';
  const fields = { resource: 'companies' };
  expect(await importFile(file, fields)).toMatchObject({ rows_created: 0, rows_skipped: 1 });
  expect(await importFile(file, { ...fields, ...update })).toMatchObject({ rows_updated: 1 });
  expect(await listed('companies')).toMatchObject([
    { name: 'Acme Ltd', domain: 'www.acme.example' },
  ]);
});

test('A row that waited for its contact is saved in what has become of it', async () => {
  const [gone, renamed] = [
    await contact('Gone', { email: 'gone@example.com' }),
    await contact('Ada', { email: 'ada@example.com' }),
  ];
  const statement = {
    text: `UPDATE tenant_crm.contacts SET deleted_at = CASE WHEN id = $1 THEN $3::timestamptz END,
      email = CASE WHEN id = $1 THEN email ELSE 'new@example.com' END WHERE id IN ($1, $2)`,
    values: [gone, renamed, new Date()],
  };
  const file = 'first_name,email\nAgain,gone@example.com\nOther,ada@example.com\n';
  const [found] = await collide(crm().context.pool, statement, [() => importFile(file, update)]);
  expect(found).toMatchObject({ rows_created: 2, rows_updated: 0, rows_failed: 0 });
  expect(await names()).toEqual(['Ada', 'Again', 'Other']);
});

test('A row whose record is another one after it waited does not block changes of both', async () => {
  const [other, ada] = [
    await contact('Other', { email: 'other@example.com' }),
    await contact('Ada', { email: 'ada@example.com' }),
  ];
  const { pool } = crm().context;
  const statement = {
    text: `UPDATE tenant_crm.contacts SET email = CASE WHEN id = $1 THEN 'new@example.com' ELSE email END
      WHERE id IN ($1, $2)`,
    values: [other, ada],
  };
  const file = 'first_name,email\nAugusta,ada@example.com\nNew,new@example.com\n';
  const [found] = await collide<unknown>(pool, statement, [
    () => importFile(file, update),
    () =>
      pool.query(
        `SELECT FROM tenant_crm.contacts WHERE tenant_id = $1 AND id IN ($2, $3)
         ORDER BY id FOR NO KEY UPDATE`,
        [tenant().id, other, ada],
      ),
  ]);
  expect(found).toMatchObject({ rows_created: 0, rows_updated: 2, rows_failed: 0 });
  expect(await names()).toEqual(['New', 'Augusta']);
});
