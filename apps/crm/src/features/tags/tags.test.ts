import { callerIn, openDatabase } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { contactTags } from './tag-families.ts';
import { createTags } from './tags.service.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/tags';

const contact = async (...tags: string[]): Promise<string> =>
  (await post('/api/crm/contacts', { first_name: 'Ada', tags }).expect(201)).body.data.id;
const company = async (...tags: string[]): Promise<string> =>
  (await post('/api/crm/companies', { name: 'Acme', tags }).expect(201)).body.data.id;
const tagsOf = async (record: string): Promise<string[]> =>
  (await get(`/api/crm/${record}`).expect(200)).body.data.tags;
/** `vip 2+1` for a tag of two contacts and one company. */
const counted = async (query = ''): Promise<string[]> =>
  (await get(`${path}?${query}`).expect(200)).body.data.map(
    (tag: { name: string; contacts_count: number; companies_count: number }) =>
      `${tag.name} ${tag.contacts_count}+${tag.companies_count}`,
  );

describe('The list of tags', () => {
  test('contains the number of contacts and companies with each tag, sorted by name', async () => {
    await contact('vip', 'Press');
    await contact('vip');
    await company('vip', 'ödön');
    expect(await counted()).toEqual(['ödön 0+1', 'Press 1+0', 'vip 2+1']);
    const { body } = await get(`${path}?per_page=1&page=9&sort=-count`);
    expect(body.data).toEqual([{ name: 'Press', count: 1, contacts_count: 1, companies_count: 0 }]);
    expect(body.meta).toMatchObject({ total: 3, current_page: 3, last_page: 3 });
  });

  test('follows changes, deletion and restoration of records', async () => {
    const id = await contact('vip', 'lead');
    await put(`/api/crm/contacts/${id}/tags`, { tags: ['vip', 'press'] }).expect(200);
    expect(await counted()).toEqual(['press 1+0', 'vip 1+0']);
    await remove(`/api/crm/contacts/${id}`).expect(204);
    expect(await counted()).toEqual([]);
    await post(`/api/crm/contacts/${id}/restore`).expect(200);
    expect(await counted('search=VI')).toEqual(['vip 1+0']);
  });

  test('is exact after concurrent changes, and keeps no row of an unused tag', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => contact('vip')));
    await Promise.all(
      ids.map((id, at) => put(`/api/crm/contacts/${id}`, { tags: at % 3 ? ['vip', 'x'] : ['x'] })),
    );
    expect(await counted()).toEqual(['vip 8+0', 'x 12+0']);
    await Promise.all(ids.map((id) => put(`/api/crm/contacts/${id}`, { tags: [] })));
    expect(await counted()).toEqual([]);
    expect((await get('/api/crm/contacts?tag=x')).body.meta.total).toBe(0);
  });

  test('can be exported with the search of the list, which needs the export of contacts and of companies', async () => {
    await contact('vip', 'Press', '=1+1');
    await company('vip', 'export');
    const exported = '/api/crm/tag-export';
    const { text, headers } = await get(exported).expect(200);
    expect(headers['content-disposition']).toBe('attachment; filename="tags.csv"');
    expect(text.trimEnd().split('\r\n')).toEqual([
      'name,count,contacts_count,companies_count',
      "'=1+1,1,1,0",
      'export,1,0,1',
      'Press,1,1,0',
      'vip,2,1,1',
    ]);
    const { body } = await get(`${exported}?search=VI&format=json`).expect(200);
    expect(body.data).toEqual([{ name: 'vip', count: 2, contacts_count: 1, companies_count: 1 }]);
    for (const lacking of ['contacts.export', 'companies.export']) {
      await get(exported, caller({ lacking: [lacking] })).expect(403);
    }
    await put(`${path}/export`, { name: 'import' }).expect(200);
    expect(await counted('search=port')).toEqual(['import 0+1']);
  });

  test.each(['name', '-name', 'count', '-count'])(
    'is exported in batches that have each tag once, sorted by %s',
    async (sort) => {
      const { id: tenantId } = tenant();
      const { pool, database } = crm().context;
      // Many tags have the same number, and pairs differ only in diacritics, also at the ends of batches.
      await pool.query(
        `INSERT INTO tenant_crm.tag_counts (tenant_id, table_name, tag, count)
         SELECT $1, CASE WHEN n % 2 = 0 THEN 'contacts' ELSE 'companies' END,
           CASE WHEN n % 4 < 2 THEN 'tag ' ELSE 'tág ' END || n / 8, n % 3 + 1
         FROM generate_series(1, 8399) AS n`,
        [tenantId],
      );
      const tags = createTags(database, contactTags, { batchOfTags: 2000 });
      const batches: string[][] = [];
      const query = { sort: sort as 'name' };
      for await (const batch of tags.batches(callerIn(tenantId), query, (read) => read())) {
        batches.push(batch.map(({ name }) => name));
      }
      expect(batches.map(({ length }) => length)).toEqual([2000, 100]);
      const listed: string[] = [];
      for (let page = 1; page <= 21; page += 1) {
        const { rows } = await tags.list(callerIn(tenantId), {
          sort: query.sort,
          page,
          per_page: 100,
        });
        listed.push(...rows.map(({ name }) => name));
      }
      expect(batches.flat()).toEqual(listed);
      expect(new Set(listed).size).toBe(2100);
    },
  );

  test('needs the permission to list contacts and that to list companies', async () => {
    for (const lacking of ['contacts.list', 'companies.list']) {
      const { body } = await get(path, caller({ lacking: [lacking] })).expect(403);
      expect(body.required_permission).toBe(`tenant.acme.crm.${lacking}`);
    }
  });
});

