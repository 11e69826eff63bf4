import { until } from '@tessera/local-stack';
import iconv from 'iconv-lite';
import type { Test } from 'supertest';
import { importingFiles } from '../../testing/import-files.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const ofTest = tenantForEachTest();
const { caller, crm, get, post } = ofTest;
const { ended } = importingFiles(ofTest);

type Fields = Readonly<Record<string, string>>;

const send = (
  file: string | Buffer,
  fields: Fields = {},
  headers = caller(),
  options = { filename: 'contacts.csv', contentType: 'text/csv' },
): Test => {
  const request = crm().http.post('/api/crm/imports').set(headers);
  for (const [name, value] of Object.entries({ resource: 'contacts', ...fields })) {
    void request.field(name, value);
  }
  return request.attach('file', Buffer.from(file), options);
};

const importFile = async (...args: Parameters<typeof send>) =>
  ended((await send(...args).expect(201)).body.data.id);

const contacts = async () =>
  (await get('/api/crm/contacts?sort=name').expect(200)).body.data as Record<string, unknown>[];

test('The rows of a file become contacts; those with errors can be downloaded, corrected, and imported', async () => {
  const file =
    'first_name,last_name,email,tags\r\nAda,Lovelace,ada@example.com,"vip, math"\r\nBob,,no address,\r\n"Eve, the 2nd","Line 1\nLine 2",,\r\n';
  const answer = await send(file).expect(201);
  expect(answer.headers.location).toBe(`/api/crm/imports/${answer.body.data.id}`);
  expect(await ended(answer.body.data.id)).toMatchObject({
    status: 'completed',
    file_name: 'contacts.csv',
    file_size: Buffer.byteLength(file),
    encoding: 'utf-8',
    delimiter: 'comma',
    rows_read: 3,
    rows_created: 2,
    rows_failed: 1,
    error: null,
  });
  expect(await contacts()).toMatchObject([
    { first_name: 'Eve, the 2nd', last_name: 'Line 1\nLine 2', email: null },
    { first_name: 'Ada', tags: ['vip', 'math'], email: 'ada@example.com' },
  ]);
  const path = `/api/crm/imports/${answer.body.data.id}/failures`;
  const denied = await get(path, ofTest.caller({ lacking: ['contacts.view'] })).expect(403);
  expect(denied.body.required_permission).toMatch(/contacts\.view$/);
  const failures = await get(path).expect(200);
  expect(failures.text).toBe(
    'import_row,import_errors,first_name,last_name,email,tags\r\n3,email must be an e-mail address,Bob,,no address,\r\n',
  );
  const corrected = failures.text.replace('no address', 'bob@example.com');
  expect(await importFile(corrected)).toMatchObject({ rows_created: 1, rows_failed: 0 });
});

test('Imports are exported with the filters of the list, and names of files are not formulas', async () => {
  const file = { filename: '=1+1.csv', contentType: 'text/csv' };
  const { id } = await ended(
    (await send('first_name\nAda\n', {}, caller(), file).expect(201)).body.data.id,
  );
  await importFile('name\nAcme\n', { resource: 'companies' });
  const path = '/api/crm/imports/export';
  const { text } = await get(`${path}?resource=contacts`).expect(200);
  const [header, ...rows] = text.trimEnd().split('\r\n');
  expect(header).toMatch(/^id,/);
  expect(rows).toEqual([expect.stringContaining(`${id},`)]);
  expect(text).toContain(",'=1+1.csv,");
  const { body } = await get(`${path}?format=json&sort=created_at`).expect(200);
  expect(body.data).toMatchObject([{ resource: 'contacts' }, { resource: 'companies' }]);
  const refused = await get(path, caller({ lacking: ['imports.export'] })).expect(403);
  expect(refused.body.required_permission).toBe('tenant.acme.crm.imports.export');
});

