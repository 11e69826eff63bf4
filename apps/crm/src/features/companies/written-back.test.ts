import { tenantForEachTest } from '../../testing/tenant.ts';

const path = '/api/crm/companies';
const { get, post, put } = tenantForEachTest();

/** A letter that becomes two in lower case. */
const GROWING = 'İ';

test('a domain or an address that would be too long in lower case is rejected, and stored values can be sent back', async () => {
  const tooLong = {
    name: 'A',
    domain: `${GROWING.repeat(240)}.example`,
    email: `${GROWING.repeat(240)}@b.example`,
  };
  const refused = await post(path, tooLong);
  expect([refused.status, Object.keys(refused.body.errors ?? {}).sort()]).toEqual([
    422,
    ['domain', 'email'],
  ]);
  const body = {
    name: 'A',
    domain: `${GROWING.repeat(10)}.example`,
    email: `${GROWING.repeat(100)}@b.example`,
  };
  const created = await post(path, body);
  expect(created.status).toBe(201);
  const one = created.headers.location ?? '';
  const { id, created_at, updated_at, ...kept } = (await get(one)).body.data;
  const written = await put(one, kept);
  expect([written.status, written.body.data]).toMatchObject([200, { ...kept, id, created_at }]);
  expect(updated_at).toEqual(expect.any(String));
});
