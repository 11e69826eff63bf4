import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, tenant, caller, get, post } = tenantForEachTest();
const api = '/api/crm';

interface Person {
  readonly headers: Readonly<Record<string, string>>;
  readonly id: string;
}

/** A member of the tenant who can leave it. */
const person = (options: object = {}) =>
  crm().identity.signIn({
    tenants: [tenant()],
    policies: [{ action: '*', effect: 'allow' }],
    ...options,
  });

const leave = (who: ReturnType<typeof person>): void => crm().identity.remove(who);

const create: Readonly<Record<string, readonly [path: string, body: object]>> = {
  projects: ['/projects', { name: 'Secret', key: 'SECRET', is_private: true }],
  document_folders: ['/document-folders', { name: 'Secret' }],
  channels: ['/channels', { name: 'Secret', kind: 'private' }],
};

/** A private record of one member. */
const privateRecord = async (type: string, { headers, id: user_id }: Person): Promise<string> => {
  const [path, body] = create[type] as readonly [string, object];
  const { id } = (await post(`${api}${path}`, body, headers).expect(201)).body.data;
  if (type === 'document_folders') {
    const member = { user_id, access: 'write' };
    await post(`${api}${path}/${id}/members`, member, headers).expect(201);
  }
  return id;
};

const orphans = async (type: string): Promise<string[]> => {
  const { body } = await get(`${api}/orphans?type=${type}`).expect(200);
  expect(body.meta).toEqual({ next_after: null });
  return body.data.map(({ id }: { id: string }) => id);
};

const types = [
  ['projects', 'projects', 'projects'],
  ['document_folders', 'document-folders', 'document_folders'],
  ['channels', 'channels', 'chat.channels'],
] as const;

test.each(types)(
  'Owners find and take over private %s whose members have all left',
  async (type, path, resource) => {
    const [gone, other] = [person(), person()];
    const id = await privateRecord(type, gone);
    await privateRecord(type === 'projects' ? 'channels' : 'projects', other);
    const one = `${api}/${path}/${id}`;
    expect(await orphans(type)).toEqual([]);
    await post(`${one}/take-over`).expect(404);
    leave(gone);
    expect(await orphans(type)).toEqual([id]);
    await get(one).expect(404);
    await post(`${one}/take-over`).expect(204);
    await get(one).expect(200);
    expect(await orphans(type)).toEqual([]);
    await post(`${one}/take-over`).expect(404);
    const { body } = await get(`${api}/activity?action=taken_over`).expect(200);
    expect(body.data).toMatchObject([{ resource_type: resource, resource_id: id }]);
    // With all rights: another member can be added.
    const members = type === 'channels' ? 'participants' : 'members';
    await post(`${one}/${members}`, { user_id: randomUUID() }).expect(201);
  },
);

test('Administrators, and owners of other tenants, find and take over nothing', async () => {
  const gone = person();
  const id = await privateRecord('projects', gone);
  leave(gone);
  const lacking = ['private.records.orphans.list', 'private.records.orphans.update'];
  const denied = await get(`${api}/orphans?type=projects`, caller({ lacking })).expect(403);
  expect(denied.body.required_permission).toMatch(/crm\.private\.records\.orphans\.list$/);
  await post(`${api}/projects/${id}/take-over`, {}, caller({ lacking })).expect(403);
  const stranger = crm().caller({ tenant: 'globex' });
  const found = await get(`${api}/orphans?type=projects`, stranger).expect(200);
  expect(found.body.data).toEqual([]);
  await post(`${api}/projects/${id}/take-over`, {}, stranger).expect(404);
});

test('A record is no orphan while one member is left, or has come back', async () => {
  const [first, second] = [person(), person()];
  const id = await privateRecord('projects', first);
  const member = { user_id: second.id, role: 'viewer' };
  await post(`${api}/projects/${id}/members`, member, first.headers).expect(201);
  leave(first);
  expect(await orphans('projects')).toEqual([]);
  leave(second);
  expect(await orphans('projects')).toEqual([id]);
  const again = person({ id: first.id });
  crm().identity.setPolicies(again, [{ action: '*', effect: 'allow' }]);
  await until(async () => (await orphans('projects')).length === 0);
  await get(`${api}/projects/${id}`, again.headers).expect(200);
});

test('Service accounts are members like people', async () => {
  const robot = person({ type: 'service_account', is_service_account: true });
  const id = await privateRecord('projects', robot);
  expect(await orphans('projects')).toEqual([]);
  leave(robot);
  expect(await orphans('projects')).toEqual([id]);
});

test('A folder below one with members is reached by these', async () => {
  const [above, below] = [person(), person()];
  const parent_id = await privateRecord('document_folders', above);
  const folder = await post(
    `${api}/document-folders`,
    { name: 'Below', parent_id },
    above.headers,
  ).expect(201);
  const { id } = folder.body.data;
  const member = { user_id: below.id, access: 'write' };
  await post(`${api}/document-folders/${id}/members`, member, above.headers).expect(201);
  leave(below);
  expect(await orphans('document_folders')).toEqual([]);
  leave(above);
  expect(await orphans('document_folders')).toEqual([parent_id, id]);
});

test('Orphans are listed by page', async () => {
  const gone = person();
  const ids: string[] = [];
  for (const key of ['P1', 'P2', 'P3']) {
    const body = { name: key, key, is_private: true };
    ids.push((await post(`${api}/projects`, body, gone.headers).expect(201)).body.data.id);
  }
  leave(gone);
  const path = `${api}/orphans?type=projects&per_page=2`;
  const first = (await get(path).expect(200)).body;
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  expect(first.meta.next_after).toBe(ids[1]);
  const second = (await get(`${path}&after=${ids[1]}`).expect(200)).body;
  expect(second.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
  expect(second.meta.next_after).toBeNull();
});

test('Nothing is an orphan as long as identity does not say who has left', async () => {
  const gone = person();
  await privateRecord('projects', gone);
  leave(gone);
  crm().identity.intercept('rights', () => ({ status: 503, body: '{}' }));
  await get(`${api}/orphans?type=projects`).expect(503);
  crm().identity.restore();
});
