import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, crm, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/contacts';

const create = async (body: object = { first_name: 'Ada' }): Promise<string> =>
  `${path}/${(await post(path, body).expect(201)).body.data.id}`;

const history = async (record: string) => (await get(`${record}/history`).expect(200)).body.data;

describe('The history of a contact', () => {
  test('contains the time and the changed fields with their old and new values', async () => {
    const contact = await create({ first_name: 'Ada', title: 'Countess', tags: ['vip'] });
    const phones = [{ label: 'home', phone: '1' }];
    const { body } = await put(contact, {
      first_name: 'Ada',
      title: null,
      email: 'ADA@example.com',
      tags: ['vip', 'new'],
      phones,
    }).expect(200);
    const [update, creation] = await history(contact);
    expect(update).toMatchObject({ action: 'update', version: 2 });
    expect(update.changes).toEqual({
      title: { from: 'Countess', to: null },
      email: { from: null, to: 'ada@example.com' },
      tags: { from: ['vip'], to: ['vip', 'new'] },
      phones: { from: [], to: phones },
    });
    expect(Date.parse(update.changed_at)).toBeGreaterThanOrEqual(Date.parse(body.data.created_at));
    expect(creation).toMatchObject({ action: 'create', version: 1, changes: {} });
  });

  test('contains each deletion and restoration, and its last version is that of the ETag', async () => {
    const contact = await create();
    await remove(contact).expect(204);
    const restored = await post(`${contact}/restore`).expect(200);
    await put(`${contact}/tags`, { tags: ['a'] }).expect(200);
    const actions = (await history(contact)).map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['update', 'restore', 'delete', 'create']);
    expect([restored.headers.etag, (await history(contact))[0].version]).toEqual(['"3"', 4]);
  });

  test('has no entry for a request that changes nothing or is rejected', async () => {
    const contact = await create();
    await put(contact, {}).expect(200);
    await put(contact, { company_id: randomUUID() }).expect(422);
    await put(contact, { first_name: 'Eve' }).set('If-Match', '"7"').expect(412);
    await post(`${contact}/restore`).expect(200);
    expect(await history(contact)).toHaveLength(1);
  });

  test('names the user, the client, the API key and the impersonating administrator', async () => {
    const contact = await create();
    const [user, key, administrator] = [randomUUID(), randomUUID(), randomUUID()];
    const callers = [
      caller({ id: user, client_id: 'mobile-app' }),
      caller({ id: key, type: 'service_account', is_service_account: true, token_id: 'key-1' }),
      caller({ id: user, impersonator_id: administrator }),
    ];
    for (const [i, headers] of callers.entries()) {
      await put(contact, { title: `${i}` })
        .set(headers)
        .expect(200);
    }
    const [impersonated, byKey, byUser] = await history(contact);
    expect(byUser).toMatchObject({ actor_type: 'user', user_id: user, client_id: 'mobile-app' });
    expect(byUser.impersonator_id).toBeNull();
    expect(byKey).toMatchObject({ actor_type: 'service_account', user_id: key, token_id: 'key-1' });
    expect(impersonated).toMatchObject({ user_id: user, impersonator_id: administrator });
  });

  test('names a client without a user', async () => {
    const pipeline = { type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] } as const;
    const headers = { ...crm().identity.signIn(pipeline).headers, 'x-tenant': 'acme' };
    const made = await crm().http.post(path).set(headers).send({ first_name: 'Ada' }).expect(201);
    const { body } = await crm().http.get(`${path}/${made.body.data.id}/history`).set(headers);
    expect(body.data).toMatchObject([
      { actor_type: 'client', user_id: null, client_id: 'pipeline' },
    ]);
  });

  test('is paged, newest first', async () => {
    const contact = await create();
    for (const title of ['a', 'b', 'c']) await put(contact, { title }).expect(200);
    const { body } = await get(`${contact}/history?per_page=3&page=2`).expect(200);
    expect(body.data).toMatchObject([{ version: 1 }]);
    expect(body.meta).toEqual({ current_page: 2, last_page: 2, per_page: 3, total: 4 });
    const { body: first } = await get(`${contact}/history?per_page=3`).expect(200);
    expect(first.data.map(({ version }: { version: number }) => version)).toEqual([4, 3, 2]);
  });

  test('of a deleted contact is shown only to callers who may restore it', async () => {
    const contact = await create();
    await remove(contact).expect(204);
    expect(await history(contact)).toMatchObject([{ action: 'delete' }, { action: 'create' }]);
    const viewer = caller({ lacking: ['contacts.delete'] });
    await get(`${contact}/history`).set(viewer).expect(404);
  });

  test("is a 404 for another tenant's contact and for an unknown one", async () => {
    const contact = await create();
    const stranger = crm().caller({ tenant: 'globex' });
    await crm().http.get(`${contact}/history`).set(stranger).expect(404);
    await get(`${path}/${randomUUID()}/history`).expect(404);
  });

  test('orders concurrent changes so that each begins with the values of the previous one', async () => {
    const contact = await create({ first_name: '0' });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => put(contact, { first_name: `n${i}` }).expect(200)),
    );
    const { data } = (await get(`${contact}/history?per_page=100`)).body;
    const changes = data.toReversed().slice(1);
    let current = '0';
    for (const [i, { version, changes: changed }] of changes.entries()) {
      expect([version, changed.first_name.from]).toEqual([i + 2, current]);
      current = changed.first_name.to;
    }
    expect((await get(contact)).body.data.first_name).toBe(current);
  });
});

test('The history of a company has the changes of its addresses', async () => {
  const { body } = await post('/api/crm/companies', { name: 'Engines' }).expect(201);
  const company = `/api/crm/companies/${body.data.id}`;
  const address = { label: 'office', line1: '1', city: 'Pest', country: 'HU' };
  await post(`${company}/addresses`, address).expect(201);
  const [{ action, version, changes }] = await history(company);
  expect([action, version]).toEqual(['update', 2]);
  expect(changes.addresses).toMatchObject({ from: [], to: [{ city: 'Pest' }] });
});
