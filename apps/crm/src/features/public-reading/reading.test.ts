import sharp from 'sharp';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import {
  type ContentState,
  contentStates,
  publicSite,
  type TestContent,
  type TestSite,
} from '../../testing/public-site.ts';

let crm: TestCrm;
let site: TestSite;
beforeAll(async () => {
  crm = await startCrm();
});
beforeEach(async () => {
  site = await publicSite(crm);
});
afterAll(() => crm.stop());

const KINDS = ['kb-articles', 'blog-posts', 'pages'] as const;

const imageOf = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer();
const [image, otherImage] = [await imageOf('red'), await imageOf('blue')];

/** Uploads a document and returns its id. */
const upload = async (content: Buffer = image, filename = 'cover.png'): Promise<string> => {
  const { body } = await crm.http
    .post('/api/crm/documents')
    .set(site.headers)
    .attach('file', content, { filename })
    .expect(201);
  return body.data.id;
};

const titlesOf = async (path: string): Promise<string[]> =>
  (await site.read(path).expect(200)).body.data.map(({ title }: { title: string }) => title);

describe.each(KINDS)('Published %s', (kind) => {
  test('are listed and shown, with sanitised HTML and the addresses of everything', async () => {
    const cover = await upload();
    const { slug, id } = await site.create(kind, {
      title: 'First steps',
      summary: 'How to begin',
      body: '# Hello',
      tags: ['start'],
      cover_document_id: cover,
    });
    const path = `/public/${site.slug}/${kind}/${slug}`;
    const listed = {
      id,
      title: 'First steps',
      slug,
      language: 'en',
      summary: 'How to begin',
      tags: ['start'],
      published_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      path,
      url: `http://localhost:4100${path}`,
      cover_url: `http://localhost:4100${path}/cover`,
    };
    const { body: list } = await site.read(`/${kind}`).expect(200);
    expect(list).toMatchObject({ data: [listed], meta: { total: 1, current_page: 1 } });
    expect(list.data[0]).toEqual(listed);
    const { body: shown } = await site.read(`/${kind}/${slug}`).expect(200);
    expect(shown.data).toEqual({
      ...listed,
      body_html: expect.stringContaining('<'),
      translations: [],
    });
  });

  test('have a language, and link to their published translations', async () => {
    const { id, slug } = await site.create(kind, { title: 'Prices' });
    const german = await site.create(kind, { title: 'Preise', language: 'de', translation_of: id });
    await site.create(kind, { title: 'Prix', language: 'fr', translation_of: id }, 'draft');
    expect(await titlesOf(`/${kind}`)).toEqual(['Prices']);
    expect(await titlesOf(`/${kind}?language=de`)).toEqual(['Preise']);
    expect(await titlesOf(`/${kind}?language=fr`)).toEqual([]);
    await site.read(`/${kind}/${german.slug}`).expect(404);
    await site.read(`/${kind}/${german.slug}?language=de`).expect(200);
    const { body } = await site.read(`/${kind}/${slug}`).expect(200);
    const path = `/public/${site.slug}/${kind}/${german.slug}?language=de`;
    expect(body.data.translations).toEqual([
      { language: 'de', slug: german.slug, path, url: `http://localhost:4100${path}` },
    ]);
    await site.settings({ content_language: 'de', public_site_url: 'https://example.com/x/' });
    const { body: now } = await site.read(`/${kind}/${german.slug}`).expect(200);
    expect(now.data).toMatchObject({
      url: `https://example.com/x/${kind}/${german.slug}`,
      translations: [{ url: `https://example.com/x/${kind}/${slug}?language=en` }],
    });
  });

  test('are found by tag and by search, and read page by page', async () => {
    const named = ['Añejo one', 'Two', 'Three'];
    for (const title of named) {
      await site.create(kind, { title, tags: title === 'Two' ? ['even'] : [] });
    }
    expect(await titlesOf(`/${kind}?search=anejo`)).toEqual(['Añejo one']);
    expect(await titlesOf(`/${kind}?search=absent`)).toEqual([]);
    expect(await titlesOf(`/${kind}?tag=even`)).toEqual(['Two']);
    const found: string[] = [];
    for (const page of [1, 2]) {
      const { body } = await site.read(`/${kind}?per_page=2&page=${page}`).expect(200);
      expect(body.meta).toEqual({ current_page: page, last_page: 2, per_page: 2, total: 3 });
      expect(body.links.next === null).toBe(page === 2);
      found.push(...body.data.map(({ title }: { title: string }) => title));
    }
    expect(found.sort()).toEqual([...named].sort());
    expect((await site.read(`/${kind}?pages=2`).expect(422)).body.errors).toHaveProperty('pages');
  });

  test('that had another slug redirect from it, also to their cover', async () => {
    const { id, slug } = await site.create(kind, {
      title: 'Old',
      slug: 'old-name',
      cover_document_id: await upload(),
    });
    await site.change(kind, id, { slug: 'new-name' });
    const path = `/public/${site.slug}/${kind}/new-name`;
    const { headers } = await site.read(`/${kind}/${slug}`).expect(308);
    expect(headers).toMatchObject({
      location: path,
      'cache-control': expect.stringContaining('max-age=60'),
    });
    expect((await site.read(`/${kind}/${slug}/cover`).expect(308)).headers.location).toBe(
      `${path}/cover`,
    );
    await site.read(`/${kind}/new-name`).expect(200);
    // Another record takes the slug.
    const other = await site.create(kind, { title: 'Other', slug: 'old-name' });
    const { body } = await site.read(`/${kind}/old-name`).expect(200);
    expect(body.data.id).toBe(other.id);
  });

  test('are not found by slugs that they had as drafts', async () => {
    const moved = await site.create(kind, { title: 'Moved', slug: 'first' });
    await site.change(kind, moved.id, { slug: 'second' });
    const draft = await site.create(kind, { title: 'Working title', slug: 'first' }, 'draft');
    await site.change(kind, draft.id, { slug: 'third' });
    const api = (action: string) =>
      crm.http.post(`/api/crm/${kind}/${draft.id}/${action}`).set(site.headers).expect(200);
    await api('publish');
    const { headers } = await site.read(`/${kind}/first`).expect(308);
    expect(headers.location).toBe(`/public/${site.slug}/${kind}/second`);
    // What was published under a slug is found by it, also if the slug is changed while it is not published.
    await api('unpublish');
    await site.change(kind, draft.id, { slug: 'fourth' });
    await api('publish');
    await site.read(`/${kind}/third`).expect(308);
  });

  test('are not sent again to clients that have the current version', async () => {
    const { id, slug } = await site.create(kind, { title: 'Cached' });
    const tags: Record<string, string> = {};
    for (const path of [`/${kind}`, `/${kind}/${slug}`]) {
      const { headers } = await site.read(path).expect(200);
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=60, stale-while-revalidate=60',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
      expect([headers.vary, headers['set-cookie']]).toEqual([undefined, undefined]);
      tags[path] = headers.etag ?? '';
      await site.read(path, { 'if-none-match': headers.etag ?? '' }).expect(304);
    }
    const { headers } = await site.read(`/${kind}/${slug}`).expect(200);
    const modified = headers['last-modified'] ?? '';
    expect(Date.parse(modified)).not.toBeNaN();
    await site.read(`/${kind}/${slug}`, { 'if-modified-since': modified }).expect(304);
    await site.create(kind, { title: 'New', language: 'de', translation_of: id });
    await site
      .read(`/${kind}/${slug}`, { 'if-none-match': tags[`/${kind}/${slug}`] ?? '' })
      .expect(200);
    await site.setState(kind, id, 'draft');
    await site.read(`/${kind}`, { 'if-none-match': tags[`/${kind}`] ?? '' }).expect(200);
    const gone = await site.read(`/${kind}/${slug}`, { 'if-modified-since': modified }).expect(404);
    expect(gone.headers['cache-control']).toBe('no-store');
  });

  test('have another cover at once, also if that is an older document', async () => {
    const older = await upload(image);
    const { id, slug } = await site.create(kind, {
      title: 'A',
      cover_document_id: await upload(otherImage),
    });
    const path = `/${kind}/${slug}/cover`;
    const { headers } = await site.read(path).expect(200);
    expect(headers['last-modified']).toBeUndefined();
    await crm.http
      .put(`/api/crm/${kind}/${id}`)
      .set(site.headers)
      .send({ cover_document_id: older })
      .expect(200);
    const now = { 'if-modified-since': new Date().toUTCString() };
    expect(Buffer.compare((await site.read(path, now).expect(200)).body, image)).toBe(0);
  });

  test('have a cover that is an image, sent with ranges, conditions and safe headers', async () => {
    const { slug } = await site.create(kind, {
      title: 'A',
      cover_document_id: await upload(image, 'secret.png'),
    });
    const path = `/${kind}/${slug}/cover`;
    const { body, headers } = await site.read(path).expect(200);
    expect(Buffer.compare(body, image)).toBe(0);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': `inline; filename=${slug}.png`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=60, stale-while-revalidate=60',
    });
    const known = await site.read(path, { 'if-none-match': headers.etag ?? '' }).expect(304);
    expect(known.headers).toMatchObject({
      'cache-control': expect.stringContaining('public'),
      'cross-origin-resource-policy': 'cross-origin',
    });
    const part = await site.read(path, { range: 'bytes=1-3' }).expect(206);
    expect(part.body.toString()).toBe('PNG');
    const changed = await upload();
    const other = await site.create(kind, { title: 'B', cover_document_id: changed });
    await site.read(`/${kind}/${other.slug}/cover`).expect(200);
    await crm.http
      .put(`/api/crm/documents/${changed}/content`)
      .set({ ...site.headers, 'content-type': 'image/svg+xml' })
      .send('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>')
      .expect(200);
    await site.read(`/${kind}/${other.slug}/cover`).expect(404);
    const none = await site.create(kind, { title: 'C' });
    await site.read(`/${kind}/${none.slug}/cover`).expect(404);
  });
});

