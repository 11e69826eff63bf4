import { randomUUID } from 'node:crypto';
import { addActivity } from '../../activity/add-activity.ts';
import type { Actor } from '../../records/actor.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, tenant, caller, get } = tenantForEachTest();
const path = '/api/crm/activity';

const actor = (fields: Partial<Actor> = {}): Actor => ({
  type: 'user',
  userId: randomUUID(),
  clientId: 'crm-web',
  tokenId: 't1',
  impersonatorId: null,
  ...fields,
});

const add = (by: Actor, action: string, resourceId: string, details = {}): Promise<void> =>
  addActivity(crm().context.database.forTenant(tenant().id), by, {
    action,
    resourceType: action === 'scheduled' ? 'pages' : 'blog.posts',
    resourceId,
    details,
  });

test('The activity log shows who did what, through whom, and when', async () => {
  const administrator = randomUUID();
  const by = actor({ impersonatorId: administrator });
  const post = randomUUID();
  await add(by, 'published', post, { status_before: 'draft' });
  const { body } = await get(path).expect(200);
  expect(body.meta.total).toBe(1);
  expect(body.data).toEqual([
    {
      id: expect.any(String),
      created_at: expect.any(String),
      action: 'published',
      resource_type: 'blog.posts',
      resource_id: post,
      details: { status_before: 'draft' },
      actor_type: 'user',
      user_id: by.userId,
      client_id: 'crm-web',
      token_id: 't1',
      impersonator_id: administrator,
    },
  ]);
});

test('The activity log is filtered by user, impersonator, action, resource and time, and sorted by time', async () => {
  const administrator = randomUUID();
  const [ada, bob] = [actor(), actor({ impersonatorId: administrator })];
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  await add(ada, 'published', first);
  await add(bob, 'unpublished', second);
  await add(bob, 'scheduled', third);
  const { pool } = crm().context;
  for (const [day, id] of [first, second, third].entries()) {
    await pool.query('UPDATE tenant_crm.activities SET created_at = $1 WHERE resource_id = $2', [
      new Date(Date.UTC(2026, 0, day + 1)),
      id,
    ]);
  }
  const found = async (query: string): Promise<string[]> => {
    const { body } = await get(`${path}?${query}`).expect(200);
    return body.data.map((row: { resource_id: string }) => row.resource_id);
  };
  expect(await found('')).toEqual([third, second, first]);
  expect(await found('sort=created_at')).toEqual([first, second, third]);
  expect(await found(`user_id=${ada.userId}`)).toEqual([first]);
  expect(await found(`impersonator_id=${administrator}`)).toEqual([third, second]);
  expect(await found('action=unpublished')).toEqual([second]);
  expect(await found('resource_type=pages')).toEqual([third]);
  expect(await found(`resource_id=${second}`)).toEqual([second]);
  expect(await found('created_from=2026-01-02T00:00:00Z')).toEqual([third, second]);
  expect(await found('created_to=2026-01-01T12:00:00Z')).toEqual([first]);
  expect(await found('sort=created_at&per_page=1&page=2')).toEqual([second]);
});

test('The activity log is exported as CSV and JSON with the filters of the list', async () => {
  const post = randomUUID();
  await add(actor(), 'published', post);
  await add(actor(), 'unpublished', randomUUID());
  const { body } = await get(`${path}/export?format=json&action=published`).expect(200);
  expect(body.data).toMatchObject([{ action: 'published', resource_id: post }]);
  const { text } = await get(`${path}/export?format=csv&action=published`).expect(200);
  expect(text.trim().split('\r\n')).toEqual([
    expect.stringMatching(/^.?id,created_at,action,/),
    expect.stringContaining(post),
  ]);
});

test('The activity log shows neither other tenants nor callers without the permission anything', async () => {
  await add(actor(), 'published', randomUUID());
  const other = crm().caller({ tenant: 'globex' });
  expect((await get(path, other)).body).toMatchObject({ data: [], meta: { total: 0 } });
  await get(path, caller({ permissions: ['activity.export'] })).expect(403);
  await get(`${path}/export?format=json`, caller({ permissions: ['activity.list'] })).expect(403);
});

test('A row of the activity log exists only if the transaction of its action commits', async () => {
  const db = crm().context.database.forTenant(tenant().id);
  const failed = db.transaction(async (transaction) => {
    await addActivity(transaction, actor(), {
      action: 'published',
      resourceType: 'pages',
      resourceId: randomUUID(),
    });
    throw new Error('The action failed.');
  });
  await expect(failed).rejects.toThrow('The action failed.');
  expect((await get(path)).body.meta.total).toBe(0);
});
