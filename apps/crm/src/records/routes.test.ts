import { tenantForEachTest } from '../testing/tenant.ts';

const { caller, get, post, put, remove } = tenantForEachTest();

describe.each([
  { kind: 'contact', path: '/api/crm/contacts', name: 'first_name', permission: 'contacts.view' },
  { kind: 'company', path: '/api/crm/companies', name: 'name', permission: 'companies.view' },
] as const)('A $kind', ({ kind, path, name, permission }) => {
  const create = async (body: object = {}): Promise<string> => {
    const created = await post(path, { [name]: 'A', ...body });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      etag: '"1"',
      location: `${path}/${created.body.data.id}`,
    });
    return `${path}/${created.body.data.id}`;
  };

  describe('that is changed', () => {
    test('is answered whole, with its new entity tag', async () => {
      const record = await create({ phone: '1', notes: 'N' });
      const changed = await put(record, { [name]: 'B', notes: null });
      expect(changed.status).toBe(200);
      expect(changed.headers.etag).toBe('"2"');
      expect(changed.body.data).toMatchObject({ [name]: 'B', phone: '1', notes: null });
      expect((await get(record)).body).toEqual(changed.body);
    });

    test('in nothing stays in its version', async () => {
      const record = await create();
      const before = await get(record);
      const unchanged = await put(record, {}, { 'If-Match': '"1"' });
      expect(unchanged.status).toBe(200);
      expect(unchanged.headers.etag).toBe('"1"');
      expect(unchanged.body).toEqual(before.body);
      expect((await put(record, {}, { 'If-Match': '"2"' })).status).toBe(412);
      await remove(record);
      expect((await put(record, {})).status).toBe(404);
    });

    test('cannot lose its name', async () => {
      const refused = await put(await create(), { [name]: null });
      expect(refused.status).toBe(422);
      expect(Object.keys(refused.body.errors)).toEqual([name]);
    });

    test.each([
      ['"1"', 200],
      ['*', 200],
      ['"7", "1"', 200],
      ['"2"', 412],
      ['W/"1"', 412],
      ['1', 412],
      ['"1-gzip"', 412],
      ['"01"', 412],
      ['"99999999999999999999"', 412],
      ['', 412],
    ])('with If-Match: %s, when it is "1", is %i', async (tag, status) => {
      const record = await create();
      const changed = await put(record, { notes: 'X' }, { 'If-Match': tag });
      expect(changed.status).toBe(status);
      if (status === 412) expect(changed.body.error).toBe('precondition_failed');
      expect((await get(record)).body.data.notes).toBe(status === 200 ? 'X' : null);
    });
  });

  test('that is deleted is 204 once and 404 from then on, until it is restored', async () => {
    const record = await create();
    expect((await remove(record, { 'If-Match': '"5"' })).status).toBe(412);
    expect((await remove(record, { 'If-Match': '"1"' })).status).toBe(204);
    expect((await remove(record)).status).toBe(404);
    expect((await get(record)).body.error).toBe('not_found');
    expect((await get(path)).body).toMatchObject({ data: [], meta: { total: 0 } });
    const restored = await post(`${record}/restore`, {});
    expect(restored.status).toBe(200);
    expect(restored.headers.etag).toBe('"3"');
    const again = await post(`${record}/restore`, {});
    expect(again.body).toEqual(restored.body);
    expect((await get(record)).body).toEqual(restored.body);
    expect((await get(path)).body).toMatchObject({ data: [restored.body.data] });
  });

  describe('that is shown', () => {
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
      const record = await create();
      await put(record, { notes: 'X' });
      const shown = await get(record, { 'If-None-Match': '"1"' });
      expect(shown.status).toBe(200);
      expect(shown.body.data.notes).toBe('X');
    });

    test('to someone without the permission is not: it names the permission and the record', async () => {
      const record = await create();
      const refused = await get(record, caller({ lacking: [permission] }));
      expect(refused.status).toBe(403);
      expect(refused.body).toMatchObject({
        error: 'permission_denied',
        required_permission: `tenant.acme.crm.${permission}`,
        resource_type: kind,
        resource_id: record.slice(path.length + 1),
      });
    });
  });
});
