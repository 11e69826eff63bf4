import { randomUUID } from 'node:crypto';
import { chatTenant } from '../../testing/chat.ts';
import { ARTICLES, articlesOf } from '../../testing/kb-articles.ts';

const tenant = chatTenant();
const { caller, client, colleague, crm, get, post, put, remove } = tenant;

type Headers = Readonly<Record<string, string>>;

const article = articlesOf(tenant);

/** A reader who may comment and does not moderate. */
const reader = () => {
  const id = randomUUID();
  return { id, headers: caller({ id, lacking: ['kb_articles.moderate'] }) };
};

const comment = async (of: string, fields: object = {}, by: Headers = {}) => {
  const { body } = await post(`${of}/comments`, { body: 'Good', ...fields }, by).expect(201);
  return { ...body.data, path: `${of}/comments/${body.data.id}` };
};

const bodiesIn = async (path: string, by: Headers = {}) =>
  (await get(path, by).expect(200)).body.data.map(({ body }: { body: string | null }) => body);

const moderate = (isModerated: boolean) =>
  put('/api/crm/settings', { comment_moderation: isModerated }).expect(200);

describe('Comments', () => {
  test('have an author, are edited and deleted by them, and have a history', async () => {
    const of = await article();
    const ada = reader();
    const { path, ...written } = await comment(of, { body: 'Very *good*' }, ada.headers);
    expect(written).toMatchObject({
      body: 'Very *good*',
      body_html: expect.stringContaining('<em>good</em>'),
      status: 'visible',
      author_type: 'user',
      user_id: ada.id,
      parent_id: null,
      thread_id: null,
      edited_at: null,
    });
    const { body } = await put(path, { body: 'Bad' }, ada.headers).expect(200);
    expect(body.data).toMatchObject({ body: 'Bad', edited_at: expect.any(String) });
    const { body: history } = await get(`${path}/history`, ada.headers).expect(200);
    expect(history.data[0].changes.body).toEqual({ from: 'Very *good*', to: 'Bad' });
    await remove(path, ada.headers).expect(204);
    await get(path, ada.headers).expect(404);
    await post(`${path}/restore`, {}, ada.headers).expect(200);
    expect(await bodiesIn(`${of}/comments`)).toEqual(['Bad']);
  });

  test('of others are neither edited, nor deleted or restored without kb_articles.moderate', async () => {
    const of = await article();
    const { path } = await comment(of, {}, reader().headers);
    const other = reader();
    const edit = await put(path, { body: 'No' }, other.headers).expect(403);
    expect(edit.body.error).toBe('not_the_author');
    expect((await put(path, { body: 'No' })).body.error).toBe('not_the_author');
    for (const attempt of [
      () => remove(path, other.headers),
      () => get(`${path}/history`, other.headers),
      () => post(`${path}/hide`, {}, other.headers),
    ]) {
      const { body } = await attempt().expect(403);
      expect(body.required_permission).toBe('tenant.acme.crm.kb_articles.moderate');
    }
    await remove(path).expect(204);
    await post(`${path}/restore`, {}, other.headers).expect(403);
    await post(`${path}/restore`).expect(200);
  });

  test('that a moderator deleted are not restored by their author', async () => {
    const of = await article();
    const ada = reader();
    const { path } = await comment(of, {}, ada.headers);
    await remove(path).expect(204);
    await post(`${path}/restore`, {}, ada.headers).expect(403);
    await get(`${path}/history`, ada.headers).expect(200);
  });

  test('are written with kb_articles.comment and read with kb_articles.view', async () => {
    const of = await article();
    const mute = caller({ lacking: ['kb_articles.comment'] });
    const { body } = await post(`${of}/comments`, { body: 'A' }, mute).expect(403);
    expect(body.required_permission).toBe('tenant.acme.crm.kb_articles.comment');
    await get(`${of}/comments`, mute).expect(200);
    await get(`${of}/comments`, caller({ lacking: ['kb_articles.view'] })).expect(403);
  });

  test('are possible only on what the caller sees', async () => {
    const of = await article();
    const { path } = await comment(of);
    const stranger = crm().caller({ tenant: 'globex' });
    await post(`${of}/comments`, { body: 'A' }, stranger).expect(404);
    for (const request of [get(path, stranger), remove(path, stranger)]) await request.expect(404);
    await remove(of).expect(204);
    await post(`${of}/comments`, { body: 'A' }).expect(404);
    await get(`${of}/comments`).expect(404);
    await post(`${ARTICLES}/${randomUUID()}/comments`, { body: 'A' }).expect(404);
  });

  test('render Markdown without anything that a browser executes', async () => {
    const of = await article();
    for (const body of [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[a](javascript:alert(1))',
      '[a](JaVaScRiPt:alert(1))',
      '![a](data:text/html;base64,PHNjcmlwdD4=)',
      '<a href="&#106;avascript:alert(1)">a</a>',
      '<svg><script>alert(1)</script></svg>',
      '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    ]) {
      const { body_html: html } = await comment(of, { body });
      expect(html).not.toMatch(
        /<script|<img[^>]+onerror|<iframe|<svg|(?:src|href)="?\s*(?:javascript|data):/i,
      );
    }
  });

  test('by a client are its own', async () => {
    const owner = colleague();
    const of = await article(owner);
    const headers = client('pipeline');
    const { path, ...written } = await comment(of, {}, headers);
    expect(written).toMatchObject({ author_type: 'client', client_id: 'pipeline', user_id: null });
    await put(path, { body: 'B' }, headers).expect(200);
    await put(path, { body: 'C' }, client('other')).expect(403);
  });

  test('name in their history the administrator who acted as the author', async () => {
    const of = await article();
    const [id, impersonator] = [randomUUID(), randomUUID()];
    const { path, user_id } = await comment(of, {}, caller({ id, impersonator_id: impersonator }));
    expect(user_id).toBe(id);
    const { body } = await get(`${path}/history`);
    expect(body.data[0]).toMatchObject({ user_id: id, impersonator_id: impersonator });
  });
});

describe('Threads', () => {
  test('contain replies to replies, and are listed one by one or together', async () => {
    const of = await article();
    const first = await comment(of, { body: '1' });
    const reply = await comment(of, { body: '1.1', parent_id: first.id });
    const deeper = await comment(of, { body: '1.1.1', parent_id: reply.id });
    await comment(of, { body: '2' });
    expect(reply).toMatchObject({ parent_id: first.id, thread_id: first.id });
    expect(deeper).toMatchObject({ parent_id: reply.id, thread_id: first.id });
    expect(await bodiesIn(`${of}/comments`)).toEqual(['1', '1.1', '1.1.1', '2']);
    expect(await bodiesIn(`${of}/comments?is_reply=false`)).toEqual(['1', '2']);
    expect(await bodiesIn(`${of}/comments?is_reply=true`)).toEqual(['1.1', '1.1.1']);
    expect(await bodiesIn(`${of}/comments?thread_id=${first.id}`)).toEqual(['1.1', '1.1.1']);
    expect((await get(first.path)).body.data.reply_count).toBe(2);
  });

  test('stay within one article, and have no replies to what the author does not see', async () => {
    const [of, other] = [await article(), await article()];
    const elsewhere = await comment(other);
    const hidden = await comment(of);
    await post(`${hidden.path}/hide`).expect(200);
    const deleted = await comment(of);
    await remove(deleted.path).expect(204);
    for (const parent_id of [elsewhere.id, hidden.id, deleted.id, randomUUID()]) {
      const { body } = await post(
        `${of}/comments`,
        { body: 'A', parent_id },
        reader().headers,
      ).expect(422);
      expect(Object.keys(body.errors)).toEqual(['parent_id']);
    }
  });

  test('keep the place of a deleted comment, without its text and author', async () => {
    const of = await article();
    const first = await comment(of, { body: '1' });
    const reply = await comment(of, { body: '1.1', parent_id: first.id });
    const deeper = await comment(of, { body: '1.1.1', parent_id: reply.id });
    const last = await comment(of, { body: '2' });
    for (const { path } of [first, reply, last]) await remove(path).expect(204);
    const { body } = await get(`${of}/comments`).expect(200);
    expect(body.meta.total).toBe(3);
    expect(body.data).toMatchObject([
      {
        id: first.id,
        body: null,
        body_html: null,
        user_id: null,
        reply_count: 1,
        deleted_at: expect.any(String),
      },
      { id: reply.id, body: null, user_id: null },
      { id: deeper.id, body: '1.1.1', deleted_at: null },
    ]);
    await get(first.path).expect(404);
    await remove(deeper.path).expect(204);
    expect((await get(`${of}/comments`)).body).toMatchObject({ data: [], meta: { total: 0 } });
  });
});

describe('Moderation', () => {
  test('is off unless the tenant switches it on; then comments wait for approval', async () => {
    const of = await article();
    const [ada, bob] = [reader(), reader()];
    expect((await comment(of, { body: 'Before' }, ada.headers)).status).toBe('visible');
    await moderate(true);
    const { path, status } = await comment(of, { body: 'Waiting' }, ada.headers);
    expect(status).toBe('pending');
    expect((await comment(of, { body: 'By a moderator' })).status).toBe('visible');
    expect(await bodiesIn(`${of}/comments`, bob.headers)).toEqual(['Before', 'By a moderator']);
    expect(await bodiesIn(`${of}/comments`, ada.headers)).toContain('Waiting');
    expect(await bodiesIn(`${of}/comments?status=pending`)).toEqual(['Waiting']);
    await get(path, bob.headers).expect(404);
    await post(`${path}/approve`, {}, ada.headers).expect(403);
    const { body: queue } = await get('/api/crm/kb-article-comments?status=pending').expect(200);
    expect(queue).toMatchObject({ data: [{ body: 'Waiting', status }], meta: { total: 1 } });
    await get('/api/crm/kb-article-comments', ada.headers).expect(403);
    const { body } = await post(`${path}/approve`).expect(200);
    expect(body.data).toMatchObject({ status: 'visible', moderated_at: expect.any(String) });
    await get(path, bob.headers).expect(200);
    const edited = await put(path, { body: 'Spam' }, ada.headers).expect(200);
    expect(edited.body.data.status).toBe('pending');
  });

  test('lists no comments of deleted articles until these are restored', async () => {
    const [of, other] = [await article(), await article()];
    const ada = reader();
    await moderate(true);
    await comment(of, { body: 'Of a deleted article' }, ada.headers);
    await comment(other, { body: 'Waiting' }, ada.headers);
    const listed = () =>
      Promise.all(
        ['', '?status=pending', `?user_id=${ada.id}`].map(async (query) => {
          const { body } = await get(`/api/crm/kb-article-comments${query}`).expect(200);
          const bodies = body.data.map((one: { body: string }) => one.body);
          return [...bodies.sort(), body.meta.total];
        }),
      );
    const both = ['Of a deleted article', 'Waiting', 2];
    expect(await listed()).toEqual([both, both, both]);
    await remove(of).expect(204);
    expect(await listed()).toEqual(Array(3).fill(['Waiting', 1]));
    await post(`${of}/restore`).expect(200);
    expect(await listed()).toEqual([both, both, both]);
  });

  test('hides comments from everyone but their authors and moderators', async () => {
    const of = await article();
    const [ada, bob] = [reader(), reader()];
    const { path, id } = await comment(of, { body: 'Rude' }, ada.headers);
    await post(`${path}/hide`).expect(200);
    await post(`${path}/approve`).expect(409);
    await get(path, bob.headers).expect(404);
    const { body: own } = await put(path, { body: 'Still rude' }, ada.headers).expect(200);
    expect(own.data.status).toBe('hidden');
    await comment(of, { body: 'An answer', parent_id: id });
    const { body } = await get(`${of}/comments`, bob.headers).expect(200);
    expect(body.data).toMatchObject([
      { id, status: 'hidden', body: null, body_html: null, user_id: null },
      { body: 'An answer' },
    ]);
    await post(`${path}/unhide`).expect(200);
    expect(await bodiesIn(`${of}/comments`, bob.headers)).toEqual(['Still rude', 'An answer']);
  });

  test('does not show a text that the moderator has not read', async () => {
    const of = await article();
    const ada = reader();
    await moderate(true);
    const { path } = await comment(of, { body: 'Hello' }, ada.headers);
    const edit = async (body: string) =>
      (await put(path, { body }, ada.headers).expect(200)).body.data.edited_at;
    const first = await edit('Buy this');
    for (const edited_at of [null, new Date(0).toISOString()]) {
      const { body } = await post(`${path}/approve`, { edited_at }).expect(409);
      expect(body.error).toBe('conflict');
    }
    expect((await get(path)).body.data.status).toBe('pending');
    await post(`${path}/approve`, { edited_at: first }).expect(200);
    await post(`${path}/hide`).expect(200);
    const second = await edit('Buy that');
    await post(`${path}/unhide`, { edited_at: first }).expect(409);
    expect((await get(path)).body.data.status).toBe('hidden');
    const { body } = await post(`${path}/unhide`, { edited_at: second }).expect(200);
    expect(body.data.status).toBe('visible');
    const unedited = await comment(of, {}, ada.headers);
    await post(`${unedited.path}/approve`, { edited_at: first }).expect(409);
    await post(`${unedited.path}/approve`, { edited_at: null }).expect(200);
  });

  test('does not reveal the author of a hidden comment by the filter for users', async () => {
    const of = await article();
    const [ada, eve] = [reader(), reader()];
    const { path } = await comment(of, {}, ada.headers);
    await comment(of, { parent_id: path.split('/').at(-1) });
    const by = `${of}/comments?user_id=${ada.id}`;
    expect(await bodiesIn(by, eve.headers)).toEqual(['Good']);
    await post(`${path}/hide`).expect(200);
    expect(await bodiesIn(by, eve.headers)).toEqual([]);
    expect((await get(`${of}/comments`, eve.headers)).body.data).toMatchObject([
      { user_id: null, moderated_by: null },
      { body: 'Good' },
    ]);
  });
});