test('Failed rows that were corrected only in part are downloaded and imported again', async () => {
  const first = await importFile('first_name,email\nAda,one\nBob,two\n');
  const failures = (await get(`/api/crm/imports/${first.id}/failures`).expect(200)).text;
  const second = await importFile(failures.replace('Ada,one', 'Ada,ada@example.com'));
  expect(second).toMatchObject({ rows_created: 1, rows_failed: 1 });
  const { text } = await get(`/api/crm/imports/${second.id}/failures`).expect(200);
  expect(text.split('\r\n')[0]).toBe('import_row,import_errors,first_name,email');
  const third = await importFile(text.replace('Bob,two', 'Bob,bob@example.com'));
  expect(third).toMatchObject({ rows_created: 1, rows_failed: 0 });
});

test('Failed rows that begin like formulas can be imported as they are downloaded', async () => {
  const names = ['=1', "'=1", "''=1"];
  const rows = names.map((name) => `${name},x`).join('\n');
  const { id, ...counts } = await importFile(`first_name,email\n${rows}\n`);
  expect(counts).toMatchObject({ rows_failed: 3 });
  const { text } = await get(`/api/crm/imports/${id}/failures`).expect(200);
  await importFile(text.replaceAll(',x\r\n', ',\r\n'));
  const found = (await contacts()).map(({ first_name }) => first_name);
  expect(found.toSorted()).toEqual(["'=1", '=1', '=1']);
});

test.each([[['@handle']], [["'@handle"]], [['@handle', "'@handle"]]])(
  'Failed rows of a file with the headers %j are imported again with the same mapping',
  async (headers) => {
    const mapping = JSON.stringify(Object.fromEntries(headers.map((name) => [name, null])));
    const cells = headers.map(() => '=1').join();
    let file = `first_name,email,${headers}\nAda,no address,${cells}\n`;
    for (const _round of [1, 2, 3]) {
      const { id, ...counts } = await importFile(file, { mapping });
      expect(counts).toMatchObject({ status: 'completed', rows_failed: 1 });
      ({ text: file } = await get(`/api/crm/imports/${id}/failures`).expect(200));
      const escaped = headers.map((name) => `'${name}`);
      expect(file.split('\r\n')[0]).toBe(`import_row,import_errors,first_name,email,${escaped}`);
    }
    const corrected = file.replace('Ada,no address', 'Ada,ada@example.com');
    expect(await importFile(corrected, { mapping })).toMatchObject({ rows_created: 1 });
  },
);

test('What contacts and companies are exported as can be imported in another tenant', async () => {
  for (const [path, record] of [
    [
      'contacts',
      {
        first_name: '=SUM(1)',
        phone: '+36 1 234',
        tags: ['a,b', 'c'],
        emails: [{ label: 'home', email: 'x@example.com' }],
      },
    ],
    ['companies', { name: '@home', domain: 'example.com', notes: 'a\n"b"' }],
  ] as const) {
    await post(`/api/crm/${path}`, record).expect(201);
    const { text } = await get(`/api/crm/${path}/export`).expect(200);
    const elsewhere = caller({ tenant: 'globex', tenants: [crm().identity.globex] });
    const { body } = await send(text, { resource: path }, elsewhere).expect(201);
    const inOther = (url: string) => crm().http.get(url).set(elsewhere).expect(200);
    await until(
      async () =>
        (await inOther(`/api/crm/imports/${body.data.id}`)).body.data.status === 'completed',
    );
    const [imported] = (await inOther(`/api/crm/${path}`)).body.data;
    const { addresses, ...expected } = record as typeof record & { addresses?: unknown };
    expect(imported).toMatchObject(expected);
  }
});