describe('A tag', () => {
  test('is shown with its numbers while records that are not deleted have it', async () => {
    const id = await contact('a/b', 'vip');
    await company('a/b');
    const tag = `${path}/${encodeURIComponent('a/b')}`;
    const shown = { name: 'a/b', count: 2, contacts_count: 1, companies_count: 1 };
    expect((await get(tag).expect(200)).body.data).toEqual(shown);
    await remove(`/api/crm/contacts/${id}`).expect(204);
    expect((await get(tag).expect(200)).body.data).toMatchObject({ count: 1, contacts_count: 0 });
    await get(`${path}/vip`).expect(404);
    await get(`${path}/VIP`).expect(404);
  });

  test('needs the permissions of the list', async () => {
    await contact('vip');
    for (const lacking of ['contacts.list', 'companies.list']) {
      await get(`${path}/vip`, caller({ lacking: [lacking] })).expect(403);
    }
  });
});

describe('Renaming a tag', () => {
  test('changes all records, each with a new version, and no record has a tag twice', async () => {
    const [both, one, firm] = [
      await contact('a', 'b', 'c'),
      await contact('a'),
      await company('a'),
    ];
    const before = await get(`/api/crm/contacts/${one}`);
    const { body } = await put(`${path}/a`, { name: 'b' }).expect(200);
    expect(body.data).toEqual({ contacts_count: 2, companies_count: 1, is_complete: true });
    expect(await tagsOf(`contacts/${both}`)).toEqual(['b', 'c']);
    expect(await tagsOf(`companies/${firm}`)).toEqual(['b']);
    expect(await counted()).toEqual(['b 2+1', 'c 1+0']);
    const stale = { 'If-Match': before.headers.etag as string };
    await put(`/api/crm/contacts/${one}`, { title: 'CEO' }, stale).expect(412);
    const [change] = (await get(`/api/crm/contacts/${one}/history`).expect(200)).body.data;
    expect(change).toMatchObject({ version: 2, changes: { tags: { from: ['a'], to: ['b'] } } });
  });

  test('keeps the position of the tag, and also renames it in deleted records', async () => {
    const [placed, deleted] = [await contact('x', 'a', 'y'), await contact('a')];
    await remove(`/api/crm/contacts/${deleted}`).expect(204);
    await put(`${path}/a`, { name: 'ä/b c' }).expect(200);
    expect(await tagsOf(`contacts/${placed}`)).toEqual(['x', 'ä/b c', 'y']);
    await post(`/api/crm/contacts/${deleted}/restore`).expect(200);
    expect(await tagsOf(`contacts/${deleted}`)).toEqual(['ä/b c']);
    await put(`${path}/${encodeURIComponent('ä/b c')}`, { name: 'a' }).expect(200);
    expect(await counted()).toEqual(['a 2+0', 'x 1+0', 'y 1+0']);
  });

  test('to its own name changes nothing, and a tag that no record has is a 404', async () => {
    await contact('a');
    const { body } = await put(`${path}/a`, { name: 'a' }).expect(200);
    expect(body.data).toEqual({ contacts_count: 0, companies_count: 0, is_complete: true });
    await put(`${path}/nobody`, { name: 'a' }).expect(404);
    await put(`${path}/nobody`, { name: 'nobody' }).expect(404);
    await remove(`${path}/nobody`).expect(404);
  });
});

