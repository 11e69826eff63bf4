import { randomUUID } from 'node:crypto';
import { chatTenant } from '../../testing/chat.ts';

const { channels, crm, get, post, put, remove, user, channel } = chatTenant();

const secret = (friend: string) => `The password is 1234, <@${friend}>`;

const mentionsOf = async (userId: string): Promise<number[]> => {
  const { rows } = await crm().context.pool.query<{ position: number }>(
    'SELECT position FROM tenant_crm.message_mentions WHERE user_id = $1 ORDER BY position',
    [userId],
  );
  return rows.map(({ position }) => Number(position));
};

test('Authors recall a message, and then its text is nowhere, nor whom it mentioned', async () => {
  const general = await channel();
  const ada = user();
  const friend = randomUUID();
  const { body } = await post(`${general}/messages`, { body: secret(friend) }, ada.headers);
  const path = `${general}/messages/${body.data.id}`;
  await put(path, { body: `${secret(friend)}5` }, ada.headers).expect(200);
  await post(`${path}/pin`).expect(200);
  expect(await mentionsOf(friend)).toEqual([1]);
  expect((await post(`${path}/recall`).expect(403)).body.error).toBe('not_the_author');
  const { body: recalled } = await post(`${path}/recall`, {}, ada.headers).expect(200);
  expect(recalled.data).toMatchObject({
    body: null,
    mentions: [],
    recalled_at: expect.any(String),
    pinned_at: null,
  });
  expect(await mentionsOf(friend)).toEqual([]);
  for (const shown of [await get(`${path}/history`), await get(`${general}/messages`)]) {
    expect(shown.text).not.toContain('1234');
    expect(shown.text).not.toContain(friend);
  }
  const kept = await crm().context.pool.query(
    "SELECT count(*)::int AS count FROM tenant_crm.record_changes WHERE changes::text LIKE '%1234%'",
  );
  expect(kept.rows).toEqual([{ count: 0 }]);
  for (const request of [
    post(`${path}/recall`, {}, ada.headers),
    put(path, { body: 'Again' }, ada.headers),
    post(`${path}/pin`),
    post(`${path}/reactions`, { emoji: '👍' }),
  ]) {
    await request.expect(409);
  }
});

test('A request that posted a message, when repeated after the recall, does not show its text', async () => {
  const general = await channel();
  const friend = randomUUID();
  const repeated = () =>
    post(`${general}/messages`, { body: secret(friend) }, { 'Idempotency-Key': friend });
  const { body } = await repeated().expect(201);
  await post(`${general}/messages/${body.data.id}/recall`).expect(200);
  const again = await repeated().expect(201);
  expect(again.body.data).toMatchObject({ id: body.data.id, body: null, mentions: [] });
  const kept = await crm().context.pool.query(
    "SELECT key FROM tenant_crm.idempotency_keys WHERE body::text LIKE '%1234%'",
  );
  expect(kept.rows).toEqual([]);
});

test('A request that found a direct channel does not keep what was said there', async () => {
  const [ada, bob] = [user(), user()];
  const headers = Object.assign({ 'Idempotency-Key': randomUUID() }, ada.headers);
  const direct = { kind: 'direct', user_ids: [bob.id] };
  const { id } = (await post(channels, direct, ada.headers).expect(201)).body.data;
  const messages = `${channels}/${id}/messages`;
  const { body: said } = await post(messages, { body: secret(ada.id) }, bob.headers).expect(201);
  const found = await post(channels, direct, headers).expect(200);
  expect(found.body.data).toMatchObject({ id, unread_count: 1 });
  await post(`${messages}/${said.data.id}/recall`, {}, bob.headers).expect(200);
  const again = await post(channels, direct, headers).expect(200);
  expect(again.body.data.id).toBe(id);
  expect(again.text).not.toContain('1234');
  const kept = await crm().context.pool.query(
    "SELECT key FROM tenant_crm.idempotency_keys WHERE body::text LIKE '%1234%'",
  );
  expect(kept.rows).toEqual([]);
});

test('What a deleted message said is shown to its author and to owners of the channel', async () => {
  const [owner, ada, eve] = [user(), user(), user()];
  const general = await channel({}, owner.headers);
  const { body } = await post(`${general}/messages`, { body: 'First' }, ada.headers).expect(201);
  const path = `${general}/messages/${body.data.id}`;
  await put(path, { body: 'Second' }, ada.headers).expect(200);
  await get(`${path}/history`, eve.headers).expect(200);
  await remove(path, ada.headers).expect(204);
  for (const { headers } of [owner, ada]) {
    expect((await get(`${path}/history`, headers).expect(200)).text).toContain('First');
  }
  await get(`${path}/history`, eve.headers).expect(403);
});

test('A message is recalled only within the time that the tenant has set', async () => {
  const general = await channel();
  const sent = async () => {
    const { body } = await post(`${general}/messages`, { body: 'Hello' }).expect(201);
    return `${general}/messages/${body.data.id}`;
  };
  const age = (path: string, minutes: number) =>
    crm().context.pool.query(
      'UPDATE tenant_crm.messages SET created_at = now() - make_interval(mins => $2) WHERE id = $1',
      [path.split('/').at(-1), minutes],
    );
  const [young, old] = [await sent(), await sent()];
  await age(young, 14);
  await age(old, 15);
  await post(`${young}/recall`).expect(200);
  expect((await post(`${old}/recall`).expect(409)).body.error).toBe('recall_expired');
  await put('/api/crm/settings', { message_recall_minutes: 60 }).expect(200);
  await post(`${old}/recall`).expect(200);
  await put('/api/crm/settings', { message_recall_minutes: 0 }).expect(200);
  await post(`${await sent()}/recall`).expect(409);
});

test('Mentions follow edits, deletion and restoration', async () => {
  const general = await channel();
  const [ada, bob] = [randomUUID(), randomUUID()];
  const { body } = await post(`${general}/messages`, { body: `<@${ada}>` }).expect(201);
  const path = `${general}/messages/${body.data.id}`;
  await put(path, { body: `<@${bob}>` }).expect(200);
  expect([await mentionsOf(ada), await mentionsOf(bob)]).toEqual([[], [1]]);
  await remove(path).expect(204);
  expect(await mentionsOf(bob)).toEqual([]);
  await post(`${path}/restore`).expect(200);
  expect(await mentionsOf(bob)).toEqual([1]);
});
