import { under } from '@tessera/http-kit';
import { ActiveTenants } from '../../absent-callers/active-tenants.ts';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { publicSite, type TestSite } from '../../testing/public-site.ts';
import { elementsIn, rootOf, textsOf } from '../../testing/xml.ts';
import { BuiltTexts } from './built-texts.ts';
import type { Reading } from './reading.service.ts';
import { Sitemaps } from './sitemap.ts';
import { createSites } from './sites.service.ts';
import { xmlRoutes } from './xml.routes.ts';

let crm: TestCrm;
let site: TestSite;
beforeAll(async () => {
  crm = await startCrm({}, {}, ({ access, clock, config: { publicUrl }, database }) => {
    const activeTenants = new ActiveTenants(access, clock);
    const sites = createSites({ database, access, activeTenants });
    // Only the sitemaps are requested.
    const routes = xmlRoutes({} as Reading, new Sitemaps(sites, publicUrl, 3), new BuiltTexts());
    const named = Object.entries(under('/of-three', routes)).map(([id, one]) => [
      `${id}OfThree`,
      one,
    ]);
    return { 'Sitemaps of three': Object.fromEntries(named) };
  });
});
beforeEach(async () => {
  site = await publicSite(crm);
});
afterAll(() => crm.stop());

test('The metrics count what is read from the texts of feeds and sitemaps', async () => {
  const counts = async (cache: string): Promise<string[]> => {
    const text = await crm.context.metrics.registry.metrics();
    return [...text.matchAll(new RegExp(`^cache_\\w+{cache="${cache}".* \\d+$`, 'gm'))].map(String);
  };
  for (const [cache, path] of [
    ['feeds', '/feed.atom'],
    ['sitemaps', '/sitemap.xml'],
  ] as const) {
    const before = await counts(cache);
    await site.read(path).expect(200);
    const missed = await counts(cache);
    expect(missed.filter((line) => !before.includes(line))).toEqual([
      expect.stringContaining('result="miss"'),
      expect.stringContaining('cache_entries'),
    ]);
    await site.read(path).expect(200);
    expect((await counts(cache)).filter((line) => !missed.includes(line))).toEqual([
      expect.stringContaining('result="hit"'),
    ]);
  }
});

