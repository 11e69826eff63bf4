import { chatTenant } from '../../testing/chat.ts';
import { canonicalEmoji } from './emoji.ts';

const { client, colleague, crm, get, post, remove, user, channel } = chatTenant();

/** The path of a new message. */
const message = async (headers = {}, owner = {}): Promise<string> => {
  const general = await channel({}, owner);
  const { body } = await post(`${general}/messages`, { body: 'Hello' }, headers).expect(201);
  return `${general}/messages/${body.data.id}`;
};

test('Users react once with each emoji, and remove their own reactions', async () => {
  const path = await message();
  const [ada, bob] = [user(), user()];
  for (const [by, emoji] of [
    [ada, '👍'],
    [bob, '👍'],
    [bob, '👍'],
    [ada, '👩‍👩‍👧'],
  ] as const) {
    await post(`${path}/reactions`, { emoji }, by.headers).expect(201);
  }
  const reactions = async (by: typeof ada) => (await get(path, by.headers)).body.data.reactions;
  expect(await reactions(ada)).toEqual([
    { emoji: '👍', count: 2, is_own: true },
    { emoji: '👩‍👩‍👧', count: 1, is_own: true },
  ]);
  expect((await reactions(bob))[1]).toEqual({ emoji: '👩‍👩‍👧', count: 1, is_own: false });
  const { body } = await get(`${path}/reactions?per_page=2`).expect(200);
  expect(body).toMatchObject({
    data: [
      { emoji: '👍', user_id: ada.id },
      { emoji: '👍', user_id: bob.id },
    ],
    meta: { total: 3, last_page: 2 },
  });
  const thumb = `${path}/reactions/${encodeURIComponent('👍')}`;
  await remove(thumb, ada.headers).expect(204);
  await remove(thumb, ada.headers).expect(404);
  expect(await reactions(ada)).toEqual([
    { emoji: '👍', count: 1, is_own: false },
    { emoji: '👩‍👩‍👧', count: 1, is_own: true },
  ]);
  const { body: list } = await get(path.slice(0, path.lastIndexOf('/')));
  expect(list.data[0].reactions).toHaveLength(2);
});

test('A reaction gives the message another entity tag and is an event, a repeated one is neither', async () => {
  const path = await message();
  const before = (await get(path)).headers.etag as string;
  const ada = user();
  await post(`${path}/reactions`, { emoji: '🎉' }, ada.headers).expect(201);
  const after = (await get(path)).headers.etag as string;
  expect(after).not.toBe(before);
  await post(`${path}/reactions`, { emoji: '🎉' }, ada.headers).expect(201);
  expect((await get(path)).headers.etag).toBe(after);
  const { rows } = await crm().context.pool.query(
    "SELECT payload FROM tenant_crm.chat_events WHERE type = 'reaction.added' AND payload ->> 'user_id' = $1",
    [ada.id],
  );
  const message_id = path.split('/').at(-1);
  expect(rows).toEqual([{ payload: { message_id, position: 1, emoji: '🎉', user_id: ada.id } }]);
});

test('Any emoji is one, in one spelling, and nothing else is', async () => {
  for (const emoji of ['👍', '👍🏽', '❤️', '🇭🇺', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👨‍👩‍👧‍👦', '🧑🏿‍🚀']) {
    expect([emoji, canonicalEmoji(emoji)]).toEqual([emoji, emoji]);
  }
  expect(canonicalEmoji('❤')).toBe('❤️');
  const path = await message();
  for (const emoji of ['', ' ', 'a', '1', ':+1:', '👍👍', '👍 ', '<b>', 7]) {
    const { body } = await post(`${path}/reactions`, { emoji }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['emoji']);
  }
  await post(`${path}/reactions`, { emoji: '❤' }).expect(201);
  await remove(`${path}/reactions/${encodeURIComponent('❤️')}`).expect(204);
  await remove(`${path}/reactions/x`).expect(404);
});

test('A client has no reactions', async () => {
  const owner = colleague();
  const path = await message(owner, owner);
  const { body } = await post(`${path}/reactions`, { emoji: '👍' }, client('pipeline')).expect(403);
  expect(body.error).toBe('user_required');
});

test('Messages are pinned and unpinned, once each', async () => {
  const ada = user();
  const path = await message();
  await post(path.slice(0, path.lastIndexOf('/')), { body: 'Not pinned' }).expect(201);
  const { body } = await post(`${path}/pin`, {}, ada.headers).expect(200);
  expect(body.data).toMatchObject({ pinned_at: expect.any(String), pinned_by: ada.id });
  const { body: again } = await post(`${path}/pin`).expect(200);
  expect(again.data).toEqual({ ...body.data });
  const list = path.slice(0, path.lastIndexOf('/'));
  expect((await get(`${list}?is_pinned=true`)).body).toMatchObject({
    data: [{ id: body.data.id }],
    meta: { total: 1 },
  });
  const { body: unpinned } = await post(`${path}/unpin`).expect(200);
  expect(unpinned.data).toMatchObject({ pinned_at: null, pinned_by: null });
  expect((await get(`${list}?is_pinned=true`)).body.data).toEqual([]);
});

test('A reaction is not repeated by its key after the channel is hidden from the caller', async () => {
  const [ann, bob] = [user(), user()];
  const own = await channel({ kind: 'private' }, ann.headers);
  await post(`${own}/participants`, { user_id: bob.id }, ann.headers).expect(201);
  const { body } = await post(`${own}/messages`, { body: 'Hello' }, ann.headers).expect(201);
  const keyed = Object.assign({ 'Idempotency-Key': bob.id }, bob.headers);
  const react = () => post(`${own}/messages/${body.data.id}/reactions`, { emoji: '👍' }, keyed);
  await react().expect(201);
  expect((await react().expect(201)).headers['idempotent-replayed']).toBe('true');
  await remove(`${own}/participants/${bob.id}`, ann.headers).expect(204);
  await react().expect(404);
});
