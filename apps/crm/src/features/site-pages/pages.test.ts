import { collide } from '../../testing/collisions.ts';
import { callerIn } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { watchStatements } from '../../testing/watched-statements.ts';
import { createPages } from './pages.service.ts';

const { crm, get, post, put, remove, tenant } = tenantForEachTest();
const path = '/api/crm/pages';

const page = async (title: string, parent_id: string | null = null): Promise<string> =>
  (await post(path, { title, parent_id }).expect(201)).body.data.id;

const move = (id: string, body: object) => post(`${path}/${id}/move`, body);

/** The titles of the tree, indented by their level. */
const tree = async (branch = ''): Promise<string[]> =>
  (await get(`${path}/tree${branch}`).expect(200)).body.data.pages.map(
    ({ title, depth }: { title: string; depth: number }) => '-'.repeat(depth - 1) + title,
  );

test('Pages are a tree in the order in which they are placed', async () => {
  const a = await page('A');
  const b = await page('B');
  const c = await page('C', a);
  const d = await page('D', a);
  expect(await tree()).toEqual(['A', '-C', '-D', 'B']);
  await move(d, { before_id: c }).expect(200);
  await move(b, { before_id: a }).expect(200);
  expect(await tree()).toEqual(['B', 'A', '-D', '-C']);
  await move(c, { parent_id: null, after_id: b }).expect(200);
  await put(`${path}/${d}`, { parent_id: b }).expect(200);
  expect(await tree()).toEqual(['B', '-D', 'C', 'A']);
});

test('A page is moved beside pages below the same parent only', async () => {
  const a = await page('A');
  const b = await page('B', a);
  const c = await page('C');
  for (const [field, body] of [
    ['before_id', { before_id: b }],
    ['after_id', { after_id: c }],
    ['after_id', { before_id: a, after_id: a }],
    ['parent_id', { parent_id: crypto.randomUUID() }],
  ] as const) {
    const refused = await move(c, body).expect(422);
    expect(Object.keys(refused.body.errors)).toEqual([field]);
  }
});

test('No page gets into itself, also by two moves at the same time', async () => {
  const a = await page('A');
  const b = await page('B');
  await move(a, { parent_id: a }).expect(422);
  const moves = await Promise.all([move(a, { parent_id: b }), move(b, { parent_id: a })]);
  expect(moves.map(({ status }) => status).sort()).toEqual([200, 422]);
  expect(await tree()).toHaveLength(2);
});

test('There are at most ten levels', async () => {
  let parent: string | null = null;
  for (let level = 1; level <= 10; level += 1) parent = await page(`${level}`, parent);
  const { body } = await post(path, { title: 'A', parent_id: parent }).expect(422);
  expect(Object.keys(body.errors)).toEqual(['parent_id']);
});

test('What is deleted still takes up its levels, so that restoring it leaves at most ten', async () => {
  const a = await page('A');
  const b = await page('B', a);
  let parent: string | null = null;
  for (let level = 1; level <= 9; level += 1) parent = await page(`${level}`, parent);
  await remove(`${path}/${b}`).expect(204);
  const { body } = await move(a, { parent_id: parent }).expect(422);
  expect(Object.keys(body.errors)).toEqual(['parent_id']);
});

test('A tree of too many pages is refused, and read by branch and by level', async () => {
  const a = await page('A');
  await page('C', await page('B', a));
  await crm().context.pool.query(
    `INSERT INTO tenant_crm.pages (tenant_id, id, title, slug, slug_follows_title, language, translation_group, body,
       body_html, body_text, word_count, position, parent_id)
     SELECT tenant_id, gen_random_uuid(), 'Many', 'many-' || n, FALSE, language, gen_random_uuid(), '',
       '', '', 0, 'b' || n, $2
     FROM tenant_crm.pages, generate_series(1, 5000) AS n WHERE tenant_id = $1 AND id = $2`,
    [tenant().id, a],
  );
  const { body } = await get(`${path}/tree`).expect(422);
  expect(Object.keys(body.errors)).toEqual(['levels']);
  await get(`${path}/tree?parent_id=${a}`).expect(422);
  expect(await tree('?levels=1')).toEqual(['A']);
  const b = (await get(`${path}?slug=b`).expect(200)).body.data[0].id;
  expect(await tree(`?parent_id=${b}`)).toEqual(['--C']);
  expect(await tree(`?parent_id=${crypto.randomUUID()}`)).toEqual([]);
});

test('A page with pages below it is deleted only by force, and restored with them', async () => {
  const a = await page('A');
  const b = await page('B', a);
  await page('C', b);
  await remove(`${path}/${a}`).expect(409);
  await remove(`${path}/${a}?force=true`).expect(204);
  expect(await tree()).toEqual([]);
  await post(`${path}/${b}/restore`).expect(409);
  await post(`${path}/${a}/restore`).expect(200);
  expect(await tree()).toEqual(['A', '-B', '--C']);
});