test('Custom fields are columns of their own, as in exports', async () => {
  const declare = (body: object) => post('/api/crm/custom-fields', body).expect(201);
  await declare({ key: 'shoe_size', label: 'Shoe size', type: 'number' });
  await declare({ key: 'is_vip', label: 'VIP', type: 'bool' });
  const file = 'first_name,custom.shoe_size,custom.is_vip\nAda,38.5,true\nBob,big,\nEve,,\n';
  const { id, ...counts } = await importFile(file);
  expect(counts).toMatchObject({ rows_created: 2, rows_failed: 1 });
  const found = await contacts();
  expect(found.map(({ custom }) => custom)).toEqual([{ shoe_size: 38.5, is_vip: true }, {}]);
  expect((await get(`/api/crm/imports/${id}/failures`)).text).toMatch(/^3,custom.shoe_size /m);
  const { text } = await get('/api/crm/contacts/export').expect(200);
  expect(await importFile(text, { duplicates: 'create' })).toMatchObject({
    rows_created: 2,
    rows_failed: 0,
  });
});

describe('The encoding', () => {
  const text = 'first_name;last_name\r\nJenő;Őrség\r\n';
  test.each([
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), 'utf-8'],
    ['UTF-16 in little-endian order', iconv.encode(text, 'utf-16le', { addBOM: true }), 'utf-16le'],
    ['UTF-16 in big-endian order', iconv.encode(text, 'utf-16be', { addBOM: true }), 'utf-16be'],
  ])('is detected: %s', async (_name, file, encoding) => {
    expect(await importFile(file)).toMatchObject({
      encoding,
      delimiter: 'semicolon',
      rows_created: 1,
    });
    expect(await contacts()).toMatchObject([{ first_name: 'Jenő', last_name: 'Őrség' }]);
  });

  test('windows-1252 is given by the sender; without it, the file is refused with the reason', async () => {
    const file = iconv.encode('first_name\tlast_name\r\nJosé\t50 €\r\n', 'windows-1252');
    const { body } = await send(file).expect(422);
    expect(body.errors.file[0]).toMatch(/not valid UTF-8.*"encoding"/);
    expect(await importFile(file, { encoding: 'windows-1252' })).toMatchObject({
      delimiter: 'tab',
    });
    expect(await contacts()).toMatchObject([{ first_name: 'José', last_name: '50 €' }]);
  });
});

test.each([
  ['a file without rows', '', {}, 'file', /empty/],
  ['a column that is no field', 'first_name,shoe size\nAda,38\n', {}, 'file', /"shoe size"/],
  ['a column that occurs twice', 'first_name,first_name\nAda,Eve\n', {}, 'file', /twice/],
  [
    'a mapping of a missing column',
    'first_name\nAda\n',
    { mapping: '{"x":"email"}' },
    'mapping',
    /no column "x"/,
  ],
  [
    'a mapping to a missing field',
    'first_name,x\nAda,1\n',
    { mapping: '{"x":"y"}' },
    'mapping',
    /no field "y"/,
  ],
  [
    'a mapping of two columns to one field',
    'first_name,x\nAda,1\n',
    { mapping: '{"x":"first_name"}' },
    'mapping',
    /several/,
  ],
  ['a mapping that is no JSON', 'first_name\nAda\n', { mapping: '{' }, 'mapping', /JSON/],
  ['no column for a required field', 'last_name\nAda\n', {}, 'mapping', /"first_name"/],
  ['an unknown resource', 'first_name\nAda\n', { resource: 'tasks' }, 'resource', /contacts/],
  [
    'a mapping to a number',
    'email\nx\n',
    { mapping: '{"email":5}' },
    'mapping.email',
    /must be a string/,
  ],
  [
    'another encoding',
    Buffer.from('first_name\nJos\xe9\n', 'latin1'),
    {},
    'file',
    /encoding of the file$/,
  ],
])('%s is 422 and names the field', async (_name, file, fields, field, message) => {
  const { body } = await send(file, fields as Fields).expect(422);
  expect(body.errors[field]?.[0]).toMatch(message);
});

