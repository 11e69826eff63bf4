import { randomUUID } from 'node:crypto';
import { newTenant } from '@tessera/resource-server/testing';
import { tenantForEachTest } from '../../testing/tenant.ts';

const contacts = '/api/crm/contacts';
const companies = '/api/crm/companies';

const { crm, get, post, put, remove } = tenantForEachTest();

const newCompany = async (): Promise<string> => (await post(companies, { name: 'A' })).body.data.id;

test.each([
  ['nobody has', async () => randomUUID()],
  [
    'another tenant has',
    async () => {
      const theirs = crm().caller({ tenants: [newTenant('globex')] });
      const made = await post(companies, { name: 'Theirs' }, theirs);
      return made.body.data.id;
    },
  ],
  [
    'is deleted',
    async () => {
      const id = await newCompany();
      await remove(`${companies}/${id}`).expect(204);
      return id;
    },
  ],
])('A contact of a company that %s is 422 and names company_id', async (_, company) => {
  const company_id = await company();
  const own = await newCompany();
  const { body } = await post(contacts, { first_name: 'Ada', company_id: own }).expect(201);
  const contact = `${contacts}/${body.data.id}`;
  for (const refused of [
    await post(contacts, { first_name: 'Bob', company_id }),
    await put(contact, { title: 'X', company_id }),
  ]) {
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      error: 'validation_failed',
      errors: { company_id: ['company_id must be the id of an existing company'] },
    });
  }
  expect((await get(contacts)).body.data).toEqual([body.data]);
  await put(contact, { company_id: null }).expect(200);
  await put(contact, { company_id: own }).expect(200);
});

test('A deleted company keeps its contacts, which can be changed, found by its id, and moved', async () => {
  const [old, next] = [await newCompany(), await newCompany()];
  const ids: string[] = [];
  for (const first_name of ['Ada', 'Bob']) {
    ids.push((await post(contacts, { first_name, company_id: old })).body.data.id);
  }
  const [ada, bob] = ids.map((id) => `${contacts}/${id}`) as [string, string];
  const of = async (company: string): Promise<string[]> => {
    const { body } = await get(`${contacts}?company_id=${company}&sort=name`);
    return body.data.map(({ id }: { id: string }) => id);
  };
  await remove(`${companies}/${old}?force=true`).expect(204);
  expect(await of(old)).toEqual(ids);
  const { body } = await put(ada, { title: 'Countess', company_id: old }).expect(200);
  expect(body.data).toMatchObject({ title: 'Countess', company_id: old });
  await remove(ada).expect(204);
  await post(`${ada}/restore`).expect(200);
  await put(bob, { company_id: next }).expect(200);
  await put(bob, { company_id: old }).expect(422);
  await post(`${companies}/${old}/restore`).expect(200);
  await put(bob, { company_id: old }).expect(200);
  expect(await of(old)).toEqual(ids);
});

test('Creating contacts of a company that is deleted at the same time fails only with 422', async () => {
  const company_id = await newCompany();
  const made = Array.from({ length: 12 }, (_, i) =>
    post(contacts, { first_name: `${i}`, company_id }),
  );
  const [deleted, ...statuses] = await Promise.all([
    remove(`${companies}/${company_id}?force=true`),
    ...made.map(async (request) => (await request).status),
  ]);
  expect(deleted.status).toBe(204);
  const { meta } = (await get(`${contacts}?company_id=${company_id}`)).body;
  expect(meta.total).toBe(statuses.filter((status) => status === 201).length);
  expect(statuses.every((status) => status === 201 || status === 422)).toBe(true);
});
