import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { newTenant } from '../../testing/identity.ts';

const path = '/api/crm/contacts';

let crm: TestCrm;
let headers: Record<string, string>;
beforeAll(async () => {
  crm = await startCrm();
});
beforeEach(() => {
  headers = crm.caller({ tenants: [newTenant('acme')] });
});
afterAll(() => crm.stop());

const send = (method: 'post' | 'put', to: string, body: object, more: object = {}) =>
  crm.http[method](to)
    .set({ ...headers, ...more })
    .send(body);
const get = (to: string, more: object = {}) => crm.http.get(to).set({ ...headers, ...more });
const remove = (to: string, more: object = {}) => crm.http.delete(to).set({ ...headers, ...more });

const create = async (body: object = { first_name: 'Ada' }): Promise<string> => {
  const created = await send('post', path, body);
  expect(created.status).toBe(201);
  return `${path}/${created.body.data.id}`;
};

const address = {
  ...{ label: 'office', line1: 'Fő utca 1.', line2: null, postal_code: '1011', city: 'Budapest' },
  ...{ region: null, country: 'HU' },
};

describe('Creating', () => {
  test('answers 201 with the contact, where it is, and its entity tag', async () => {
    const body = {
      ...{ first_name: ' Ada ', last_name: 'Lovelace', email: 'ADA@Example.com', phone: '1' },
      ...{ title: 'Countess', company_id: newTenant('x').id, owner_id: newTenant('x').id },
      ...{ notes: 'First.\nSecond.', tags: ['vip'], addresses: [address] },
      emails: [{ label: 'home', email: 'ada@home.example' }],
      phones: [{ label: 'mobile', phone: '+36 20 1' }],
    };
    const created = await send('post', path, body);
    const { id, created_at } = created.body.data;
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      data: {
        ...body,
        ...{ id, first_name: 'Ada', email: 'ada@example.com', created_at, updated_at: created_at },
      },
    });
    expect(created.headers).toMatchObject({ etag: '"1"', location: `${path}/${id}` });
    const shown = await get(created.headers.location ?? '');
    expect(shown.body).toEqual(created.body);
  });

  test('needs a first name only', async () => {
    const shown = await get(await create({ first_name: 'Ada' }));
    expect(shown.body.data).toMatchObject({
      ...{ first_name: 'Ada', last_name: null, email: null, company_id: null },
      ...{ tags: [], emails: [], phones: [], addresses: [] },
    });
  });

  test('names every field that does not fit', async () => {
    const refused = await send('post', path, {
      ...{ last_name: 'a\0b', email: 'nobody', company_id: '1', notes: 'x'.repeat(10_001) },
      ...{ tags: ['a', 'a'], surprise: 1, phones: [{ label: 'desk' }] },
      addresses: [{ ...address, city: 7 }],
    });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors).sort()).toEqual([
      ...['addresses.0.city', 'company_id', 'email', 'first_name', 'last_name', 'notes'],
      ...['phones.0.phone', 'surprise', 'tags.1'],
    ]);
  });

  test('takes 10,000 characters of notes, of any script', async () => {
    const notes = '\u{1f642}'.repeat(10_000);
    const shown = await get(await create({ first_name: 'Ada', notes }));
    expect(shown.body.data.notes).toBe(notes);
  });
});

describe('Changing', () => {
  test('answers the whole contact with its new entity tag', async () => {
    const contact = await create({ first_name: 'Ada', title: 'Countess', phone: '1' });
    const changed = await send('put', contact, { title: null, last_name: 'L' });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).toBe('"2"');
    expect(changed.body.data).toMatchObject({ title: null, last_name: 'L', phone: '1' });
  });

  test('cannot empty the first name', async () => {
    const refused = await send('put', await create(), { first_name: null });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors)).toEqual(['first_name']);
  });

  test.each([
    ['"1"', 200],
    ['*', 200],
    ['"7", "1"', 200],
    ['"2"', 412],
    ['W/"1"', 412],
    ['1', 412],
    ['"1-gzip"', 412],
    ['"99999999999999999999"', 412],
    ['', 412],
  ])('with If-Match: %s, when it is "1", is %i', async (tag, status) => {
    const contact = await create();
    const changed = await send('put', contact, { title: 'X' }, { 'If-Match': tag });
    expect(changed.status).toBe(status);
    if (status === 412) expect(changed.body.error).toBe('precondition_failed');
    expect((await get(contact)).body.data.title).toBe(status === 200 ? 'X' : null);
  });

  test('of tags replaces them', async () => {
    const contact = await create({ first_name: 'Ada', tags: ['vip', 'old'] });
    const replaced = await send('put', `${contact}/tags`, { tags: ['new', 'vip'] });
    expect(replaced.status).toBe(200);
    expect(replaced.body.data).toMatchObject({ first_name: 'Ada', tags: ['new', 'vip'] });
    const stale = await send('put', `${contact}/tags`, { tags: [] }, { 'If-Match': '"1"' });
    expect(stale.status).toBe(412);
    const emptied = await send('put', `${contact}/tags`, { tags: [] }, { 'If-Match': '"2"' });
    expect(emptied.body.data.tags).toEqual([]);
    expect(emptied.headers.etag).toBe('"3"');
  });
});

describe('Deleting', () => {
  test('is 204 once and 404 from then on, until it is restored', async () => {
    const contact = await create();
    expect((await remove(contact, { 'If-Match': '"5"' })).status).toBe(412);
    expect((await remove(contact, { 'If-Match': '"1"' })).status).toBe(204);
    expect((await remove(contact)).status).toBe(404);
    expect((await get(contact)).body.error).toBe('not_found');
    const restored = await send('post', `${contact}/restore`, {});
    expect(restored.status).toBe(200);
    expect(restored.headers.etag).toBe('"3"');
    const again = await send('post', `${contact}/restore`, {});
    expect(again.body).toEqual(restored.body);
    expect((await get(contact)).body).toEqual(restored.body);
  });
});

describe('Showing', () => {
  test.each(['"1"', 'W/"1"', '"7", "1"', '*'])(
    'is 304 for a client that has it: If-None-Match: %s',
    async (tag) => {
      const shown = await get(await create(), { 'If-None-Match': tag });
      expect(shown.status).toBe(304);
      expect(shown.headers.etag).toBe('"1"');
      expect(shown.text).toBe('');
    },
  );

  test('is 200 for a client that has an older one', async () => {
    const contact = await create();
    await send('put', contact, { title: 'X' });
    const shown = await get(contact, { 'If-None-Match': '"1"' });
    expect(shown.status).toBe(200);
    expect(shown.body.data.title).toBe('X');
  });

  test('without the permission names it and the contact', async () => {
    const contact = await create();
    const lacking = crm.caller({ lacking: ['contacts.view'] });
    const refused = await crm.http.get(contact).set(lacking);
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      ...{ error: 'permission_denied', required_permission: 'tenant.acme.crm.contacts.view' },
      ...{ resource_type: 'contact', resource_id: contact.slice(path.length + 1) },
    });
  });
});
