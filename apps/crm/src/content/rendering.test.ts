import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../testing/tenant.ts';
import { createBodyRenderer, renderBody } from './rendering.ts';

const { crm, get, post, put } = tenantForEachTest();

test('Other requests are answered while a body is rendered; what waits is limited, and nothing waits for ever', async () => {
  const renderer = createBodyRenderer({ program: './testing/endless-thread', deadlineMs: 4000 });
  const refused: unknown[] = [];
  const renderings = Array.from({ length: 12 }, (_, number) =>
    renderer.render('x'.repeat(100_000)).catch((error) => {
      expect(error).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
      refused.push(number);
    }),
  );
  await get('/livez').expect(200);
  // One is being rendered, and eight of the longest wait.
  expect(refused).toEqual([9, 10, 11]);
  await Promise.all(renderings);
  expect(refused).toHaveLength(12);
});

test('Many bodies of some lines that come while no thread runs are all rendered', async () => {
  const renderer = createBodyRenderer();
  const bodies = Array.from({ length: 100 }, (_, number) => `${number} `.repeat(500));
  const rendered = await Promise.all(bodies.map((body) => renderer.render(body)));
  expect(rendered.map(({ word_count }) => word_count)).toEqual(bodies.map(() => 500));
});

test('The longest body is rendered like a short one', async () => {
  const paragraph = '**Long** [text](https://example.com)\n\n';
  const body = paragraph.repeat(2600);
  const { body: created } = await post('/api/crm/kb-articles', { title: 'Long', body }).expect(201);
  const [html] = created.data.body_html.split('\n');
  expect(html).toBe(
    '<p><strong>Long</strong> <a href="https://example.com" rel="noopener nofollow ugc">text</a></p>',
  );
  expect(created.data.word_count).toBe(5200);
});

test.each([
  [
    'a short body with too many elements',
    `${'a|'.repeat(30)}\n${'-|'.repeat(30)}\n${'a\n'.repeat(100)}`,
    'body must not have more than 1,966 HTML elements',
  ],
  [
    'a long body that nests them too deeply',
    '<font>'.repeat(10_000),
    'body must not nest more than 200 HTML elements',
  ],
  [
    'a body of links to a long address',
    `[a]: /${'x'.repeat(50_000)}\n\n${'[a]'.repeat(16_000)}`,
    'body must not have more than 1,030,080 characters in attributes of HTML elements',
  ],
])('%s is a 422', async (_, body, error) => {
  await expect(renderBody(body)).rejects.toMatchObject({ status: 422 });
  const response = await post('/api/crm/blog-posts', { title: 'Deep', body }).expect(422);
  expect(response.body.errors).toEqual({ body: [error] });
});

test('Texts are rendered before a request takes a connection to the database', async () => {
  const articles = '/api/crm/kb-articles';
  const { body: created } = await post(articles, { title: 'Open' }).expect(201);
  const article = `${articles}/${created.data.id}`;
  const { body: commented } = await post(`${article}/comments`, { body: 'Hm' }).expect(201);
  const { pool } = crm().context;
  const connections = Array.from({ length: pool.options.max }, () => pool.connect());
  const held = await Promise.all(connections);
  try {
    const refused = { title: 'Deep', body: '<font>'.repeat(1000) };
    await post(articles, refused).expect(422);
    await put(article, refused).expect(422);
    await post(`${article}/translations`, { ...refused, language: 'de' }).expect(422);
    await post(`${article}/comments`, { body: refused.body }).expect(422);
    await put(`${article}/comments/${commented.data.id}`, { body: refused.body }).expect(422);
  } finally {
    for (const connection of held) connection.release();
  }
});

test.each([
  ['A short text', randomUUID()],
  ['A long text', `${randomUUID()} `.repeat(100)],
])('%s that was rendered a moment ago is not rendered again', async (_, body) => {
  expect(await renderBody(body)).toBe(await renderBody(body));
});

test('The longest rendering is not rendered again', async () => {
  // Nearly 2,000,000 characters of HTML.
  const body = `<p><b title='${'"'.repeat(30_000)}'>${'<p>a'.repeat(9)}`;
  const rendered = await renderBody(body);
  expect(rendered.body_html.length).toBeGreaterThan(1_800_000);
  expect(await renderBody(body)).toBe(rendered);
});