test('A list of more records than totals count has a last page, which requests beyond its end get', async () => {
  await crm.context.pool.query(
    `INSERT INTO tenant_crm.kb_articles (id, tenant_id, title, slug, slug_follows_title, language,
       translation_group, body, body_html, body_text, word_count, status, published_at)
     SELECT gen_random_uuid(), $1, 'One of many', 'one-of-many-' || i, false, 'en', gen_random_uuid(), '', '', '', 0,
       'published', now() - i * interval '1 minute'
     FROM generate_series(1, 10030) AS i`,
    [site.tenantId],
  );
  const read = async (page: number) =>
    (await site.read(`/kb-articles?per_page=100&page=${page}`).expect(200)).body;
  const last = { current_page: 101, last_page: 101, per_page: 100 };
  const { data, meta } = await read(101);
  expect(meta).toEqual({ ...last, total: 10_000, total_is_minimum: true });
  expect(data).toHaveLength(30);
  const beyond = await read(1_000_000);
  expect(beyond).toMatchObject({ data, meta: { ...last, total: 10_030 }, links: { next: null } });
});

test('The tree of pages has their order, and no page that is not published', async () => {
  await site.create('pages', { title: 'First' });
  const top = await site.create('pages', { title: 'Top' });
  await site.create('pages', { title: 'Below 1', parent_id: top.id });
  const second = await site.create('pages', { title: 'Below 2', parent_id: top.id });
  const draft = await site.create('pages', { title: 'Draft' }, 'draft');
  await site.create('pages', { title: 'Orphan', parent_id: draft.id });
  await site.create('pages', { title: 'Last' });
  await site.create('pages', { title: 'Deep', parent_id: second.id });
  const { body, headers } = await site.read('/page-tree').expect(200);
  const shown = body.data as { id: string; depth: number; title: string; parent_id: string }[];
  expect(shown.map(({ depth, title }) => `${'-'.repeat(depth)}${title}`)).toEqual([
    'First',
    'Top',
    '-Below 1',
    '-Below 2',
    '--Deep',
    'Last',
    'Orphan',
  ]);
  expect(shown[2]?.parent_id).toBe(top.id);
  expect(JSON.stringify(body)).not.toContain(draft.id);
  await site.read('/page-tree', { 'if-none-match': headers.etag ?? '' }).expect(304);
  expect(body.is_complete).toBe(true);
  await crm.context.pool.query(
    `INSERT INTO tenant_crm.pages (tenant_id, id, title, slug, slug_follows_title, language, translation_group, body,
       body_html, body_text, word_count, position, status, published_at)
     SELECT tenant_id, gen_random_uuid(), 'Many', 'many-' || n, FALSE, language, gen_random_uuid(), '', '', '', 0,
       'z' || n, 'published', published_at
     FROM tenant_crm.pages, generate_series(1, 5000) AS n WHERE tenant_id = $1 AND id = $2`,
    [site.tenantId, top.id],
  );
  const { body: cut } = await site.read('/page-tree').expect(200);
  expect(cut.data).toHaveLength(2000);
  expect(cut.is_complete).toBe(false);
});

