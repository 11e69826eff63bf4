import { randomUUID } from 'node:crypto';
import { chatTenant } from '../../testing/chat.ts';
import { ARTICLES, articlesOf } from '../../testing/kb-articles.ts';

const tenant = chatTenant();
const { caller, client, colleague, crm, get, post, put, remove } = tenant;

const article = articlesOf(tenant);

const reader = () => {
  const id = randomUUID();
  return { id, headers: caller({ id, lacking: ['kb_articles.update', 'kb_articles.comment'] }) };
};

const countsOf = async (of: string) => {
  const { body } = await get(of).expect(200);
  return [body.data.helpful_count, body.data.not_helpful_count];
};

test('Readers have one vote on an article, which they change and remove', async () => {
  const of = await article();
  const ada = reader();
  expect((await get(`${of}/feedback/own`, ada.headers)).body.data).toBeNull();
  const vote = { is_helpful: false, text: 'Which water?' };
  const { body } = await put(`${of}/feedback`, vote, ada.headers).expect(200);
  expect(body.data).toMatchObject({ ...vote, user_id: ada.id });
  expect(await countsOf(of)).toEqual([0, 1]);
  const { body: changed } = await put(`${of}/feedback`, { is_helpful: true }, ada.headers);
  expect(changed.data).toMatchObject({ id: body.data.id, is_helpful: true, text: 'Which water?' });
  await put(`${of}/feedback`, { is_helpful: true }, reader().headers).expect(200);
  expect(await countsOf(of)).toEqual([2, 0]);
  expect((await get(`${of}/feedback/own`, ada.headers)).body.data).toEqual(changed.data);
  await remove(`${of}/feedback`, ada.headers).expect(204);
  await remove(`${of}/feedback`, ada.headers).expect(204);
  expect(await countsOf(of)).toEqual([1, 0]);
});

test('Concurrent votes of one person are one vote, and those of many are all counted', async () => {
  const of = await article();
  const ada = reader();
  const votes = [true, false, true, false, true, false];
  await Promise.all(
    votes.map((is_helpful) => put(`${of}/feedback`, { is_helpful }, ada.headers).expect(200)),
  );
  const [helpful = 0, notHelpful = 0] = await countsOf(of);
  expect(helpful + notHelpful).toBe(1);
  const others = Array.from({ length: 12 }, () => reader().headers);
  await Promise.all(
    others.map((by, n) => put(`${of}/feedback`, { is_helpful: n % 3 > 0 }, by).expect(200)),
  );
  expect(await countsOf(of)).toEqual([helpful + 8, notHelpful + 4]);
});

test('Votes give the article another entity tag, and no new version', async () => {
  const of = await article();
  const before = (await get(of)).headers.etag as string;
  await put(`${of}/feedback`, { is_helpful: true }).expect(200);
  const between = (await get(of)).headers.etag as string;
  await put(`${of}/feedback`, { is_helpful: false }).expect(200);
  const after = (await get(of)).headers.etag as string;
  expect(new Set([before, between, after]).size).toBe(3);
  await put(of, { title: 'Green tea' }, { 'If-Match': before }).expect(200);
});

test('The texts are listed for those who may change the article', async () => {
  const of = await article();
  const ada = reader();
  const text = 'Too short';
  await put(`${of}/feedback`, { is_helpful: false, text }, ada.headers).expect(200);
  await put(`${of}/feedback`, { is_helpful: true }, reader().headers).expect(200);
  const { body } = await get(`${of}/feedback?has_text=true`).expect(200);
  expect(body).toMatchObject({ data: [{ text, user_id: ada.id }], meta: { total: 1 } });
  expect((await get(`${of}/feedback?is_helpful=true`)).body.meta.total).toBe(1);
  const denied = await get(`${of}/feedback`, ada.headers).expect(403);
  expect(denied.body.required_permission).toBe('tenant.acme.crm.kb_articles.update');
});

test('Only users vote, and only on articles that they see', async () => {
  const owner = colleague();
  const of = await article(owner);
  const { body } = await put(`${of}/feedback`, { is_helpful: true }, client('pipeline'));
  expect(body.error).toBe('user_required');
  const stranger = crm().caller({ tenant: 'globex' });
  await put(`${of}/feedback`, { is_helpful: true }, stranger).expect(404);
  await remove(`${of}/feedback`, stranger).expect(404);
  await get(`${of}/feedback/own`, stranger).expect(404);
  const blind = caller({ lacking: ['kb_articles.view'] });
  await put(`${of}/feedback`, { is_helpful: true }, blind).expect(403);
});

test('Articles count the comments that everybody sees', async () => {
  const of = await article();
  const count = async () => (await get(of)).body.data.comment_count;
  const { body } = await post(`${of}/comments`, { body: 'A' }).expect(201);
  await post(`${of}/comments`, { body: 'B' }).expect(201);
  expect(await count()).toBe(2);
  const first = `${of}/comments/${body.data.id}`;
  await post(`${first}/hide`).expect(200);
  expect(await count()).toBe(1);
  await post(`${first}/unhide`).expect(200);
  await remove(first).expect(204);
  expect(await count()).toBe(1);
  const { body: list } = await get(ARTICLES).expect(200);
  const own = list.data.find(({ id }: { id: string }) => of.endsWith(id));
  expect(own).toMatchObject({ comment_count: 1, helpful_count: 0, not_helpful_count: 0 });
});