describe('Deleting a tag', () => {
  test('removes it from all records of the tenant', async () => {
    const [id, firm] = [await contact('a', 'b'), await company('a')];
    const other = crm().caller({ tenant: 'globex' });
    const theirs = { first_name: 'Bob', tags: ['a'] };
    await crm().http.post('/api/crm/contacts').set(other).send(theirs).expect(201);
    const { body } = await remove(`${path}/a`).expect(200);
    expect(body.data).toEqual({ contacts_count: 1, companies_count: 1, is_complete: true });
    expect(await tagsOf(`contacts/${id}`)).toEqual(['b']);
    expect(await tagsOf(`companies/${firm}`)).toEqual([]);
    expect((await crm().http.get(path).set(other)).body.data).toMatchObject([{ name: 'a' }]);
  });

  test('needs the permission to update contacts and that to update companies', async () => {
    for (const lacking of ['contacts.update', 'companies.update']) {
      await remove(`${path}/a`, caller({ lacking: [lacking] })).expect(403);
    }
  });
});

test('A request that runs out of time is continued by the next one', async () => {
  const { database, pool, close } = await openDatabase();
  const own = callerIn();
  await pool.query(
    `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, tags)
     SELECT gen_random_uuid(), $1, 'Ada', '{a,b}' FROM generate_series(1, 1700)`,
    [own.tenantId],
  );
  const none = createTags(database, contactTags, { timeLimitMs: 0 });
  const nothing = { contacts_count: 0, companies_count: 0, is_complete: false };
  expect(await none.replace(own, 'a', 'b')).toEqual(nothing);
  const tags = createTags(database, contactTags);
  const changed = { contacts_count: 1700, companies_count: 0, is_complete: true };
  // Two at once share the work and do not block each other.
  const both = await Promise.all([tags.replace(own, 'a', 'b'), tags.replace(own, 'a', 'b')]);
  expect(both.reduce((sum, { contacts_count: count }) => sum + count, 0)).toBe(1700);
  expect(await tags.replace(own, 'b', 'c')).toEqual(changed);
  const query = { page: 1, per_page: 25, sort: 'name' } as const;
  expect((await tags.list(own, query)).rows).toMatchObject([{ name: 'c', count: 1700 }]);
  await close();
});

describe('One tag of a record', () => {
  test.each([
    ['contacts', contact],
    ['companies', company],
  ])('of %s is removed, if the version still holds', async (collection, create) => {
    const one = `/api/crm/${collection}/${await create('a', 'b')}`;
    const { etag } = (await get(one)).headers as { etag: string };
    await remove(`${one}/tags/a`, { 'If-Match': etag }).expect(204);
    await remove(`${one}/tags/b`, { 'If-Match': etag }).expect(412);
    await remove(`${one}/tags/a`).expect(404);
    expect((await get(one)).body.data.tags).toEqual(['b']);
  });
});