test('Columns are mapped by their headers, and null ignores one', async () => {
  const mapping = JSON.stringify({ Vorname: 'first_name', 'E-Mail': 'email', Notiz: null });
  const file = 'Vorname,E-Mail,Notiz\nAda,ada@example.com,x\n';
  expect(await importFile(file, { mapping })).toMatchObject({ rows_created: 1 });
  expect(await contacts()).toMatchObject([
    { first_name: 'Ada', email: 'ada@example.com', notes: null },
  ]);
});

test('Columns without a header, as spreadsheets export them, must be empty', async () => {
  const { id, ...counts } = await importFile('first_name,,\nAda,, \nEve,,x\n');
  expect(counts).toMatchObject({ rows_created: 1, rows_failed: 1 });
  const { text } = await get(`/api/crm/imports/${id}/failures`).expect(200);
  expect(text).toMatch(/^3,column 3 has no header,Eve,,x/m);
});

test('A row may lack blank cells at its end, and have more of them than the header', async () => {
  const file = 'first_name,email,title\nAda\nBob,bob@example.com\nEve,,Ms,, \n';
  expect(await importFile(file)).toMatchObject({ rows_created: 3, rows_failed: 0 });
  const found = (await contacts()).map(({ first_name, email, title }) => [
    first_name,
    email,
    title,
  ]);
  expect(found.toSorted()).toEqual([
    ['Ada', null, null],
    ['Bob', 'bob@example.com', null],
    ['Eve', null, 'Ms'],
  ]);
});

test('A row that lacks a required cell, or has content after the last column, fails and can be corrected', async () => {
  const rows = 'Ada,\nb@example.com,x,Bob,,more\nno address,x,Eve\n';
  const { id, ...counts } = await importFile(`email,title,first_name,phone\n${rows}`);
  expect(counts).toMatchObject({ rows_created: 0, rows_failed: 3 });
  const { text } = await get(`/api/crm/imports/${id}/failures`).expect(200);
  expect(text.trimEnd().split('\r\n')).toEqual([
    'import_row,import_errors,email,title,first_name,phone',
    '2,"the row has 2 cells, and the header has 4",Ada,,,',
    '3,"the row has 5 cells, and the header has 4",b@example.com,x,Bob,,more',
    '4,"the row has 3 cells, and a row above has 4",no address,x,Eve,',
  ]);
  const corrected = text
    .replace('Ada,,,', ',,Ada,')
    .replace('Bob,,more', 'Bob,more')
    .replace('no address', 'eve@example.com');
  expect(await importFile(corrected)).toMatchObject({ rows_created: 3, rows_failed: 0 });
});

test('A row that a line break has cut before a required cell fails with duplicates=update, too', async () => {
  const { id } = (await post('/api/crm/contacts', { first_name: 'Ada', notes: 'kept' })).body.data;
  const file = `id,notes,phone,first_name\n${id},one\ntwo,+36 1 234,Ada\n`;
  expect(await importFile(file, { duplicates: 'update' })).toMatchObject({ rows_failed: 2 });
  expect(await contacts()).toMatchObject([{ first_name: 'Ada', notes: 'kept', phone: null }]);
});

test('Rows can end with CRLF, LF and CR in one file', async () => {
  const file = 'first_name,email\nA,a@a.example\r\nB,b@b.example\rC,c@c.example\n\rD,d@d.example';
  expect(await importFile(file)).toMatchObject({ rows_created: 4, rows_failed: 0 });
  const found = (await contacts()).map(({ first_name, email }) => [first_name, email]);
  expect(found).toEqual([
    ['A', 'a@a.example'],
    ['B', 'b@b.example'],
    ['C', 'c@c.example'],
    ['D', 'd@d.example'],
  ]);
});

test('Failed rows have the numbers that spreadsheets show, empty rows included', async () => {
  const { id } = await importFile(
    '\r\nfirst_name,email\r\n\r\n\r\nAda,no\r\nEve,\r\n\r\nBob,no\r\n',
  );
  const { text } = await get(`/api/crm/imports/${id}/failures`).expect(200);
  expect(text.match(/^\d+,/gm)).toEqual(['5,', '8,']);
});

