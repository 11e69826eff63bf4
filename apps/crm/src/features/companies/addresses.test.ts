import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, get, post, put, remove } = tenantForEachTest();
let company: string;
let addresses: string;
beforeEach(async () => {
  const created = await post('/api/crm/companies', { name: 'A' });
  company = created.headers.location ?? '';
  addresses = `${company}/addresses`;
});

const add = async (label: string): Promise<string> => {
  const added = await post(addresses, { label, city: 'Pécs' });
  expect(added.status).toBe(201);
  return added.headers.location ?? '';
};

describe('An address', () => {
  test('that is added becomes part of the company, which gets a new version', async () => {
    const added = await post(addresses, { label: 'office', city: 'Pécs' });
    expect(added.status).toBe(201);
    expect(added.body.data).toEqual({
      id: expect.any(String),
      label: 'office',
      line1: null,
      line2: null,
      postal_code: null,
      city: 'Pécs',
      region: null,
      country: null,
    });
    expect(added.headers).toMatchObject({
      etag: '"2"',
      location: `${addresses}/${added.body.data.id}`,
    });
    const shown = await get(added.headers.location ?? '');
    expect([shown.body, shown.headers.etag]).toEqual([added.body, '"2"']);
    const { body, headers } = await get(company);
    expect([body.data.addresses, headers.etag]).toEqual([[added.body.data], '"2"']);
    expect((await get('/api/crm/companies?search=pecs')).body.data).toEqual([body.data]);
  });

  test('that is changed keeps fields that are not given, and other addresses stay unchanged', async () => {
    const [office, mill] = [await add('office'), await add('mill')];
    const changed = await put(office, { label: 'HQ', city: null });
    expect(changed.status).toBe(200);
    expect(changed.body.data).toMatchObject({ label: 'HQ', city: null, country: null });
    expect((await get(office)).body).toEqual(changed.body);
    expect((await get(mill)).body.data).toMatchObject({ label: 'mill', city: 'Pécs' });
    expect((await get(addresses)).body.data.map(({ label }: { label: string }) => label)).toEqual([
      'HQ',
      'mill',
    ]);
  });

  test('that is not actually changed leaves the version of the company unchanged', async () => {
    const unchanged = await put(await add('office'), {});
    expect([unchanged.status, unchanged.headers.etag]).toEqual([200, '"2"']);
  });

  test('that is removed no longer exists, and the others stay', async () => {
    const [office, mill] = [await add('office'), await add('mill')];
    expect((await remove(office)).status).toBe(204);
    for (const gone of [await get(office), await put(office, {}), await remove(office)]) {
      expect([gone.status, gone.body.error]).toEqual([404, 'not_found']);
    }
    expect((await get(addresses)).body).toMatchObject({
      data: [(await get(mill)).body.data],
      meta: { total: 1 },
    });
  });

  test('that is invalid is rejected, naming each field', async () => {
    const added = await post(addresses, { city: 7, id: randomUUID() });
    expect(added.status).toBe(422);
    expect(Object.keys(added.body.errors).sort()).toEqual(['city', 'id', 'label']);
    const changed = await put(await add('office'), { label: null, zip: '1' });
    expect(changed.status).toBe(422);
    expect(Object.keys(changed.body.errors).sort()).toEqual(['label', 'zip']);
  });

  test('of another company of the tenant is a 404', async () => {
    const office = await add('office');
    const other = await post('/api/crm/companies', { name: 'B' });
    const through = office.replace(company, other.headers.location ?? '');
    expect((await get(through)).status).toBe(404);
    expect((await remove(through)).status).toBe(404);
    expect((await get(office)).status).toBe(200);
  });

  test('of a deleted company is a 404 until the company is restored', async () => {
    const office = await add('office');
    await remove(company);
    for (const gone of [office, addresses]) expect((await get(gone)).status).toBe(404);
    expect((await post(addresses, { label: 'x' })).status).toBe(404);
    await post(`${company}/restore`, {});
    expect((await get(office)).body.data.label).toBe('office');
  });
});

describe('Changes of addresses', () => {
  test('require the version of the company that If-Match names', async () => {
    const office = await add('office');
    const stale = { 'If-Match': '"1"' };
    expect((await post(addresses, { label: 'x' }, stale)).status).toBe(412);
    expect((await put(office, { label: 'x' }, stale)).status).toBe(412);
    expect((await put(office, {}, stale)).status).toBe(412);
    expect((await remove(office, stale)).status).toBe(412);
    const changed = await put(office, { label: 'x' }, { 'If-Match': '"2"' });
    expect([changed.status, changed.headers.etag]).toEqual([200, '"3"']);
    expect((await get(office, { 'If-None-Match': '"3"' })).status).toBe(304);
    expect((await remove(office, { 'If-Match': '"1", "3"' })).status).toBe(204);
  });

  test('are never lost when they are concurrent, even with changes of the company', async () => {
    const office = await add('office');
    const labels = Array.from({ length: 8 }, (_, i) => `mill ${i}`);
    await Promise.all([
      ...labels.map((label) => post(addresses, { label }).expect(201)),
      put(office, { line1: 'Fő utca 1.' }).expect(200),
      put(office, { country: 'HU' }).expect(200),
      put(company, { industry: 'Mills' }).expect(200),
    ]);
    const { data } = (await get(company)).body;
    expect(data.industry).toBe('Mills');
    expect(data.addresses).toHaveLength(9);
    expect(data.addresses).toContainEqual(
      expect.objectContaining({ label: 'office', line1: 'Fő utca 1.', country: 'HU' }),
    );
    expect(new Set(data.addresses.map(({ label }: { label: string }) => label))).toEqual(
      new Set(['office', ...labels]),
    );
  });

  test('are limited to fifty per company', async () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ label: `${i}` }));
    await put(company, { addresses: many }).expect(200);
    const refused = await post(addresses, { label: 'one more' });
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    expect((await put(company, { addresses: [...many, many[0]] })).body.errors).toHaveProperty(
      'addresses',
    );
  });
});

test('The list of addresses is paginated', async () => {
  await put(company, { addresses: ['a', 'b', 'c'].map((label) => ({ label })) });
  const { body } = await get(`${addresses}?per_page=2&page=2`);
  expect(body).toMatchObject({
    data: [{ label: 'c' }],
    meta: { current_page: 2, last_page: 2, per_page: 2, total: 3 },
    links: { first: `${addresses}?per_page=2&page=1`, next: null },
  });
  expect((await get(`${addresses}?per_page=2&page=9`)).body).toEqual(body);
  expect((await get(`${addresses}?sort=label`)).body.errors).toHaveProperty('sort');
});

test('Addresses require the permission to update their company', async () => {
  const office = await add('office');
  const only = (permission: 'companies.update' | 'companies.view') =>
    caller({ permissions: [permission] });
  const refused = await get(office, only('companies.view'));
  expect(refused.body).toMatchObject({
    error: 'permission_denied',
    required_permission: 'tenant.acme.crm.companies.update',
    resource_type: 'address',
    resource_id: office.slice(addresses.length + 1),
  });
  expect((await get(addresses, only('companies.view'))).body).toMatchObject({
    resource_type: 'company',
    resource_id: company.split('/').at(-1),
  });
  expect((await get(addresses, only('companies.update'))).status).toBe(200);
});
