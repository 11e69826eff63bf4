import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import pg from 'pg';
import { chatTenant } from '../../testing/chat.ts';
import { collide } from '../../testing/collisions.ts';
import { countLockWaits } from '../../testing/lock-waits.ts';

const { client, colleague, crm, get, post, put, remove, tenant, user, channel } = chatTenant();

interface Sent {
  readonly id: string;
  readonly position: number;
  readonly body: string;
}

const posted = async (path: string, fields: object = {}, headers = {}): Promise<Sent> =>
  (await post(`${path}/messages`, { body: 'Hello', ...fields }, headers).expect(201)).body.data;

const positions = (data: readonly Sent[]): number[] => data.map(({ position }) => position);

test('A message has an author, a place in its channel, and the people it mentions', async () => {
  const general = await channel();
  const ada = user();
  const friend = randomUUID();
  const body = `Ask <@${friend}> and <@${friend.toUpperCase()}>, not <@nobody>`;
  expect(await posted(general, { body }, ada.headers)).toMatchObject({
    position: 1,
    body,
    author_type: 'user',
    user_id: ada.id,
    bot_id: null,
    client_id: null,
    mentions: [friend],
    thread_root_id: null,
    reply_count: 0,
    edited_at: null,
  });
  expect(await posted(general)).toMatchObject({ position: 2 });
});

test('A client writes in public channels, is the author, and participates in none', async () => {
  const owner = colleague();
  const general = await channel({}, owner);
  const pipeline = client('pipeline');
  const message = await posted(general, {}, pipeline);
  expect(message).toMatchObject({ author_type: 'client', user_id: null, client_id: 'pipeline' });
  const path = `${general}/messages/${message.id}`;
  await put(path, { body: 'Edited' }, pipeline).expect(200);
  await put(path, { body: 'Edited' }, client('other')).expect(403);
  expect((await get(`${general}/participants`, owner)).body.meta.total).toBe(1);
});

