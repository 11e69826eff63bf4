import { newTenant } from '@tessera/resource-server/testing';
import { tenantForEachTest } from '../../testing/tenant.ts';

const path = '/api/crm/contacts';

const { get, post, put } = tenantForEachTest();

const create = async (body: object = { first_name: 'Ada' }): Promise<string> => {
  const created = await post(path, body);
  expect(created.status).toBe(201);
  return `${path}/${created.body.data.id}`;
};

const address = {
  label: 'office',
  line1: 'Fő utca 1.',
  line2: null,
  postal_code: '1011',
  city: 'Budapest',
  region: null,
  country: 'HU',
};

describe('Creating', () => {
  test('responds with 201, the contact, its Location and its ETag', async () => {
    const company = await post('/api/crm/companies', { name: 'Analytical Engines' });
    const company_id = company.body.data.id;
    const body = {
      first_name: ' Ada ',
      last_name: 'Lovelace',
      email: 'ADA@Example.com',
      phone: '1',
      title: 'Countess',
      company_id,
      owner_id: newTenant('x').id,
      notes: 'First.\nSecond.',
      tags: ['vip'],
      addresses: [address],
      emails: [{ label: 'home', email: 'ada@home.example' }],
      phones: [{ label: 'mobile', phone: '+36 20 1' }],
    };
    const created = await post(path, body);
    const { id, created_at } = created.body.data;
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      data: {
        ...body,
        custom: {},
        id,
        first_name: 'Ada',
        email: 'ada@example.com',
        created_at,
        updated_at: created_at,
      },
    });
    expect(created.headers).toMatchObject({ etag: '"1"', location: `${path}/${id}` });
    const shown = await get(created.headers.location ?? '');
    expect(shown.body).toEqual(created.body);
  });

  test('requires only a first name', async () => {
    const shown = await get(await create({ first_name: 'Ada' }));
    expect(shown.body.data).toMatchObject({
      first_name: 'Ada',
      last_name: null,
      email: null,
      company_id: null,
      tags: [],
      emails: [],
      phones: [],
      addresses: [],
    });
  });

  test('names every invalid field', async () => {
    const refused = await post(path, {
      last_name: 'a\0b',
      email: 'nobody',
      company_id: '1',
      notes: 'x'.repeat(10_001),
      tags: ['a', 'a'],
      surprise: 1,
      phones: [{ label: 'desk' }],
      addresses: [{ ...address, city: 7 }],
    });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors).sort()).toEqual([
      'addresses.0.city',
      'company_id',
      'email',
      'first_name',
      'last_name',
      'notes',
      'phones.0.phone',
      'surprise',
      'tags.1',
    ]);
  });

  test('accepts notes of 10,000 characters of any script', async () => {
    const notes = '\u{1f642}'.repeat(10_000);
    const shown = await get(await create({ first_name: 'Ada', notes }));
    expect(shown.body.data.notes).toBe(notes);
  });
});

test('Changing the tags replaces them', async () => {
  const contact = await create({ first_name: 'Ada', tags: ['vip', 'old'] });
  const replaced = await put(`${contact}/tags`, { tags: ['new', 'vip'] });
  expect(replaced.status).toBe(200);
  expect(replaced.body.data).toMatchObject({ first_name: 'Ada', tags: ['new', 'vip'] });
  const stale = await put(`${contact}/tags`, { tags: [] }, { 'If-Match': '"1"' });
  expect(stale.status).toBe(412);
  const emptied = await put(`${contact}/tags`, { tags: [] }, { 'If-Match': '"2"' });
  expect(emptied.body.data.tags).toEqual([]);
  expect(emptied.headers.etag).toBe('"3"');
});
