import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();

const kinds = [
  ['/api/crm/kb-articles', 'kb_articles'],
  ['/api/crm/blog-posts', 'blog.posts'],
  ['/api/crm/pages', 'pages'],
] as const;
const posts = '/api/crm/blog-posts';

const DAY_MS = 86_400_000;
const tomorrow = () => new Date(Date.now() + DAY_MS).toISOString();

const create = async (path: string = posts): Promise<string> => {
  const { body } = await post(path, { title: `Title ${randomUUID()}` }).expect(201);
  return `${path}/${body.data.id}`;
};

/** The rows of the activity log about a record, oldest first. */
const activityOf = async (path: string) => {
  const id = path.split('/').at(-1);
  const { body } = await get(`/api/crm/activity?sort=created_at&resource_id=${id}`).expect(200);
  return body.data;
};
const actionsOf = async (path: string): Promise<string[]> =>
  (await activityOf(path)).map(({ action }: { action: string }) => action);

const historyOf = async (path: string): Promise<string[]> => {
  const { body } = await get(`${path}/history`).expect(200);
  return body.data.map(({ action }: { action: string }) => action);
};

const draft = { status: 'draft', published_at: null, scheduled_at: null };

describe.each(kinds)('%s', (path, resource) => {
  test('A record is published, unpublished and archived; each is in its history and in the activity log', async () => {
    const record = await create(path);
    expect((await get(record)).body.data).toMatchObject(draft);
    const { body: published } = await post(`${record}/publish`).expect(200);
    expect(published.data).toMatchObject({
      status: 'published',
      published_at: expect.any(String),
      scheduled_at: null,
    });
    expect((await post(`${record}/unpublish`).expect(200)).body.data).toMatchObject(draft);
    const { body: archived } = await post(`${record}/archive`).expect(200);
    expect(archived.data).toMatchObject({ ...draft, status: 'archived' });
    expect((await post(`${record}/unpublish`).expect(200)).body.data).toMatchObject(draft);
    expect(await historyOf(record)).toEqual([
      'unpublish',
      'archive',
      'unpublish',
      'publish',
      'create',
    ]);
    expect(await activityOf(record)).toMatchObject([
      {
        action: 'published',
        resource_type: resource,
        details: { status_before: 'draft', published_at: published.data.published_at },
      },
      { action: 'unpublished', details: { status_before: 'published' } },
      { action: 'archived', details: { status_before: 'draft' } },
      { action: 'unpublished', details: { status_before: 'archived' } },
    ]);
  });

  test('Publishing, unpublishing and archiving need the permission to publish, and no other', async () => {
    const record = await create(path);
    const publisher = caller({ permissions: [`${resource}.publish`] });
    const editor = caller({ lacking: [`${resource}.publish`] });
    for (const action of ['publish', 'unpublish', 'archive']) {
      const { body } = await post(`${record}/${action}`, {}, editor).expect(403);
      expect(body.required_permission).toBe(`tenant.acme.crm.${resource}.publish`);
      await post(`${record}/${action}`, {}, publisher).expect(200);
    }
    await put(record, { title: 'Changed' }, publisher).expect(403);
    expect(await actionsOf(record)).toEqual(['published', 'unpublished', 'archived']);
  });

  test('What is published or scheduled is changed only with the permission to publish', async () => {
    const editor = caller({ lacking: [`${resource}.publish`] });
    const record = await create(path);
    for (const body of [{ publish_at: tomorrow() }, {}]) {
      await post(`${record}/publish`, body).expect(200);
      for (const change of [
        () => put(record, { title: 'Changed' }, editor),
        () => post(`${record}/revisions/1/restore`, {}, editor),
        ...(resource === 'pages' ? [() => post(`${record}/move`, {}, editor)] : []),
      ]) {
        const { body: refused } = await change().expect(403);
        expect(refused.required_permission).toBe(`tenant.acme.crm.${resource}.publish`);
      }
      await put(record, { summary: 'Changed' }).expect(200);
    }
    await post(`${record}/unpublish`).expect(200);
    await put(record, { title: 'Draft' }, editor).expect(200);
    expect((await get(record)).body.data).toMatchObject({ title: 'Draft', summary: 'Changed' });
  });

  test('An administrator who acts as a user publishes in the name of the user, and is named in the activity log', async () => {
    const record = await create(path);
    const impersonator_id = randomUUID();
    const user = randomUUID();
    const headers = caller({ id: user, impersonator_id });
    await post(`${record}/publish`, {}, headers).expect(200);
    await post(`${record}/unpublish`, {}, headers).expect(200);
    const actor = { actor_type: 'user', user_id: user, impersonator_id };
    expect(await activityOf(record)).toMatchObject([
      { action: 'published', ...actor },
      { action: 'unpublished', ...actor },
    ]);
  });

  test('A deleted record that was published or scheduled is a draft when it is restored', async () => {
    for (const body of [{}, { publish_at: tomorrow() }]) {
      const record = await create(path);
      await post(`${record}/publish`, body).expect(200);
      await remove(record).expect(204);
      expect((await post(`${record}/restore`).expect(200)).body.data).toMatchObject(draft);
      const [, ended] = await activityOf(record);
      expect(ended).toMatchObject({
        action: 'publish_at' in body ? 'publication_dropped' : 'unpublished',
        details: { reason: 'deleted' },
      });
    }
  });
});