describe('Content that is not published is nowhere:', () => {
  const hidden = Object.keys(contentStates).filter((state) => state !== 'published');

  /** The responses of every public route, as one text. */
  const everything = async (
    kind: string,
    record: TestContent,
    other: TestContent,
  ): Promise<string> => {
    const paths = [
      '',
      '/page-tree',
      '/feed.rss',
      '/feed.atom',
      '/feed.atom?language=de',
      '/sitemap.xml',
      '/sitemaps/1.xml',
      `/${kind}`,
      `/${kind}?language=de`,
      `/${kind}?tag=secret-tag`,
      `/${kind}?search=qxsecret`,
      `/${kind}?search=qx`,
      `/${kind}/${record.slug}`,
      `/${kind}/${record.slug}/cover`,
      `/${kind}/former-slug`,
      `/${kind}/former-slug/cover`,
      `/${kind}/${other.slug}?language=de`,
    ];
    const answers = await Promise.all(
      paths.map(async (path) => {
        const { status, text, body, headers } = await site.read(path);
        return `${path} ${status} ${headers.location ?? ''} ${text ?? body}`;
      }),
    );
    // What the paths themselves contain does not count, nor do the links of lists that repeat them.
    return answers
      .map((answer) => answer.replace(/^\S+/, '').replace(/"links":\{[^}]*\}/, ''))
      .join('\n');
  };

  test.each(KINDS.flatMap((kind) => hidden.map((state) => [kind, state as ContentState] as const)))(
    '%s, %s',
    async (kind, state) => {
      const cover = await upload();
      const record = await site.create(kind, {
        title: 'Qxsecret',
        slug: 'former-slug',
        tags: ['secret-tag'],
        cover_document_id: cover,
      });
      await site.change(kind, record.id, { slug: 'qxsecret-now' });
      const named = { ...record, slug: 'qxsecret-now' };
      const other = await site.create(kind, {
        title: 'Andere',
        language: 'de',
        translation_of: record.id,
      });
      const visible = await everything(kind, named, other);
      // The same requests find it while it is published.
      for (const part of ['qxsecret-now', record.id, ' 308 ']) expect(visible).toContain(part);
      await site.setState(kind, record.id, state);
      const left = await everything(kind, named, other);
      expect(left).toContain('Andere');
      expect(left.toLowerCase()).not.toContain('qxsecret');
      for (const part of [record.id, 'former-slug', 'secret-tag', ' 308 ', cover]) {
        expect(left).not.toContain(part);
      }
    },
  );
});
