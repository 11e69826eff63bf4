import { contact } from '../features/contacts/contacts.kind.ts';
import { callerIn } from '../testing/records.ts';
import { tenantForEachTest } from '../testing/tenant.ts';
import { createRecords } from './records.ts';

const { crm, tenant, caller, get, post, remove } = tenantForEachTest();

const path = '/api/crm/contacts';
const create = (body: object) => post(path, { first_name: 'A', ...body }).expect(201);

describe('The export of a list', () => {
  test('is a CSV file with a column for each field of the answer', async () => {
    const { body } = await create({ first_name: 'Ada', tags: ['vip'], title: '=1+1' });
    const { status, headers, text } = await get(`${path}/export`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toBe('attachment; filename="contacts.csv"');
    const [names, row] = text.trimEnd().split('\r\n');
    // Custom fields have a column each, and this tenant has none.
    const fields = Object.keys(body.data).filter((name) => name !== 'custom');
    expect(names?.split(',')).toEqual(fields);
    // A spreadsheet would evaluate it as a formula.
    expect(row).toContain(",'=1+1,");
    expect(row).toContain(`${body.data.id},Ada,`);
  });

  test('has all records in the envelope of lists as JSON, however many there are', async () => {
    const { id: tenantId } = crm().identity.acme;
    const theirs = crm().caller();
    await crm().context.pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
       SELECT gen_random_uuid(), $1, 'Ada' FROM generate_series(1, 1200)`,
      [tenantId],
    );
    const { body } = await crm().http.get(`${path}/export?format=json`).set(theirs).expect(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(new Set(body.data.map(({ id }: { id: string }) => id)).size).toBe(1200);
  });

  test.each([
    ['email', 'email, id'],
    ['-email', 'email DESC, id DESC'],
    ['-name', 'sort_name DESC, id DESC'],
  ])('sorted by %s has all records in the order of the list', async (sort, order) => {
    const { id: tenantId } = tenant();
    // Nulls, and equal values, on both sides of the end of a batch.
    await crm().context.pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, email)
       SELECT gen_random_uuid(), $1, 'Ada' || n % 3, CASE WHEN n % 2 = 0 THEN n % 5 || '@x.example' END
       FROM generate_series(1, 1300) AS n`,
      [tenantId],
    );
    const { rows } = await crm().context.pool.query<{ id: string }>(
      `SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 ORDER BY ${order}`,
      [tenantId],
    );
    const { body } = await get(`${path}/export?format=json&sort=${sort}`).expect(200);
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(rows.map(({ id }) => id));
    const listed = await get(`${path}?per_page=100&sort=${sort}`);
    expect(ids.slice(0, 100)).toEqual(listed.body.data.map(({ id }: { id: string }) => id));
    expect(ids).toHaveLength(1300);
  });

  test('is read in smaller batches if the tenant has declared many fields, whose values may be long', async () => {
    const { id: tenantId } = tenant();
    const { pool, database } = crm().context;
    await pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
       SELECT gen_random_uuid(), $1, 'Ada' FROM generate_series(1, 120)`,
      [tenantId],
    );
    const contacts = createRecords(contact, database);
    const sizes = async (): Promise<number[]> => {
      const read: number[] = [];
      const batches = contacts.batches(callerIn(tenantId), {}, (run) => run());
      for await (const batch of batches) read.push(batch.length);
      return read;
    };
    expect(await sizes()).toEqual([120]);
    await pool.query(
      `INSERT INTO tenant_crm.custom_fields (id, tenant_id, key, label, type)
       SELECT gen_random_uuid(), $1, 'field_' || n, 'Field', 'text' FROM generate_series(1, 100) AS n`,
      [tenantId],
    );
    expect(await sizes()).toEqual([50, 50, 20]);
  });

  test('cannot be sorted by what the list cannot be sorted by', async () => {
    expect((await get(`${path}/export?sort=phone`)).body.errors).toHaveProperty('sort');
  });

  test('has the records that the search and the filters of the list select, of one tenant', async () => {
    await create({ first_name: 'Ada', tags: ['vip'] });
    await create({ first_name: 'Adam', tags: ['lead'] });
    await create({ first_name: 'Bob', tags: ['vip'] });
    const gone = await create({ first_name: 'Ada', tags: ['vip'] });
    await remove(`${path}/${gone.body.data.id}`).expect(204);
    const { body } = await get(`${path}/export?format=json&search=ada&tag=vip`);
    expect(body.data).toMatchObject([{ first_name: 'Ada', tags: ['vip'] }]);
    expect((await get(`${path}/export?page=1`)).body.errors).toHaveProperty('page');
  });

  test('needs a permission of its own', async () => {
    const { status, body } = await get(`${path}/export`, caller({ lacking: ['contacts.export'] }));
    expect([status, body.required_permission]).toEqual([403, 'tenant.acme.crm.contacts.export']);
  });
});