test('What is repeated changes nothing: no version, no history, no activity', async () => {
  const record = await create();
  const publish_at = tomorrow();
  const steps = [
    ['unpublish', {}],
    ['publish', { publish_at }],
    ['publish', {}],
    ['unpublish', {}],
    ['archive', {}],
  ] as const;
  for (const [action, body] of steps) {
    const first = await post(`${record}/${action}`, body).expect(200);
    const again = await post(`${record}/${action}`, body).expect(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.etag).toBe(first.headers.etag);
  }
  expect(await actionsOf(record)).toEqual(['scheduled', 'published', 'unpublished', 'archived']);
  expect(await historyOf(record)).toEqual([
    'archive',
    'unpublish',
    'publish',
    'schedule',
    'create',
  ]);
});

test('A record that has changed since the caller read it is not published', async () => {
  const record = await create();
  const { headers } = await get(record);
  const { etag = '' } = headers;
  await put(record, { title: 'Changed' }).expect(200);
  for (const action of ['publish', 'unpublish', 'archive']) {
    await post(`${record}/${action}`, {}, { 'If-Match': etag }).expect(412);
  }
  expect((await get(record)).body.data).toMatchObject(draft);
  const { headers: current } = await get(record);
  await post(`${record}/publish`, {}, { 'If-Match': current.etag ?? '' }).expect(200);
});

test('A past time is the date of the publication, also of a published record', async () => {
  const record = await create();
  const [first, second] = ['2020-01-02T03:04:05.000Z', '2021-01-02T03:04:05.000Z'];
  for (const publish_at of [first, second]) {
    const { body } = await post(`${record}/publish`, { publish_at }).expect(200);
    expect(body.data).toMatchObject({ status: 'published', published_at: publish_at });
  }
  const { body } = await post(`${record}/publish`, { publish_at: 'soon' }).expect(422);
  expect(body.errors).toHaveProperty('publish_at');
});

test('A published record cannot be scheduled', async () => {
  const record = await create();
  await post(`${record}/publish`).expect(200);
  const { body } = await post(`${record}/publish`, { publish_at: tomorrow() }).expect(409);
  expect(body.error).toBe('conflict');
  expect((await get(record)).body.data.status).toBe('published');
});

test('A scheduled publication can be moved, done now, and cancelled', async () => {
  const record = await create();
  for (const publish_at of [tomorrow(), new Date(Date.now() + 2 * DAY_MS).toISOString()]) {
    const { body } = await post(`${record}/publish`, { publish_at }).expect(200);
    expect(body.data).toMatchObject({ ...draft, status: 'scheduled', scheduled_at: publish_at });
  }
  expect((await post(`${record}/unpublish`)).body.data).toMatchObject(draft);
  await post(`${record}/publish`, { publish_at: tomorrow() }).expect(200);
  const { body } = await post(`${record}/publish`).expect(200);
  expect(body.data).toMatchObject({ status: 'published', scheduled_at: null });
  expect(await actionsOf(record)).toEqual([
    'scheduled',
    'scheduled',
    'unscheduled',
    'scheduled',
    'published',
  ]);
  expect(await historyOf(record)).toEqual([
    'publish',
    'schedule',
    'unschedule',
    'schedule',
    'schedule',
    'create',
  ]);
  const { rows } = await crm().context.pool.query(
    'SELECT FROM tenant_crm.scheduled_publications WHERE tenant_id = $1',
    [tenant().id],
  );
  expect(rows).toHaveLength(0);
});

test('The state cannot be set by creating or updating a record', async () => {
  const state = { status: 'published', published_at: tomorrow() };
  await post(posts, { title: 'A', ...state }).expect(422);
  const record = await create();
  await put(record, state).expect(422);
  expect((await get(record)).body.data).toMatchObject(draft);
});

test('Concurrent publications and withdrawals leave one state, and an activity for each change', async () => {
  const record = await create();
  await Promise.all(
    Array.from({ length: 12 }, (_none, n) =>
      post(`${record}/${n % 2 === 0 ? 'publish' : 'unpublish'}`).expect(200),
    ),
  );
  const changes = (await historyOf(record)).filter((action) => action !== 'create');
  const log = await actionsOf(record);
  expect(log).toHaveLength(changes.length);
  const published = changes.filter((action) => action === 'publish').length;
  const { body } = await get(record);
  // Each change is from one state to the other, beginning with a draft.
  expect(published).toBe(Math.ceil(changes.length / 2));
  expect(body.data.status).toBe(changes.length % 2 === 0 ? 'draft' : 'published');
  expect(body.data.published_at === null).toBe(body.data.status === 'draft');
});
