import { importingFiles } from '../../testing/import-files.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { get, post } = tenant;
const { importFile, failuresOf } = importingFiles(tenant);

type Row = Readonly<Record<string, unknown>>;

const create = async (path: string, fields: object): Promise<string> =>
  (await post(`/api/crm/${path}`, fields).expect(201)).body.data.id;

/** So many rows stand between two rows of different batches, of which the first has 250 and the second one 500. */
const MANY = 600;

/** A file in which so many rows stand between the given ones. Each is a record of its own. */
const fileOf = (header: string, rows: readonly string[], between: number): string => {
  const commas = ','.repeat(header.split(',').length - 1);
  const filler = Array.from({ length: between }, (_none, n) => `${commas}Filler ${n}`);
  return [header, ...rows.flatMap((row) => [row, ...filler])].join('\n');
};

/** The records that are no filler, in the order in which they were created. */
const records = async (path: string): Promise<Row[]> => {
  const { body } = await get(`/api/crm/${path}/export?format=json`).expect(200);
  return (body.data as Row[])
    .filter(({ name, first_name }) => !`${name ?? first_name}`.startsWith('Filler'))
    .toSorted((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1));
};

const emails = (...addresses: readonly string[]): string => {
  const list = addresses.map((email) => ({ label: 'home', email }));
  return `"${JSON.stringify(list).replaceAll('"', '""')}"`;
};

describe.each([
  ['in one batch', 0],
  ['in different batches', MANY],
])('Rows of one file %s', (_where, between) => {
  const companies = fileOf(
    'domain,notes,name',
    ['acme.example,first,Acme', 'www.acme.example,second,Acme Ltd', 'acme.example,third,Acme'],
    between,
  );
  const fillers = 3 * between;
  const contacts = (rows: readonly string[]) =>
    fileOf('email,emails,title,first_name', rows, between);
  const ada = `ada@a.example,${emails('ada@b.example')},first,Ada`;
  const further = 'ada@b.example,,second,Augusta';

  test.each(['true', 'false'])(
    'are one company with and without www (dry run: %s)',
    async (dry_run) => {
      const skipped = await importFile(companies, { resource: 'companies', dry_run });
      expect(skipped).toMatchObject({ rows_created: 1 + fillers, rows_skipped: 2 });
      const expected = [{ name: 'Acme', domain: 'acme.example', notes: 'first' }];
      expect(await records('companies')).toMatchObject(dry_run === 'true' ? [] : expected);
    },
  );

  test.each(['true', 'false'])(
    'update one company with and without www (dry run: %s)',
    async (dry_run) => {
      const options = { resource: 'companies', duplicates: 'update', dry_run };
      expect(await importFile(companies, options)).toMatchObject({
        rows_created: 1 + fillers,
        rows_updated: 2,
        rows_failed: 0,
      });
      const expected = [{ name: 'Acme', domain: 'acme.example', notes: 'third' }];
      expect(await records('companies')).toMatchObject(dry_run === 'true' ? [] : expected);
    },
  );

  test.each(['true', 'false'])(
    'are one contact if one has a further address of the other (dry run: %s)',
    async (dry_run) => {
      const skipped = await importFile(contacts([ada, further]), { dry_run });
      expect(skipped).toMatchObject({ rows_created: 1 + 2 * between, rows_skipped: 1 });
      expect(await records('contacts')).toHaveLength(dry_run === 'true' ? 0 : 1);
    },
  );

  test.each(['true', 'false'])(
    'update a contact by a further address, and leave its addresses (dry run: %s)',
    async (dry_run) => {
      const rows = [ada, further, `ada@a.example,${emails('ada@c.example')},,`];
      const last = 'ada@c.example,,third,';
      const options = { duplicates: 'update', dry_run };
      expect(await importFile(contacts([...rows, last]), options)).toMatchObject({
        rows_created: 1 + 4 * between,
        rows_updated: 3,
        rows_failed: 0,
      });
      const one = {
        first_name: 'Augusta',
        title: 'third',
        email: 'ada@a.example',
        emails: [{ label: 'home', email: 'ada@c.example' }],
      };
      expect(await records('contacts')).toMatchObject(dry_run === 'true' ? [] : [one]);
    },
  );

  test('are those of the contact whose primary address it is, and fail if it is only a further one of several', async () => {
    const other = `bob@b.example,${emails('ada@b.example')},first,Bob`;
    const primary = 'ada@b.example,,first,Bea';
    const options = { duplicates: 'update' };
    const failed = await importFile(contacts([ada, other, further]), options);
    expect(failed).toMatchObject({ rows_created: 2 + 3 * between, rows_failed: 1 });
    expect((await failuresOf(failed))[0]).toContain('email is that of several contacts');
    const found = await importFile(contacts([primary, ada, other, further]), {
      ...options,
      duplicates: 'skip',
    });
    expect(found).toMatchObject({ rows_skipped: 4, rows_created: 4 * between });
    expect((await records('contacts')).map(({ first_name }) => first_name)).toEqual(['Ada', 'Bob']);
  });

  test('update the contact that has their address as the primary one', async () => {
    const rows = ['ada@b.example,,first,Bea', ada, further];
    expect(await importFile(contacts(rows), { duplicates: 'update' })).toMatchObject({
      rows_created: 2 + 3 * between,
      rows_updated: 1,
      rows_failed: 0,
    });
    expect(await records('contacts')).toMatchObject([
      { first_name: 'Augusta', title: 'second', email: 'ada@b.example' },
      { first_name: 'Ada', title: 'first' },
    ]);
  });

  test('update a contact by an address that an earlier row gives it', async () => {
    const id = await create('contacts', { first_name: 'Ada' });
    const rows = [`${id},,${emails('ada@b.example')},`, ',ada@b.example,,Augusta'];
    const file = fileOf('id,email,emails,first_name', rows, between);
    expect(await importFile(file, { duplicates: 'update' })).toMatchObject({
      rows_created: 2 * between,
      rows_updated: 2,
    });
    const emailsOfOne = [{ label: 'home', email: 'ada@b.example' }];
    expect(await records('contacts')).toMatchObject([
      { id, first_name: 'Augusta', email: null, emails: emailsOfOne },
    ]);
  });

  test('become a contact if the earlier one fails, which is that of the rows after it', async () => {
    const missing = '019aa0f5-0000-7000-8000-000000000001';
    const rows = [
      `${missing},ada@a.example,${emails('ada@b.example')},Ada`,
      `,ada@b.example,${emails('ada@c.example')},Augusta`,
      ',ada@c.example,,Ada',
      `,eve@example.com,${emails('ada@b.example')},Eve`,
    ];
    const found = await importFile(fileOf('company_id,email,emails,first_name', rows, between));
    expect(found).toMatchObject({
      rows_failed: 1,
      rows_created: 2 + 4 * between,
      rows_skipped: 1,
    });
    const names = (await records('contacts')).map(({ first_name }) => first_name);
    expect(names.toSorted()).toEqual(['Augusta', 'Eve']);
  });
});