test('Rows and cells that are blank say nothing, and white space around values does not matter', async () => {
  for (const [key, type] of [
    ['is_vip', 'bool'],
    ['shoe_size', 'number'],
  ]) {
    await post('/api/crm/custom-fields', { key, label: 'Field', type }).expect(201);
  }
  const file =
    'first_name,email,title,custom.is_vip,custom.shoe_size\n,,,,\nAda, ada@example.com ,  ,TRUE, 38.5 \n , ,\nEve,no,,,\n';
  const { id, ...counts } = await importFile(file);
  expect(counts).toMatchObject({ rows_read: 4, rows_created: 1, rows_failed: 1 });
  const custom = { is_vip: true, shoe_size: 38.5 };
  expect(await contacts()).toMatchObject([{ email: 'ada@example.com', title: null, custom }]);
  expect((await get(`/api/crm/imports/${id}/failures`)).text).toMatch(/^5,/m);
});

test.each(['sep=;', '"sep=;"', 'SEP=,'])(
  'The line %s names the delimiter of a file',
  async (line) => {
    const delimiter = line.includes(',') ? ',' : ';';
    const other = delimiter === ',' ? ';' : ',';
    const mapping = JSON.stringify({ [`x${other}y${other}z`]: null });
    const header = ['first_name', `x${other}y${other}z`].join(delimiter);
    const file = iconv.encode(`${line}\r\n${header}\r\nAda${delimiter}1\r\n`, 'utf-16le', {
      addBOM: true,
    });
    expect(await importFile(file, { mapping })).toMatchObject({
      delimiter: delimiter === ',' ? 'comma' : 'semicolon',
      rows_created: 1,
      rows_failed: 0,
    });
  },
);

test.each(['BMI', 'MAC address', 'SQLite', 'GIF89a'])(
  'A file whose first column is %s is text',
  async (header) => {
    const mapping = JSON.stringify({ [header]: null });
    expect(await importFile(`${header},first_name\n5,Ada\n`, { mapping })).toMatchObject({
      rows_created: 1,
    });
  },
);

test.each(['BMI', 'MZ'])(
  'A Windows-1252 file whose first column is %s is text, and its sender must name the encoding',
  async (header) => {
    const mapping = JSON.stringify({ [header]: null });
    const file = iconv.encode(`${header};first_name\r\n5;José\r\n`, 'windows-1252');
    const { body } = await send(file, { mapping }).expect(422);
    expect(body.errors.file[0]).toMatch(/not valid UTF-8.*"encoding"/);
    expect(await importFile(file, { mapping, encoding: 'windows-1252' })).toMatchObject({
      rows_created: 1,
    });
    expect(await contacts()).toMatchObject([{ first_name: 'José' }]);
  },
);

test.each([
  ['a bitmap', Buffer.concat([Buffer.from('BM'), Buffer.alloc(52)])],
  ['a program', Buffer.concat([Buffer.from('MZ\x90\0', 'latin1'), Buffer.alloc(60)])],
])('%s is 415, also if it is said to be Windows-1252', async (_name, file) => {
  const { body } = await send(file, { encoding: 'windows-1252' }).expect(415);
  expect(body.message).toMatch(/text\/csv/);
});

test('NUL in UTF-16 fails its row only', async () => {
  const file = iconv.encode('first_name\nA\0da\nEve\n', 'utf-16le', { addBOM: true });
  expect(await importFile(file)).toMatchObject({ rows_created: 1, rows_failed: 1 });
});