test('Pages that are restored with the one above get other slugs if theirs are taken', async () => {
  const a = await page('A');
  const b = await page('Team', a);
  const numbered = await page('Team', b);
  const free = await page('Free', b);
  await remove(`${path}/${a}?force=true`).expect(204);
  const taking = await page('Team');
  await page('Team 3');
  await post(`${path}/${a}/restore`).expect(200);
  const slugs = await Promise.all(
    [b, numbered, free, taking].map(async (id) => (await get(`${path}/${id}`)).body.data.slug),
  );
  expect(slugs).toEqual(['team-4', 'team-2', 'free', 'team']);
  const [restored] = (await get(`${path}/${b}/history`).expect(200)).body.data;
  expect(restored).toMatchObject({
    action: 'restore',
    changes: { slug: { from: 'team', to: 'team-4' } },
  });
  expect((await get(`${path}/${free}/history`)).body.data[0].changes).toEqual({});
});

test('A page is not restored with another one below it whose language is taken, which the error names', async () => {
  const original = await page('Original');
  const a = await page('A');
  const german = (title: string, parent_id: string | null) =>
    post(path, { title, parent_id, language: 'de', translation_of: original });
  await german('Vorige', a).expect(201);
  await remove(`${path}/${a}?force=true`).expect(204);
  await german('Neue', null).expect(201);
  const { body } = await post(`${path}/${a}/restore`).expect(409);
  expect(body.message).toContain('"Vorige"');
  expect(await tree()).toEqual(['Original', 'Neue']);
});

test('Pages that are deleted with the one above are no longer published or scheduled, and are restored as drafts', async () => {
  const a = await page('A');
  const [published, scheduled] = [await page('B', a), await page('C', a)];
  await post(`${path}/${published}/publish`, {}).expect(200);
  await post(`${path}/${scheduled}/publish`, { publish_at: '2090-01-01T00:00:00Z' }).expect(200);
  await remove(`${path}/${a}?force=true`).expect(204);
  await post(`${path}/${a}/restore`).expect(200);
  for (const [id, action] of [
    [published, 'unpublished'],
    [scheduled, 'unscheduled'],
  ] as const) {
    const { body } = await get(`${path}/${id}`).expect(200);
    expect(body.data).toMatchObject({ status: 'draft', published_at: null, scheduled_at: null });
    const { body: activity } = await get(`/api/crm/activity?resource_id=${id}&action=${action}`);
    const status_before = action === 'unpublished' ? 'published' : 'scheduled';
    expect(activity.data).toMatchObject([{ actor_type: 'user', details: { status_before } }]);
    const { body: history } = await get(`${path}/${id}/history`).expect(200);
    const former = action === 'unpublished' ? 'published_at' : 'scheduled_at';
    expect(history.data).toMatchObject([
      { action: 'restore' },
      { action: 'delete' },
      {
        action: action === 'unpublished' ? 'unpublish' : 'unschedule',
        changes: {
          status: { from: status_before, to: 'draft' },
          [former]: { from: expect.any(String), to: null },
        },
      },
      {},
      { action: 'create' },
    ]);
  }
});

test('The number of statements that delete a branch does not grow with its published pages', async () => {
  const { database, pool } = crm().context;
  const { source, statements } = watchStatements(database);
  const service = createPages({
    forTenant: (tenantId) => source.forTenant(tenantId),
    transaction: (tenantId, work) =>
      database.transaction(tenantId, () => work(source.forTenant(tenantId))),
  });
  const caller = callerIn(tenant().id);
  const needed = async (published: number): Promise<number> => {
    const a = await page('A');
    for (let n = 0; n < published; n += 1) {
      await post(`${path}/${await page('B', a)}/publish`).expect(200);
    }
    statements.length = 0;
    await service.deletePage(caller, a, true);
    const { rows } = await pool.query(
      "SELECT FROM tenant_crm.pages WHERE deleted_with = $1 AND status = 'draft' AND published_at IS NULL",
      [a],
    );
    expect(rows).toHaveLength(published);
    return statements.length;
  };
  const few = await needed(1);
  expect(await needed(6)).toBe(few);
});

test('Renaming a tag of pages waits while some of them are deleted', async () => {
  const above = (await post(path, { title: 'A', tags: ['old'] }).expect(201)).body.data.id;
  const below = { title: 'B', parent_id: above };
  const published = (await post(path, { ...below, tags: ['old'] }).expect(201)).body.data.id;
  await post(`${path}/${published}/publish`).expect(200);
  const draft = await page('C', above);
  // The deletion locks the published page, waits for the draft, and locks the page above last.
  const answers = await collide<{ status: number }>(
    crm().context.pool,
    {
      text: 'SELECT id FROM tenant_crm.pages WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
      values: [tenant().id, draft],
    },
    [
      () => remove(`${path}/${above}?force=true`),
      () => put('/api/crm/content-tags/old', { name: 'new' }),
    ],
  );
  expect(answers.map(({ status }) => status)).toEqual([204, 200]);
});
