import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/companies/duplicates';

const company = async (name: string, fields: object): Promise<string> =>
  (await post('/api/crm/companies', { name, ...fields }).expect(201)).body.data.id;

interface Group {
  readonly field: string;
  readonly value: string;
  readonly count: number;
  readonly companies: readonly { readonly name: string }[];
}
/** `domain acme.com: A, B` for each group. */
const groups = async (query = ''): Promise<string[]> =>
  (await get(`${path}?${query}`).expect(200)).body.data.map(
    ({ field, value, companies }: Group) =>
      `${field} ${value}: ${companies.map(({ name }) => name).join(', ')}`,
  );

test('Companies with the same domain, with or without www, are a group', async () => {
  await company('A', { domain: 'acme.com' });
  await company('B', { domain: 'WWW.Acme.com' });
  await company('C', { domain: 'shop.acme.com' });
  expect(await groups()).toEqual(['domain acme.com: A, B']);
});

test('Companies with the same tax number are a group, whatever its punctuation and case', async () => {
  await company('A', { tax_number: 'HU 1234-5678' });
  await company('B', { tax_number: 'hu12345678', domain: 'b.example' });
  await company('C', { tax_number: '---' });
  await company('D', { tax_number: '- -', domain: 'b.example' });
  expect(await groups()).toEqual(['domain b.example: B, D', 'tax_number HU12345678: A, B']);
  expect(await groups('field=tax_number')).toEqual(['tax_number HU12345678: A, B']);
});

test('A group follows changes and contains no deleted companies', async () => {
  const id = await company('A', { domain: 'acme.com' });
  const other = await company('B', { domain: 'acme.com' });
  await put(`/api/crm/companies/${id}`, { domain: 'other.com' }).expect(200);
  expect(await groups()).toEqual([]);
  await put(`/api/crm/companies/${id}`, { domain: 'acme.com' }).expect(200);
  await remove(`/api/crm/companies/${other}`).expect(204);
  expect(await groups()).toEqual([]);
});

test('Groups are paged, and a large one shows its first companies and its size', async () => {
  for (const domain of ['a.example', 'b.example', 'c.example']) {
    for (const name of ['1', '2']) await company(name, { domain });
  }
  expect(await groups('per_page=2')).toEqual(['domain a.example: 1, 2', 'domain b.example: 1, 2']);
  const { body } = await get(`${path}?per_page=2&page=9`);
  expect(body.meta).toMatchObject({ current_page: 2, last_page: 2, total: 3 });
  for (let more = 0; more < 20; more += 1) await company('more', { domain: 'c.example' });
  const [large] = (await get(`${path}?per_page=2&page=2`)).body.data;
  expect([large.count, large.companies.length]).toEqual([22, 20]);
});

test('Duplicates require the permission to list companies and are limited to the tenant', async () => {
  await company('A', { domain: 'acme.com' });
  const other = crm().caller({ tenant: 'globex' });
  const theirs = { name: 'B', domain: 'acme.com' };
  await crm().http.post('/api/crm/companies').set(other).send(theirs).expect(201);
  expect(await groups()).toEqual([]);
  await get(path, caller({ lacking: ['companies.list'] })).expect(403);
});
