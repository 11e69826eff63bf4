import sharp from 'sharp';
import { collide } from '../../testing/collisions.ts';
import { documentUploader } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, caller, get, post, put, remove } = tenant;
const upload = documentUploader(tenant);

const kinds = ['kb-articles', 'blog-posts', 'pages'];
const articles = '/api/crm/kb-articles';

const create = async (path: string, fields: object) =>
  (await post(path, { title: 'Hello world', ...fields }).expect(201)).body.data;

describe.each(kinds)('/%s', (kind) => {
  const path = `/api/crm/${kind}`;

  test('A new record is a draft in the language of the tenant, by its creator, with safe HTML', async () => {
    const created = await create(path, { body: '# Hi\n\n<script>alert(1)</script>two words' });
    expect(created).toMatchObject({
      slug: 'hello-world',
      language: 'en',
      status: 'draft',
      published_at: null,
      body_html: '<h1 id="content-hi">Hi</h1>\ntwo words',
      author_ids: [created.created_by],
    });
    await put(`${path}/${created.id}`, { status: 'published' }).expect(422);
    await put('/api/crm/settings', { content_language: 'hu' }).expect(200);
    expect((await create(path, {})).language).toBe('hu');
  });

  test('Slugs are unique in a language, also among records that are created at the same time', async () => {
    const created = await Promise.all(Array.from({ length: 6 }, () => create(path, {})));
    expect(created.map(({ slug }) => slug).sort()).toEqual(
      ['', '-2', '-3', '-4', '-5', '-6'].map((end) => `hello-world${end}`),
    );
    expect((await create(path, { language: 'de' })).slug).toBe('hello-world');
    const { body } = await post(path, { title: 'A', slug: 'hello-world' }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['slug']);
    await post(path, { title: 'A', slug: 'Hello World' }).expect(422);
  });

  test('The slug of a draft follows its title unless it was given; former slugs of published records are kept', async () => {
    const { id } = await create(path, {});
    const { body } = await put(`${path}/${id}`, { title: 'Bye' }).expect(200);
    expect(body.data.slug).toBe('bye');
    await put(`${path}/${id}`, { slug: 'so-long' }).expect(200);
    const again = await put(`${path}/${id}`, { title: 'Again' }).expect(200);
    expect(again.body.data.slug).toBe('so-long');
    await post(`${path}/${id}/publish`).expect(200);
    await put(`${path}/${id}`, { slug: 'farewell' }).expect(200);
    const { rows } = await crm().context.pool.query(
      'SELECT slug, is_current FROM tenant_crm.content_slugs WHERE record_id = $1 ORDER BY slug',
      [id],
    );
    expect(rows).toEqual([
      { slug: 'farewell', is_current: true },
      { slug: 'so-long', is_current: false },
    ]);
    expect((await create(path, {})).slug).toBe('hello-world');
    expect(
      (await get(`${path}?slug=farewell`)).body.data.map((one: { id: string }) => one.id),
    ).toEqual([id]);
  });

  test('A draft whose language changes gets a slug that is free there, unless its slug was given', async () => {
    await create(path, { language: 'de' });
    const { id } = await create(path, {});
    const { body } = await put(`${path}/${id}`, { language: 'de' }).expect(200);
    expect(body.data.slug).toBe('hello-world-2');
    const english = await put(`${path}/${id}`, { language: 'en' }).expect(200);
    expect(english.body.data.slug).toBe('hello-world');
    const given = await create(path, { slug: 'hello-world', language: 'fr' });
    const refused = await put(`${path}/${given.id}`, { language: 'de' }).expect(422);
    expect(Object.keys(refused.body.errors)).toEqual(['slug']);
  });

  test('A restored record gets another slug if its own is taken', async () => {
    const { id } = await create(path, {});
    await remove(`${path}/${id}`).expect(204);
    await create(path, {});
    const { body } = await post(`${path}/${id}/restore`).expect(200);
    expect(body.data.slug).toBe('hello-world-2');
  });

  test('The number of a restored slug does not make it longer than slugs can be', async () => {
    const slug = 'a'.repeat(100);
    const { id } = await create(path, { slug });
    await remove(`${path}/${id}`).expect(204);
    await create(path, { slug });
    const { body } = await post(`${path}/${id}/restore`).expect(200);
    expect(body.data.slug).toBe('a'.repeat(90));
    expect((await get(`${path}?slug=${body.data.slug}`).expect(200)).body.meta.total).toBe(1);
  });

  test('Translations share a group, each in another language', async () => {
    const original = await create(path, { language: 'EN-us' });
    expect(original.language).toBe('en-US');
    const hu = await create(path, { language: 'hu', translation_of: original.id });
    const at = `${path}/${original.id}/translations`;
    await post(at, { title: 'Hallo', language: 'de' }).expect(201);
    const again = await post(at, { title: 'Szia', language: 'hu' }).expect(422);
    expect(Object.keys(again.body.errors)).toEqual(['language']);
    await put(`${path}/${hu.id}`, { language: 'de' }).expect(422);
    await post(path, { title: 'A', language: 'no language' }).expect(422);
    const none = await post(path, { title: 'A', translation_of: crypto.randomUUID() }).expect(422);
    expect(Object.keys(none.body.errors)).toEqual(['translation_of']);
    const { body } = await get(at).expect(200);
    const languages = body.data.map(({ language }: { language: string }) => language);
    expect(languages).toEqual(['de', 'en-US', 'hu']);
    expect((await get(`${path}?language=hu`)).body.meta.total).toBe(1);
  });

  test.each(['is created', 'gets its language'])(
    'A translation is not restored while another one %s: 409',
    async (change) => {
      const { id: original } = await create(path, {});
      const translation = (title: string, language: string) =>
        post(path, { title, language, translation_of: original });
      const { body: german } = await translation('Hallo', 'de').expect(201);
      await remove(`${path}/${german.data.id}`).expect(204);
      const { body: dutch } = await translation('Hoi', 'nl').expect(201);
      const answers = await collide<{ status: number }>(
        crm().context.pool,
        // The other translation has the lock of the group when it is written.
        { text: `LOCK TABLE tenant_crm.${kind.replace('-', '_')} IN SHARE MODE` },
        [
          () =>
            change === 'is created'
              ? translation('Servus', 'de')
              : put(`${path}/${dutch.data.id}`, { language: 'de' }),
          () => post(`${path}/${german.data.id}/restore`),
        ],
      );
      expect(answers.map(({ status }) => status)).toEqual([
        change === 'is created' ? 201 : 200,
        409,
      ]);
    },
  );

  test('The path of a new translation follows from the URL, also if the id in it has capital letters', async () => {
    const { id } = await create(path, {});
    const at = `${path}/${id.toUpperCase()}/translations`;
    const { body, headers } = await post(at, { title: 'Hallo', language: 'de' }).expect(201);
    expect(headers.location).toBe(`${path}/${body.data.id}`);
  });

  test('Lists have everything but the texts, which exports have', async () => {
    const created = await create(path, { body: '**Bold**' });
    const { body: text, body_html: html, ...listed } = created;
    expect([text, html]).toEqual(['**Bold**', '<p><strong>Bold</strong></p>\n']);
    for (const query of ['', '?search=bold', '?language=en', `/${created.id}/translations`]) {
      const { body } = await get(`${path}${query}`).expect(200);
      expect([query, body.data]).toEqual([query, [{ ...listed, passages: expect.any(Array) }]]);
    }
    expect((await get(`${path}/export?format=json`).expect(200)).body.data).toEqual([created]);
  });

  test('A search finds words of title, tags and text, whatever their case and accents', async () => {
    const { id } = await create(path, { tags: ['Zöld'], body: 'Az **árvíz**tűrő tükörfúrógép' });
    await create(path, { title: 'Other' });
    for (const term of ['HELLO', 'zold', 'arvizturo', 'TÜKÖR', 'fúró']) {
      const { body } = await get(`${path}?search=${encodeURIComponent(term)}`).expect(200);
      expect(body.data.map((one: { id: string }) => one.id)).toEqual([id]);
    }
    expect((await get(`${path}?tag=${encodeURIComponent('Zöld')}`)).body.meta.total).toBe(1);
  });
});

