import { newTenant } from '@tessera/resource-server/testing';
import { tenantForEachTest } from '../../testing/tenant.ts';

const path = '/api/crm/companies';

const { get, post, put } = tenantForEachTest();

const create = (body: object) => post(path, body);

const office = {
  label: 'office',
  line1: 'Fő utca 1.',
  line2: null,
  postal_code: '1011',
  city: 'Budapest',
  region: null,
  country: 'HU',
};
const nowhere = {
  label: 'billing',
  line1: null,
  line2: null,
  postal_code: null,
  city: null,
  region: null,
  country: null,
};

describe('Creating', () => {
  test('responds with the company and assigns ids to its addresses', async () => {
    const body = {
      name: ' Analytical Engines ',
      domain: 'Analytical.EXAMPLE',
      tax_number: 'HU 123',
      email: 'Info@Analytical.example',
      phone: '+44 1',
      industry: 'Machines',
      owner_id: newTenant('x').id,
      notes: 'First.\nSecond.',
      addresses: [office, { label: 'billing' }],
    };
    const created = await create(body);
    const { id, addresses, created_at } = created.body.data;
    expect(created.status).toBe(201);
    expect(created.body.data).toEqual({
      ...body,
      id,
      name: 'Analytical Engines',
      domain: 'analytical.example',
      email: 'info@analytical.example',
      created_at,
      updated_at: created_at,
      tags: [],
      addresses: [
        { ...office, id: expect.any(String) },
        { ...nowhere, id: expect.any(String) },
      ],
    });
    expect(addresses[0].id).not.toBe(addresses[1].id);
    expect((await get(created.headers.location ?? '')).body).toEqual(created.body);
  });

  test('needs a name only', async () => {
    const created = await create({ name: 'A' });
    const { id, created_at, updated_at } = created.body.data;
    expect(created.body.data).toEqual({
      id,
      name: 'A',
      domain: null,
      tax_number: null,
      email: null,
      phone: null,
      industry: null,
      owner_id: null,
      notes: null,
      addresses: [],
      tags: [],
      created_at,
      updated_at,
    });
  });

  test('names every invalid field', async () => {
    const refused = await create({
      domain: 'https://a.example',
      email: 'nobody',
      owner_id: '1',
      surprise: 1,
      addresses: [office, { ...office, city: 7 }, { city: 'Paris', zip: '1' }],
    });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors).sort()).toEqual([
      'addresses.1.city',
      'addresses.2.label',
      'addresses.2.zip',
      'domain',
      'email',
      'name',
      'owner_id',
      'surprise',
    ]);
  });
});

describe('A changed list of addresses', () => {
  test('keeps the addresses whose ids it contains, and no others', async () => {
    const created = await create({ name: 'A', addresses: [office, nowhere] });
    const [first, second] = created.body.data.addresses;
    const changed = await put(`${path}/${created.body.data.id}`, {
      addresses: [{ label: 'new' }, { ...second, city: 'Wien' }],
    });
    expect(changed.body.data.addresses).toEqual([
      { ...nowhere, label: 'new', id: expect.any(String) },
      { ...second, city: 'Wien' },
    ]);
    expect(changed.body.data.addresses[0].id).not.toBe(first.id);
  });

  test('names every repeated id', async () => {
    const [id, other] = [newTenant('x').id, newTenant('x').id];
    const ids = [undefined, id, other, id, other.toUpperCase(), id];
    const refused = await create({ name: 'A', addresses: ids.map((id) => ({ ...office, id })) });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors)).toEqual([
      'addresses.3.id',
      'addresses.4.id',
      'addresses.5.id',
    ]);
  });
});

describe('The list', () => {
  const found = async (query: string): Promise<string[]> => {
    const { status, body } = await get(`${path}?${query}`);
    expect(status).toBe(200);
    expect(body.meta.total).toBe(body.data.length);
    return body.data.map(({ name }: { name: string }) => name);
  };

  test('is searched by name, domain, tax number, e-mail, phone, industry, city and tags, not by notes', async () => {
    for (const body of [
      { name: 'Árvíztűrő Kft.', notes: 'Likes procurement' },
      { name: 'B', domain: 'beta.example' },
      { name: 'C', tax_number: 'HU-777' },
      { name: 'D', email: 'info@delta.example' },
      { name: 'E', phone: '+36 20 111' },
      { name: 'F', industry: 'Forestry' },
      { name: 'G', addresses: [{ label: 'mill', line1: 'Dock 9', city: 'Győr' }] },
      { name: 'H', tags: ['other', 'Zöld 50%'] },
    ]) {
      await create(body).expect(201);
    }
    expect(await found('search=ARVIZ')).toEqual(['Árvíztűrő Kft.']);
    expect(await found('search=beta.ex')).toEqual(['B']);
    expect(await found('search=u-77')).toEqual(['C']);
    expect(await found('search=@delta')).toEqual(['D']);
    expect(await found('search=20%20111')).toEqual(['E']);
    expect(await found('search=forest')).toEqual(['F']);
    expect(await found('search=gyor')).toEqual(['G']);
    expect(await found('search=ZOLD')).toEqual(['H']);
    expect(await found('search=0%25')).toEqual(['H']);
    expect(await found('search=zold&tag=other')).toEqual(['H']);
    expect(await found('search=d_5')).toEqual([]);
    expect(await found('search=dock')).toEqual([]);
    expect(await found('search=procure')).toEqual([]);
  });

  test('is narrowed by each filter, and by combinations', async () => {
    const owner_id = newTenant('x').id;
    await create({ name: 'A', industry: 'Steel', domain: 'a.example', owner_id });
    await create({ name: 'B', industry: 'Steel', email: 'b@b.example', tax_number: '7' });
    await create({ name: 'C', industry: 'Wood', owner_id, tax_number: 'HU 12-34' });
    await create({ name: 'D', tax_number: '--' });
    const of = (query: string) => found(`${query}&sort=name`);
    expect(await of('industry=Steel')).toEqual(['A', 'B']);
    expect(await of(`owner_id=${owner_id}`)).toEqual(['A', 'C']);
    expect(await of(`owner_id=${owner_id}&industry=Steel`)).toEqual(['A']);
    expect(await of('domain=A.Example')).toEqual(['A']);
    expect(await of('domain=www.a.example')).toEqual(['A']);
    expect(await of('email=B@b.example')).toEqual(['B']);
    expect(await of('tax_number=7')).toEqual(['B']);
    expect(await of('tax_number=hu1234')).toEqual(['C']);
    expect(await of('tax_number=--')).toEqual(['D']);
    expect(await of('created_from=2020-01-01T00:00:00Z')).toEqual(['A', 'B', 'C', 'D']);
    expect(await of('updated_to=2020-01-01T00:00:00Z')).toEqual([]);
    expect((await get(`${path}?colour=red`)).body.errors).toHaveProperty('colour');
  });

  test('is sorted by name without regard to accents and case, by domain and by industry', async () => {
    for (const [name, domain, industry] of [
      ['Zeta', 'a.example', 'x'],
      ['ábel', 'c.example', 'z'],
      ['Beta', 'b.example', 'y'],
    ]) {
      await create({ name, domain, industry });
    }
    expect(await found('sort=name')).toEqual(['ábel', 'Beta', 'Zeta']);
    expect(await found('sort=-domain')).toEqual(['ábel', 'Beta', 'Zeta']);
    expect(await found('sort=industry')).toEqual(['Zeta', 'Beta', 'ábel']);
    expect(await found('')).toEqual(['Beta', 'ábel', 'Zeta']);
  });
});
