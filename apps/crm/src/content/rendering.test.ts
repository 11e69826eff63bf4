import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../testing/tenant.ts';
import { type BodyRenderer, createBodyRenderer, renderBody } from './rendering.ts';
import { TextThreads } from './text-threads.ts';

const { crm, get, post, put } = tenantForEachTest();

/** Threads in which a text that begins with "endless" never ends, and renderings by them. */
const endless = (deadlineMs: number, maxWaitMs: number): BodyRenderer => {
  const program = './testing/endless-text-thread';
  return createBodyRenderer(new TextThreads({ program, deadlineMs, maxWaitMs }));
};
const longest = (start: string): string => start.padEnd(100_000, 'x');

test('A tenant whose texts never end has one thread and half of the places, and others are rendered meanwhile', async () => {
  const renderer = endless(4000, 6000);
  const errors: unknown[] = [];
  const noisy = Array.from({ length: 20 }, (_, number) =>
    renderer.render('noisy', longest(`endless ${number}`)).catch((error) => errors.push(error)),
  );
  await get('/livez').expect(200);
  // The others are being rendered or wait.
  const tooMany = {
    status: 429,
    headers: { 'Retry-After': '5' },
    details: { max_characters: 1_800_000 },
  };
  expect(errors).toEqual([expect.objectContaining(tooMany), expect.objectContaining(tooMany)]);
  for (const start of ['a', 'b', 'c']) {
    const { word_count } = await renderer.render('quiet', longest(start));
    expect(word_count).toBe(1);
  }
  expect(errors.length).toBeLessThan(noisy.length);
  await Promise.all(noisy);
  // The first ones do not end in time, and the others wait for too long.
  expect(errors).toContainEqual(expect.objectContaining({ status: 503 }));
  expect(errors).toHaveLength(20);
});

test('Two tenants whose texts never end make a third one wait for a turn of each at most', async () => {
  const renderer = endless(2500, 20_000);
  let ended = 0;
  const noisy = ['one', 'two'].flatMap((tenant) =>
    Array.from({ length: 8 }, (_, number) =>
      renderer.render(tenant, longest(`endless ${number}`)).catch(() => {
        ended += 1;
      }),
    ),
  );
  await renderer.render('quiet', longest('a'));
  // Those that ran when it came, and one turn of each.
  expect(ended).toBeLessThanOrEqual(4);
  await Promise.all(noisy);
});

test('Many bodies of some lines that come while no thread runs are all rendered', async () => {
  const renderer = createBodyRenderer(new TextThreads());
  const bodies = Array.from({ length: 100 }, (_, number) => `${number} `.repeat(500));
  const rendered = await Promise.all(bodies.map((body) => renderer.render('one', body)));
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
  await expect(renderBody('one', body)).rejects.toMatchObject({ status: 422 });
  const response = await post('/api/crm/blog-posts', { title: 'Deep', body }).expect(422);
  expect(response.body.errors).toEqual({ body: [error] });
});

test('Texts are rendered before a request takes a connection to the database', async () => {
  const articles = '/api/crm/kb-articles';
  const { body: created } = await post(articles, { title: 'Open' }).expect(201);
  const article = `${articles}/${created.data.id}`;
  const { body: commented } = await post(`${article}/comments`, { body: 'Hm' }).expect(201);
  const { pool } = crm().context;
  let acquired = 0;
  const count = (): void => {
    acquired += 1;
  };
  pool.on('acquire', count);
  try {
    const refused = { title: 'Deep', body: '<font>'.repeat(1000) };
    await post(articles, refused).expect(422);
    await put(article, refused).expect(422);
    await post(`${article}/translations`, { ...refused, language: 'de' }).expect(422);
    await post(`${article}/comments`, { body: refused.body }).expect(422);
    await put(`${article}/comments/${commented.data.id}`, { body: refused.body }).expect(422);
    expect(acquired).toBe(0);
    await post(articles, { title: 'Accepted' }).expect(201);
    expect(acquired).toBeGreaterThan(0);
  } finally {
    pool.off('acquire', count);
  }
});

test.each([
  ['A short text', randomUUID()],
  ['A long text', `${randomUUID()} `.repeat(100)],
])('%s that was rendered a moment ago is not rendered again', async (_, body) => {
  expect(await renderBody('one', body)).toBe(await renderBody('one', body));
});

test('The longest rendering is not rendered again', async () => {
  // About 1,500,000 characters of HTML.
  const body = `<p><b title='${'"'.repeat(23_000)}'>${'<p>a'.repeat(9)}`.padEnd(100_000, ' a');
  const rendered = await renderBody('one', body);
  expect(rendered.body_html.length).toBeGreaterThan(1_300_000);
  expect(await renderBody('one', body)).toBe(rendered);
});
