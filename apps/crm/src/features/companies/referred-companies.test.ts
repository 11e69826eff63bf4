import { tenantForEachTest } from '../../testing/tenant.ts';

const { get, post, remove } = tenantForEachTest();
const api = '/api/crm';

const created = async (path: string, body: object): Promise<string> =>
  (await post(`${api}${path}`, body).expect(201)).body.data.id;

test('A company to which records refer is deleted with force only, and the records stay', async () => {
  const company_id = await created('/companies', { name: 'Engines' });
  const contact = await created('/contacts', { first_name: 'Ada', company_id });
  await created('/projects', { name: 'Relaunch', key: 'WEB', company_id });
  await created('/tasks', { title: 'Call', company_id });
  await created('/communication-logs', { kind: 'note', body: 'Hello', company_id });
  const path = `${api}/companies/${company_id}`;
  const { body } = await remove(path).expect(409);
  expect(body).toMatchObject({
    error: 'has_references',
    references: { contacts: 1, projects: 1, tasks: 1, communication_logs: 1 },
  });
  await get(path).expect(200);
  const batch = { operations: [{ op: 'delete', id: company_id }] };
  expect((await post(`${api}/companies/batch`, batch).expect(409)).body.error).toBe(
    'has_references',
  );
  await remove(`${path}?force=true`).expect(204);
  const kept = await get(`${api}/contacts/${contact}`).expect(200);
  expect(kept.body.data.company_id).toBe(company_id);
  await post(`${path}/restore`).expect(200);
  expect((await get(`${api}/contacts?company_id=${company_id}`)).body.meta.total).toBe(1);
});

test('A company to which only deleted records refer is deleted without force', async () => {
  const company_id = await created('/companies', { name: 'Engines' });
  const contact = await created('/contacts', { first_name: 'Ada', company_id });
  await remove(`${api}/contacts/${contact}`).expect(204);
  await remove(`${api}/companies/${company_id}`).expect(204);
});