describe('The passages that a search found', () => {
  /** The passages of the only hit, with the matches in brackets. */
  const passagesOf = async (term: string): Promise<[field: string, text: string][]> => {
    const { body } = await get(`${articles}?search=${encodeURIComponent(term)}`).expect(200);
    expect(body.data).toHaveLength(1);
    return body.data[0].passages.map(
      ({ field, parts }: { field: string; parts: { text: string; is_match: boolean }[] }) => [
        field,
        parts.map(({ text, is_match }) => (is_match ? `[${text}]` : text)).join(''),
      ],
    );
  };

  test('are in the title, the summary, the tags and the text, whatever the case and accents', async () => {
    await create(articles, {
      title: 'Árvíztűrő TÜKÖRFÚRÓGÉP',
      summary: 'Two lines\nof arvizturo text',
      tags: ['zöld', 'az árvíztűrő'],
      body: 'First\n\nNem **árvíz**tűrő, ÁRVÍZTŰRŐ tükör, Straße\n\n[őű](https://example.com)',
    });
    await create(articles, { title: 'Other' });
    expect(await passagesOf('arvizturo')).toEqual([
      ['title', '[Árvíztűrő] TÜKÖRFÚRÓGÉP'],
      ['summary', 'of [arvizturo] text'],
      ['tags', 'az [árvíztűrő]'],
    ]);
    expect(await passagesOf(' ÁRVÍZTŰRŐ tükör')).toEqual([
      ['title', '[Árvíztűrő TÜKÖR]FÚRÓGÉP'],
      ['body', 'Nem árvíztűrő, [ÁRVÍZTŰRŐ tükör], Straße'],
    ]);
    expect(await passagesOf('STRASSE')).toEqual([
      ['body', 'Nem árvíztűrő, ÁRVÍZTŰRŐ tükör, [Straße]'],
    ]);
    expect(await passagesOf('Őű')).toEqual([['body', '[őű]']]);
  });

  test('are plain text: nothing in them is HTML of ours', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    await create(articles, { title: evil, body: `\`${evil}\` & more` });
    expect(await passagesOf('onerror')).toEqual([
      ['title', '<img src=x [onerror]=alert(1)>'],
      ['body', '<img src=x [onerror]=alert(1)> & more'],
    ]);
  });

  test('of a text of one long line are around the match', async () => {
    await create(articles, {
      body: `${'Maß und '.repeat(9000)}Ende ${'und so weiter '.repeat(900)}`,
    });
    expect(await passagesOf('ENDE')).toEqual([
      ['body', expect.stringMatching(/^und (Maß und ){5,10}\[Ende\]( und so weiter){8,}/)],
    ]);
  });
});

test('A cover is an image that the caller may see', async () => {
  const image = await sharp({
    create: { width: 2, height: 2, channels: 3, background: 'red' },
  })
    .png()
    .toBuffer();
  const { body } = await upload({ content: image, name: 'a.png' } as never).expect(201);
  const cover = { cover_document_id: body.data.id };
  expect((await create(articles, cover)).cover_document_id).toBe(body.data.id);
  const text = await upload({}).expect(201);
  for (const [id, headers] of [
    [text.body.data.id, {}],
    [crypto.randomUUID(), {}],
    [body.data.id, caller({ lacking: ['documents.view'] })],
  ] as const) {
    const refused = await post(articles, { title: 'A', cover_document_id: id }, headers).expect(
      422,
    );
    expect(Object.keys(refused.body.errors)).toEqual(['cover_document_id']);
  }
});

test('Titles of any script, or of none, get a slug', async () => {
  for (const title of ['Привет', '你好', '🎉', '!!!']) {
    expect((await create(articles, { title })).slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  }
});