describe('Rows whose e-mail address a contact has already', () => {
  const file =
    'first_name,email,title\nAda,ada@example.com,Lady\nBob,bob@example.com,\nBobby,bob@example.com,Sir\n';
  const prepare = () =>
    post('/api/crm/contacts', {
      first_name: 'Augusta',
      email: 'ada@example.com',
      title: 'Countess',
      phone: '1',
      tags: ['vip'],
    });

  test('are skipped by default, also those of the same file', async () => {
    await prepare();
    expect(await importFile(file)).toMatchObject({
      rows_created: 1,
      rows_skipped: 2,
      rows_updated: 0,
    });
    expect(await contacts()).toMatchObject([{ first_name: 'Augusta' }, { first_name: 'Bob' }]);
  });

  test('update it with "update", and leave what the file does not say', async () => {
    await prepare();
    expect(await importFile(file, { duplicates: 'update' })).toMatchObject({
      rows_created: 1,
      rows_updated: 2,
    });
    expect(await contacts()).toMatchObject([
      { first_name: 'Ada', title: 'Lady', phone: '1', tags: ['vip'] },
      { first_name: 'Bobby', title: 'Sir' },
    ]);
  });

  test('update a contact that lacks a required custom field; new contacts need it', async () => {
    await prepare();
    const field = { key: 'tier', label: 'Tier', type: 'text', is_required: true };
    await post('/api/crm/custom-fields', field).expect(201);
    const { text: exported } = await get('/api/crm/contacts/export').expect(200);
    expect(await importFile(exported, { duplicates: 'update' })).toMatchObject({
      rows_skipped: 1,
      rows_failed: 0,
    });
    const counts = await importFile(file, { duplicates: 'update' });
    expect(counts).toMatchObject({ rows_created: 0, rows_updated: 1, rows_failed: 2 });
    const { text } = await get(`/api/crm/imports/${counts.id}/failures`);
    expect(text).toMatch(/^3,custom.tier is required,/m);
  });

  test('are not skipped when the earlier row of the file fails', async () => {
    const missing = '019aa0f5-0000-7000-8000-000000000001';
    const rows = `Bob,bob@example.com,${missing}\nBobby,bob@example.com,\nRob,bob@example.com,\n`;
    const counts = { rows_created: 1, rows_failed: 1, rows_skipped: 1 };
    expect(await importFile(`first_name,email,company_id\n${rows}`)).toMatchObject(counts);
    expect(await contacts()).toMatchObject([{ first_name: 'Bobby' }]);
  });

  test('become contacts of their own with "create"', async () => {
    await prepare();
    expect(await importFile(file, { duplicates: 'create' })).toMatchObject({ rows_created: 3 });
    expect(await contacts()).toHaveLength(4);
  });

  test('are counted by a dry run as they would be, which changes nothing', async () => {
    await prepare();
    const counts = { rows_created: 1, rows_updated: 2, rows_failed: 0 };
    expect(await importFile(file, { duplicates: 'update', dry_run: 'true' })).toMatchObject(counts);
    expect(await contacts()).toMatchObject([{ first_name: 'Augusta', title: 'Countess' }]);
  });
});

test('A row that a constraint rejects fails alone', async () => {
  const missing = '019aa0f5-0000-7000-8000-000000000001';
  const file = `first_name,company_id\nAda,\nBob,${missing}\nEve,\n`;
  const { id, ...counts } = await importFile(file);
  expect(counts).toMatchObject({ rows_created: 2, rows_failed: 1 });
  expect((await get(`/api/crm/imports/${id}/failures`)).text).toMatch(/^3,company_id .*,Bob/m);
});

test('A file that stops being CSV in the middle fails with the line, and keeps what was read', async () => {
  const file = `first_name\n${'Ada\n'.repeat(2100)}"Eve\n`;
  const found = await importFile(file);
  expect(found).toMatchObject({ status: 'failed', rows_created: 1750 });
  expect(found.error).toMatch(/not valid CSV.*a quoted cell is not closed/);
});