describe('The messages of a channel', () => {
  test('are numbered without gaps in the order of their commits, also when many post at once', async () => {
    const general = await channel();
    await Promise.all(Array.from({ length: 30 }, () => posted(general)));
    const { body } = await get(`${general}/messages?per_page=100`).expect(200);
    expect(positions(body.data)).toEqual(Array.from({ length: 30 }, (_, i) => 30 - i));
    expect((await get(general)).body.data.last_position).toBe(30);
    const refused = await post(`${general}/messages`, { body: 'x', thread_root_id: randomUUID() });
    expect(refused.body.errors).toMatchObject({ thread_root_id: expect.anything() });
    expect(await posted(general)).toMatchObject({ position: 31 });
  });

  test('are paged by position, to older and to newer ones', async () => {
    const general = await channel();
    for (let i = 0; i < 5; i += 1) await posted(general);
    const page = async (path: string) => {
      const { body } = await get(path).expect(200);
      return { ...body, positions: positions(body.data) };
    };
    const newest = await page(`${general}/messages?per_page=2`);
    expect(newest).toMatchObject({ positions: [5, 4], meta: { total: 5 }, links: { prev: null } });
    const next = await page(newest.links.next);
    expect(next.positions).toEqual([3, 2]);
    const last = await page(next.links.next);
    expect(last).toMatchObject({ positions: [1], links: { next: null } });
    expect((await page(last.links.prev)).positions).toEqual([3, 2]);
    expect((await page(newest.links.last)).positions).toEqual([2, 1]);
    const oldest = await page(`${general}/messages?after=2&per_page=2`);
    expect(oldest).toMatchObject({ positions: [4, 3], links: { prev: expect.any(String) } });
    expect(await page(oldest.links.prev)).toMatchObject({ positions: [5], links: { prev: null } });
    expect((await page(`${general}/messages?after=1&before=4`)).positions).toEqual([3, 2]);
    expect(await page(`${general}/messages?after=9`)).toMatchObject({
      positions: [],
      meta: { total: 5 },
    });
  });

  test('between two positions are paged by links that stay between them', async () => {
    const general = await channel();
    const sent = [];
    for (let i = 0; i < 8; i += 1) sent.push(await posted(general));
    await remove(`${general}/messages/${sent[2]?.id}`).expect(204);
    const page = async (path: string) => {
      const { body } = await get(path).expect(200);
      return { links: body.links, positions: positions(body.data) };
    };
    const pages = [];
    let next: string | null = `${general}/messages?after=1&before=8&per_page=2&is_reply=false`;
    while (next !== null) {
      const found = await page(next);
      expect(found.links.prev).toBeNull();
      expect(await page(found.links.first)).toEqual(found);
      pages.push(found.positions);
      expect((await page(found.links.last)).positions.at(-1)).toBe(2);
      next = found.links.next;
    }
    expect(pages).toEqual([[7, 6], [5, 4], [2]]);
    const { links } = await page(`${general}/messages?after=1&before=8&per_page=2`);
    expect(await page(links.last)).toMatchObject({ positions: [4, 2], links: { next: null } });
    const none = await page(`${general}/messages?after=2&before=4`);
    expect(none).toMatchObject({ positions: [], links: { prev: null, next: null } });
    expect(await page(none.links.last)).toEqual(none);
  });

  test('have pages by number as well, and always tell the current one', async () => {
    const general = await channel();
    for (let n = 1; n <= 5; n += 1) await posted(general);
    const list = async (query: string) => (await get(`${general}/messages?${query}`)).body;
    const second = await list('page=2&per_page=2');
    expect(positions(second.data)).toEqual([3, 2]);
    expect(second.meta).toEqual({ current_page: 2, last_page: 3, per_page: 2, total: 5 });
    const at = (page: number): string => `${general}/messages?page=${page}&per_page=2`;
    expect(second.links).toEqual({ first: at(1), last: at(3), prev: at(1), next: at(3) });
    const last = { current_page: 3, last_page: 3 };
    expect(await list('page=3&per_page=2')).toMatchObject({ meta: last, links: { next: null } });
    // Beyond the end is the last page, as in all lists.
    const beyond = await list('page=9&per_page=2');
    expect([positions(beyond.data), beyond.meta.current_page]).toEqual([[1], 3]);
    expect((await list('page=0&per_page=2')).meta.current_page).toBe(1);
    // By position, it is the page that the first message is on.
    for (const [query, page] of [
      ['per_page=2', 1],
      ['per_page=2&before=4', 2],
      ['per_page=2&before=3', 2],
      ['per_page=2&before=2', 3],
      ['per_page=2&after=0', 2],
      ['per_page=2&before=1', 3],
      ['per_page=2&after=5', 1],
    ] as const) {
      expect([query, (await list(query)).meta.current_page]).toEqual([query, page]);
    }
    const empty = await get(`${await channel()}/messages?page=4`);
    expect(empty.body).toMatchObject({
      data: [],
      meta: { current_page: 1, last_page: 1, total: 0 },
    });
    const both = await get(`${general}/messages?page=2&before=3`);
    expect([both.status, Object.keys(both.body.errors)]).toEqual([422, ['page']]);
  });

  test('are not read by offset: no page of a long channel scans the others', async () => {
    const general = await channel();
    const id = general.split('/').at(-1);
    const { rows: inserted } = await crm().context.pool.query<{ tenant_id: string }>(
      `INSERT INTO tenant_crm.messages (tenant_id, id, channel_id, position, author_type, client_id, body)
       SELECT tenant_id, gen_random_uuid(), id, n, 'client', 'load', 'Hello'
       FROM tenant_crm.channels, generate_series(1, 20000) AS n WHERE id = $1 RETURNING tenant_id`,
      [id],
    );
    await crm().context.pool.query('VACUUM ANALYZE tenant_crm.messages');
    const { rows } = await crm().context.pool.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT * FROM tenant_crm.messages
       WHERE tenant_id = $2 AND channel_id = $1
         AND deleted_at IS NULL AND position < 10000 ORDER BY position DESC LIMIT 26`,
      [id, inserted[0]?.tenant_id],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('messages_channel_id_position_key');
    expect(plan).not.toContain('Sort');
    const { body } = await get(`${general}/messages?before=10000&per_page=1`).expect(200);
    expect(body).toMatchObject({ data: [{ position: 9999 }], meta: { total: 20_000 } });
  });
});

describe('A message', () => {
  test('is edited by its author only, and its history has the earlier text', async () => {
    const general = await channel();
    const [ada, owner] = [user(), {}];
    const { id } = await posted(general, { body: 'Helo' }, ada.headers);
    const path = `${general}/messages/${id}`;
    const refused = await put(path, { body: 'Mine' }, owner).expect(403);
    expect(refused.body.error).toBe('not_the_author');
    const friend = randomUUID();
    const { body } = await put(path, { body: `Hello <@${friend}>` }, ada.headers).expect(200);
    expect(body.data).toMatchObject({ mentions: [friend], edited_at: expect.any(String) });
    const { body: history } = await get(`${path}/history`, ada.headers).expect(200);
    expect(history.data[0]).toMatchObject({
      action: 'update',
      changes: { body: { from: 'Helo', to: `Hello <@${friend}>` } },
    });
  });

  test('is not edited if it is saved with the text that it has', async () => {
    const general = await channel();
    const { id } = await posted(general, { body: 'Hello' });
    const path = `${general}/messages/${id}`;
    const { etag = '' } = (await get(path).expect(200)).headers;
    const saved = await put(path, { body: 'Hello' }).expect(200);
    expect([saved.headers.etag, saved.body.data.edited_at]).toEqual([etag, null]);
    expect((await get(`${path}/history`)).body.meta.total).toBe(1);
    await put(path, { body: 'Hello' }, user().headers).expect(403);
    const edited = await put(path, { body: 'Hello!' }).set('If-Match', etag).expect(200);
    await put(path, { body: 'Hello!' }).set('If-Match', etag).expect(412);
    const again = await put(path, { body: 'Hello!' }).expect(200);
    expect(again.body.data).toEqual(edited.body.data);
    const { rows } = await crm().context.pool.query(
      "SELECT type FROM tenant_crm.chat_events WHERE channel_id = $1 AND type LIKE 'message.%' ORDER BY number",
      [general.split('/').at(-1)],
    );
    expect(rows.map(({ type }) => type)).toEqual(['message.created', 'message.updated']);
  });

  test('is no conflict for its author when others reply and react to it', async () => {
    const general = await channel();
    const ada = user();
    const { id } = await posted(general, {}, ada.headers);
    const path = `${general}/messages/${id}`;
    const tag = async (): Promise<string> => (await get(path).expect(200)).headers.etag ?? '';
    const tags = [await tag()];
    await post(`${path}/reactions`, { emoji: '👍' }).expect(201);
    tags.push(await tag());
    const reply = await posted(general, { thread_root_id: id });
    tags.push(await tag());
    await remove(`${general}/messages/${reply.id}`).expect(204);
    tags.push(await tag());
    expect(new Set(tags).size).toBe(4);
    const [first = '', , , last = ''] = tags;
    const edit = (body: string, read: string) =>
      put(path, { body }, ada.headers).set('If-Match', read);
    await edit('Edited', first).expect(200);
    await edit('Edited again', last).expect(412);
  });

  test('is deleted by its author or an owner of the channel, and keeps its place', async () => {
    const owner = user();
    const general = await channel({}, owner.headers);
    const ada = user();
    const first = await posted(general, {}, ada.headers);
    const second = await posted(general, {}, ada.headers);
    await remove(`${general}/messages/${first.id}`, user().headers).expect(403);
    await remove(`${general}/messages/${first.id}`, owner.headers).expect(204);
    await get(`${general}/messages/${first.id}`).expect(404);
    const { body } = await get(`${general}/messages`);
    expect(body).toMatchObject({ data: [{ id: second.id, position: 2 }], meta: { total: 1 } });
    await post(`${general}/messages/${first.id}/restore`, {}, ada.headers).expect(200);
    expect((await get(`${general}/messages`)).body.meta.total).toBe(2);
    expect(await posted(general)).toMatchObject({ position: 3 });
  });

  test('is not restored in a channel that is deleted as empty at the same moment', async () => {
    const general = await channel();
    const { id } = await posted(general);
    await remove(`${general}/messages/${id}`).expect(204);
    const answers = await collide<{ status: number }>(
      crm().context.pool,
      // Every change of a channel adds an event to the feed.
      {
        text: 'SELECT FROM tenant_crm.chat_feeds WHERE tenant_id = $1 FOR UPDATE',
        values: [tenant().id],
      },
      [() => remove(general), () => post(`${general}/messages/${id}/restore`)],
    );
    expect(answers.map(({ status }) => status)).toEqual([204, 404]);
    await post(`${general}/restore`).expect(200);
    expect((await get(`${general}/messages`)).body.meta.total).toBe(0);
  });

  test('begins a thread whose replies it counts', async () => {
    const general = await channel();
    const root = await posted(general);
    const reply = await posted(general, { thread_root_id: root.id });
    const later = await posted(general, { thread_root_id: root.id });
    const counted = async () => (await get(`${general}/messages/${root.id}`)).body.data;
    expect(await counted()).toMatchObject({ reply_count: 2, last_reply_at: expect.any(String) });
    await remove(`${general}/messages/${later.id}`).expect(204);
    const { created_at } = (await get(`${general}/messages/${reply.id}`)).body.data;
    expect(await counted()).toMatchObject({ reply_count: 1, last_reply_at: created_at });
    await post(`${general}/messages/${later.id}/restore`).expect(200);
    expect(await counted()).toMatchObject({ reply_count: 2 });
    const listed = async (query: string) =>
      positions((await get(`${general}/messages?${query}`).expect(200)).body.data);
    expect(await listed(`thread_root_id=${root.id}`)).toEqual([3, 2]);
    expect(await listed('is_reply=false')).toEqual([1]);
    expect(await listed('is_reply=true')).toEqual([3, 2]);
  });

  test.each([
    ['deleted', (reply: string) => remove(reply).expect(204)],
    ['restored', (reply: string) => post(`${reply}/restore`).expect(200)],
  ])(
    'has the time of its last reply, also if one is %s while another is posted',
    async (change, act) => {
      const general = await channel();
      const root = await posted(general);
      const { id } = await posted(general, { thread_root_id: root.id });
      const reply = `${general}/messages/${id}`;
      if (change === 'restored') await remove(reply).expect(204);
      const { pool, config } = crm().context;
      const other = new pg.Client({ connectionString: config.database.directUrl });
      await other.connect();
      const postedAt = new Date(Date.now() + 60_000);
      try {
        await other.query('BEGIN');
        await other.query(
          `UPDATE tenant_crm.messages SET reply_count = reply_count + 1, last_reply_at = $3
         WHERE tenant_id = $1 AND id = $2`,
          [tenant().id, root.id, postedAt],
        );
        await other.query(
          `INSERT INTO tenant_crm.messages
           (tenant_id, id, channel_id, position, author_type, client_id, body, thread_root_id, created_at)
         VALUES ($1, gen_random_uuid(), $2, 100, 'client', 'other', 'Hello', $3, $4)`,
          [tenant().id, general.split('/').at(-1), root.id, postedAt],
        );
        const acted = act(reply).then(() => undefined);
        await until(async () => (await countLockWaits(pool)) > 0);
        await other.query('COMMIT');
        await acted;
      } finally {
        await other.end();
      }
      const { last_reply_at: last } = (await get(`${general}/messages/${root.id}`)).body.data;
      expect(last).toBe(postedAt.toISOString());
    },
  );

  test('does not begin a thread as a reply, or in another channel', async () => {
    const [general, other] = [await channel(), await channel()];
    const root = await posted(general);
    const reply = await posted(general, { thread_root_id: root.id });
    for (const [path, thread_root_id] of [
      [general, reply.id],
      [other, root.id],
    ]) {
      const { body } = await post(`${path}/messages`, { body: 'x', thread_root_id }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['thread_root_id']);
    }
  });
});

test('Every change of a channel is an event, numbered in the order of the commits', async () => {
  const ada = user();
  const general = await channel({}, ada.headers);
  const { id } = await posted(general, {}, ada.headers);
  await put(`${general}/messages/${id}`, { body: 'Edited' }, ada.headers).expect(200);
  await remove(`${general}/messages/${id}`, ada.headers).expect(204);
  await put(general, { topic: 'New' }, ada.headers).expect(200);
  const { rows } = await crm().context.pool.query(
    'SELECT number::int, type, payload FROM tenant_crm.chat_events WHERE channel_id = $1 ORDER BY number',
    [general.split('/').at(-1)],
  );
  const message = { message_id: id, position: 1, thread_root_id: null };
  expect(rows).toEqual([
    { number: 1, type: 'channel.created', payload: {} },
    { number: 2, type: 'participant.added', payload: { user_id: ada.id } },
    { number: 3, type: 'message.created', payload: message },
    { number: 4, type: 'message.updated', payload: message },
    { number: 5, type: 'message.deleted', payload: message },
    { number: 6, type: 'channel.updated', payload: {} },
  ]);
});