describe('The feed of posts', () => {
  test('without posts was updated when the settings of the site last changed', async () => {
    const before = Date.now();
    await site.settings({ public_site_name: 'Acme' });
    const { text } = await site.read('/feed.atom').expect(200);
    const [updated = ''] = textsOf(text, 'updated');
    expect(Date.parse(updated)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(updated)).toBeLessThanOrEqual(Date.now());
    expect((await site.read('/feed.atom').expect(200)).text).toBe(text);
  });

  test('has the newest published posts of a language in RSS and Atom, with their texts', async () => {
    await site.settings({
      public_site_name: 'Acme & Söhne',
      public_site_url: 'https://acme.example',
    });
    const post = await site.create('blog-posts', {
      title: 'Fish & <chips>',
      slug: 'fish-and-chips',
      summary: 'A & B',
      body: 'Some *text*',
      tags: ['food'],
    });
    await site.create('blog-posts', { title: 'Deutsch', language: 'de' });
    await site.create('pages', { title: 'No post' });
    const rss = await site.read('/feed.rss').expect(200);
    expect(rss.headers['content-type']).toBe('application/rss+xml; charset=utf-8');
    expect(textsOf(rss.text, 'title')).toEqual(['Acme & Söhne', 'Fish & <chips>']);
    expect(textsOf(rss.text, 'description')).toEqual(['Acme & Söhne', 'A &amp; B']);
    expect(textsOf(rss.text, 'guid')).toEqual([`urn:uuid:${post.id}`]);
    expect(textsOf(rss.text, 'link')).toContain(`https://acme.example/blog-posts/${post.slug}`);
    const html = ['<p>Some <em>text</em></p>\n'];
    expect(textsOf(rss.text, 'content:encoded')).toEqual(html);
    expect(textsOf(rss.text, 'category')).toEqual(['food']);
    const atom = await site.read('/feed.atom').expect(200);
    expect(atom.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    const own = `http://localhost:4100/public/${site.slug}/feed.atom`;
    expect(textsOf(atom.text, 'id')).toEqual([own, `urn:uuid:${post.id}`]);
    expect(textsOf(atom.text, 'title')).toEqual(['Acme & Söhne', 'Fish & <chips>']);
    expect(textsOf(atom.text, 'name')).toEqual(['Acme & Söhne']);
    expect(textsOf(atom.text, 'summary')).toEqual(['A & B']);
    expect(textsOf(atom.text, 'content')).toEqual(html);
    const [category] = elementsIn(rootOf(atom.text), 'category');
    expect(category?.attributes.term).toBe('food');
    const german = await site.read('/feed.atom?language=de').expect(200);
    expect(german.text).toContain('Deutsch');
    expect(german.text).not.toContain('Fish');
    expect(german.text).toContain(
      `http://localhost:4100/public/${site.slug}/feed.atom?language=de`,
    );
  });

  test('is the same until a post changes, so that it is not sent again', async () => {
    const post = await site.create('blog-posts', { title: 'One' });
    for (const path of ['/feed.rss', '/feed.atom']) {
      await site.setState('blog-posts', post.id, 'published');
      const { headers } = await site.read(path).expect(200);
      const known = { 'if-none-match': headers.etag ?? '' };
      await site.read(path, known).expect(304);
      await site.setState('blog-posts', post.id, 'draft');
      await site.read(path, known).expect(200);
    }
  });

  test('has texts until they are 500,000 bytes, of the newest posts that have 150,000 at most', async () => {
    const { id } = await site.create('blog-posts', { title: 'Oldest' });
    await crm.context.pool.query(
      `INSERT INTO tenant_crm.blog_posts (tenant_id, id, title, slug, slug_follows_title, language, translation_group, body,
         body_html, body_text, word_count, status, published_at)
       SELECT tenant_id, gen_random_uuid(), n::text, 'long-' || n, FALSE, language, gen_random_uuid(), '',
         repeat('<p>é</p>', CASE WHEN n = 29 THEN 18000 ELSE 13000 END), '', 0, status, published_at + n * interval '1 second'
       FROM tenant_crm.blog_posts, generate_series(1, 29) AS n WHERE id = $1`,
      [id],
    );
    for (const [path, item, content] of [
      ['/feed.rss', 'item', 'content:encoded'],
      ['/feed.atom', 'entry', 'content'],
    ] as const) {
      const { text } = await site.read(path).expect(200);
      const items = elementsIn(rootOf(text), item);
      const withText = items.map((one) => elementsIn(one, content).length);
      // The newest one is larger, and four of 117,000 bytes follow.
      expect(withText.join('')).toBe(`01111${'0'.repeat(25)}`);
      expect(Buffer.byteLength(text)).toBeLessThan(2_000_000);
    }
  });

  test('is well-formed without posts, and with characters that XML cannot contain', async () => {
    expect(textsOf((await site.read('/feed.rss').expect(200)).text, 'item')).toEqual([]);
    expect(textsOf((await site.read('/feed.atom').expect(200)).text, 'entry')).toEqual([]);
    const post = await site.create('blog-posts', { title: 'Title', tags: ['List<T>'] });
    await crm.context.pool.query(
      `UPDATE tenant_crm.blog_posts SET title = E'\\x01A]]>B]]>', body_html = E'<p>\\x08]]>]]><b>' WHERE id = $1`,
      [post.id],
    );
    for (const [path, body] of [
      ['/feed.rss', 'content:encoded'],
      ['/feed.atom', 'content'],
    ] as const) {
      const { text } = await site.read(path).expect(200);
      expect(textsOf(text, 'title')).toEqual([site.slug, 'A]]>B]]>']);
      expect(textsOf(text, body)).toEqual(['<p>]]>]]><b>']);
    }
  });
});

describe('The sitemap', () => {
  test('has all published records of all kinds, with their translations', async () => {
    const article = await site.create('kb-articles', { title: 'Prices & more', slug: 'prices' });
    await site.create('kb-articles', {
      title: 'Preise',
      slug: 'preise',
      language: 'de',
      translation_of: article.id,
    });
    await site.create('blog-posts', { title: 'News', slug: 'news' });
    await site.create('pages', { title: 'About', slug: 'about' });
    const { text, headers } = await site.read('/sitemap.xml').expect(200);
    expect(headers['content-type']).toBe('application/xml');
    const base = `http://localhost:4100/public/${site.slug}`;
    expect(textsOf(text, 'loc').sort()).toEqual(
      [
        `${base}/blog-posts/news`,
        `${base}/kb-articles/preise?language=de`,
        `${base}/kb-articles/prices`,
        `${base}/pages/about`,
      ].sort(),
    );
    expect(textsOf(text, 'lastmod')).toHaveLength(4);
    const links = elementsIn(rootOf(text), 'xhtml:link');
    expect(links.map(({ attributes }) => attributes.hreflang).sort()).toEqual([
      'de',
      'de',
      'en',
      'en',
    ]);
    await site.read('/sitemap.xml', { 'if-none-match': headers.etag ?? '' }).expect(304);
    await site.setState('kb-articles', article.id, 'archived');
    const { text: less } = await site
      .read('/sitemap.xml', { 'if-none-match': headers.etag ?? '' })
      .expect(200);
    expect(textsOf(less, 'loc')).toHaveLength(3);
    expect(less).not.toContain('hreflang');
    await site.read('/sitemaps/1.xml').expect(404);
  });

  test('of an empty site is valid', async () => {
    const { text } = await site.read('/sitemap.xml').expect(200);
    // A sitemap without any URL would be invalid.
    expect(textsOf(text, 'loc')).toEqual([`http://localhost:4100/public/${site.slug}`]);
    expect(text).toContain('</urlset>');
  });

  test('is an index of sitemaps if there are more records than one may have', async () => {
    for (const title of ['One', 'Two', 'Three']) await site.create('pages', { title });
    await site.create('blog-posts', { title: 'Four' });
    await site.create('blog-posts', { title: 'Draft' }, 'draft');
    const small = (path: string) => crm.http.get(`/of-three/public/${site.slug}${path}`);
    const { text: index } = await small('/sitemap.xml').expect(200);
    const base = `http://localhost:4100/public/${site.slug}/sitemaps`;
    expect(index).toContain('<sitemapindex');
    expect(textsOf(index, 'loc')).toEqual([`${base}/1.xml`, `${base}/2.xml`]);
    const parts = await Promise.all(
      ['1', '2'].map(async (number) => {
        const { text } = await small(`/sitemaps/${number}.xml`).expect(200);
        return textsOf(text, 'loc');
      }),
    );
    expect(parts.map(({ length }) => length)).toEqual([3, 1]);
    expect(new Set(parts.flat()).size).toBe(4);
    await small('/sitemaps/3.xml').expect(404);
    await small('/sitemaps/0.xml').expect(404);
  });

  test('has another entity tag if CRM has another address', async () => {
    const { access, clock, config, database } = crm.context;
    const sites = createSites({
      database,
      access,
      activeTenants: new ActiveTenants(access, clock),
    });
    await site.settings({ public_site_url: 'https://acme.example' });
    const tagAt = async (url: string) => (await new Sitemaps(sites, url).whole(site.slug)).etag;
    const tag = await tagAt(config.publicUrl);
    expect(await tagAt(config.publicUrl)).toBe(tag);
    // An index has addresses of CRM also for a site of its own.
    expect(await tagAt('https://crm.example')).not.toBe(tag);
  });

  test('is written in turns with other work, and has 1,000 records at most', async () => {
    const one = await site.create('pages', { title: 'One' });
    await crm.context.pool.query(
      `INSERT INTO tenant_crm.pages (tenant_id, id, title, slug, slug_follows_title, language, translation_group, body,
         body_html, body_text, word_count, position, status, published_at)
       SELECT tenant_id, gen_random_uuid(), 'Many', 'many-' || n, FALSE, language, gen_random_uuid(), '',
         '', '', 0, 'b' || n, status, published_at
       FROM tenant_crm.pages, generate_series(1, 5000) AS n WHERE id = $1`,
      [one.id],
    );
    const index = textsOf((await site.read('/sitemap.xml').expect(200)).text, 'loc');
    expect(index).toHaveLength(6);
    const last = await site.read('/sitemaps/6.xml').expect(200);
    expect(textsOf(last.text, 'loc')).toHaveLength(1);

    const { access, clock, config, database } = crm.context;
    const found = createSites({
      database,
      access,
      activeTenants: new ActiveTenants(access, clock),
    });
    const db = database.forTenant((await found.find(site.slug)).db.tenantId);
    // Reading the rows gives turns as well.
    let turns = 0;
    let isCounting = true;
    const count = (): void => {
      turns += 1;
      if (isCounting) setImmediate(count);
    };
    const read: typeof db.read = async (...statement) => {
      const rows = await db.read(...statement);
      turns = 0;
      return rows as never;
    };
    const sites = {
      find: async (slug: string) =>
        Object.assign({}, await found.find(slug), { db: Object.assign({}, db, { read }) }),
    };
    const sitemap = await new Sitemaps(sites, config.publicUrl).part(site.slug, 1);
    count();
    expect(textsOf(`${await sitemap.text()}`, 'loc')).toHaveLength(1000);
    isCounting = false;
    expect(turns).toBeGreaterThan(30);
  });
});