test('A quotation mark in the wrong place is named at once: in the header by 422, in a row with its line', async () => {
  const { body } = await send('first_name,na"me\nAda,x\n').expect(422);
  expect(body.errors.file[0]).toMatch(/quotation mark/);
  const found = await importFile('first_name,notes\nAda,x\nEve,5" pipe\n');
  expect(found.error).toMatch(/line 3: a quotation mark/);
});

test('A cell with NUL fails its row, and a file name with NUL is stored without it', async () => {
  const name = { filename: 'a\0b.csv', contentType: 'text/csv' };
  const found = await importFile('first_name\nAd\0a\nEve\n', {}, caller(), name);
  expect(found).toMatchObject({ status: 'completed', rows_created: 1, rows_failed: 1 });
  expect((await get(`/api/crm/imports/${found.id}/failures`)).text).toMatch(/^2,.*,Ad\ufffda/m);
});

test('The sender needs the permissions of the records, too', async () => {
  const only = caller({ permissions: ['imports.create', 'contacts.create'] });
  await send('first_name\nAda\n', {}, only).expect(201);
  const { body } = await send('first_name\nAda\n', { duplicates: 'update' }, only).expect(403);
  expect(body).toMatchObject({
    error: 'permission_denied',
    required_permission: 'tenant.acme.crm.contacts.update',
  });
});

test('The history of an import has what CRM itself does to it', async () => {
  const id = (await send('first_name\nAda').expect(201)).body.data.id as string;
  const { status, finished_at } = await ended(id);
  expect(status).toBe('completed');
  const { body } = await get(`/api/crm/imports/${id}/history`).expect(200);
  const [end, start] = body.data;
  const system = { action: 'update', actor_type: 'system' };
  expect(end).toMatchObject({
    ...system,
    changes: {
      status: { from: 'running', to: 'completed' },
      finished_at: { from: null, to: finished_at },
    },
  });
  expect(Object.keys(end.changes)).not.toContain('error');
  expect(start).toMatchObject({
    ...system,
    changes: { status: { from: 'pending', to: 'running' } },
  });
});

test('An import that is cancelled stops, and keeps the rows that were read', async () => {
  const file = `first_name\n${'Ada\n'.repeat(20_000)}`;
  const { body } = await send(file).expect(201);
  const path = `/api/crm/imports/${body.data.id}`;
  await until(async () => (await get(path)).body.data.rows_read > 0);
  const { body: cancelled } = await post(`${path}/cancel`).expect(200);
  expect(cancelled.data.status).toBe('cancelled');
  const { rows_created } = (await get(path)).body.data;
  expect((await get('/api/crm/contacts')).body.meta.total).toBe(rows_created);
  expect(rows_created).toBeLessThan(20_000);
  await post(`${path}/cancel`).expect(409);
});

test('Imports of one tenant run one after the other', async () => {
  const file = `first_name\n${'Ada\n'.repeat(2000)}`;
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push((await send(file).expect(201)).body.data.id as string);
  const statuses = async () =>
    (await get('/api/crm/imports?sort=created_at')).body.data.map(
      ({ status }: { status: string }) => status,
    );
  const seen: string[][] = [];
  await until(async () => {
    seen.push(await statuses());
    return seen.at(-1)?.every((status) => status === 'completed') ?? false;
  });
  expect(ids).toHaveLength(3);
  for (const found of seen) {
    expect(found.filter((status) => status === 'running').length).toBeLessThanOrEqual(1);
    // Each one waits for those that were sent before.
    const order = ['completed', 'running', 'pending'];
    expect(found).toEqual(found.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
  }
});

test('The progress is streamed until the end', async () => {
  const { body } = await send(`first_name\n${'Ada\n'.repeat(3000)}`).expect(201);
  const { text } = await get(`/api/crm/imports/${body.data.id}/stream`).expect(200);
  const events = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  expect(events.at(-1)).toMatchObject({ status: 'completed', rows_created: 3000 });
});