test('Companies have tags and are found by them', async () => {
  const id = await company('a');
  await company('b');
  expect((await get('/api/crm/companies?tag=a')).body.data).toMatchObject([{ id }]);
  const replaced = await put(`/api/crm/companies/${id}/tags`, { tags: ['b', 'c'] }).expect(200);
  expect(replaced.body.data.tags).toEqual(['b', 'c']);
  const twice = await put(`/api/crm/companies/${id}/tags`, { tags: ['b', 'b'] }).expect(422);
  expect(Object.keys(twice.body.errors)[0]).toMatch(/^tags/);
});

describe('Tags of articles, posts and pages', () => {
  const contentTags = '/api/crm/content-tags';
  const content = async (kind: string, ...tags: string[]): Promise<string> =>
    (await post(`/api/crm/${kind}`, { title: 'Hello', tags }).expect(201)).body.data.id;

  test('are counted by kind, and renamed and deleted apart from those of contacts', async () => {
    const article = await content('kb-articles', 'zöld', 'a');
    const blogPost = await content('blog-posts', 'zöld');
    await content('pages', 'b');
    const person = await contact('zöld');
    const of = (name: string, articles: number, posts: number, pages: number) => ({
      name,
      count: articles + posts + pages,
      kb_articles_count: articles,
      blog_posts_count: posts,
      pages_count: pages,
    });
    const listed = await get(`${contentTags}?sort=-count`).expect(200);
    expect(listed.body.data).toEqual([of('zöld', 1, 1, 0), of('a', 1, 0, 0), of('b', 0, 0, 1)]);
    const shown = await get(`${contentTags}/${encodeURIComponent('zöld')}`).expect(200);
    expect(shown.body.data).toEqual(of('zöld', 1, 1, 0));
    const exported = await get('/api/crm/content-tag-export?search=ZOL').expect(200);
    expect(exported.headers['content-disposition']).toBe('attachment; filename="content_tags.csv"');
    expect(exported.text).toContain('zöld,2,1,1,0');
    await post(`/api/crm/blog-posts/${blogPost}/publish`).expect(200);
    const zold = `${contentTags}/${encodeURIComponent('zöld')}`;
    const renamed = await put(zold, { name: 'a' }).expect(200);
    const none = { kb_articles_count: 0, blog_posts_count: 0, pages_count: 0, is_complete: true };
    expect(renamed.body.data).toEqual({ ...none, kb_articles_count: 1, blog_posts_count: 1 });
    expect(await tagsOf(`kb-articles/${article}`)).toEqual(['a']);
    expect(await tagsOf(`contacts/${person}`)).toEqual(['zöld']);
    expect((await get('/api/crm/blog-posts?tag=a')).body.data).toMatchObject([{ id: blogPost }]);
    const [revision] = (await get(`/api/crm/blog-posts/${blogPost}/revisions`)).body.data;
    expect(revision).toMatchObject({ changed_fields: ['tags'] });
    const removed = await remove(`${contentTags}/b`).expect(200);
    expect(removed.body.data).toEqual({ ...none, pages_count: 1 });
    await remove(zold).expect(404);
  });

  test('are changed with the permissions to update and publish each of the kinds', async () => {
    await content('pages', 'a');
    for (const kind of ['kb_articles', 'blog.posts', 'pages']) {
      await get(contentTags, caller({ lacking: [`${kind}.list`] })).expect(403);
      for (const verb of ['update', 'publish']) {
        const other = caller({ lacking: [`${kind}.${verb}`] });
        await put(`${contentTags}/a`, { name: 'b' }, other).expect(403);
        await remove(`${contentTags}/a`, other).expect(403);
      }
    }
  });
});
