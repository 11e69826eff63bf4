import { randomUUID } from 'node:crypto';
import { createBot } from '../../../testing/bots.ts';
import { chatTenant } from '../../../testing/chat.ts';
import { openStream } from '../../../testing/streams.ts';

const tenant = chatTenant();
const { crm, get, post, put, remove, user, channel } = tenant;

const idOf = (path: string): string => path.split('/').at(-1) ?? '';
const bot = (...channels: string[]) => createBot(tenant, ...channels);

test('A bot learns who it is and where it can post', async () => {
  const owner = user();
  const [zoo, abc, other, gone] = [
    await channel({ name: 'Zoo', topic: 'Animals' }),
    await channel({ name: 'Abc', kind: 'private' }),
    await channel({ name: 'Other' }, owner.headers),
    await channel({ name: 'Gone' }),
  ];
  const builds = await bot(zoo, abc, gone);
  await remove(gone).expect(204);
  const { body } = await builds.get().expect(200);
  expect(body.data).toEqual({
    id: builds.id,
    name: 'Builds',
    description: null,
    channels: [
      { id: idOf(abc), kind: 'private', name: 'Abc', topic: null },
      { id: idOf(zoo), kind: 'public', name: 'Zoo', topic: 'Animals' },
    ],
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(JSON.stringify(body)).not.toContain(idOf(other));
});

test('A message of a bot appears in the channel and in its streams, with mentions', async () => {
  const ada = user();
  const general = await channel({}, ada.headers);
  const builds = await bot(general);
  const stream = await openStream(`${crm().url}${general}/stream`, ada.headers);
  const posted = await builds.post({ body: `Build 7 failed, <@${ada.id}>` }).expect(201);
  expect(posted.body.data).toMatchObject({
    channel_id: idOf(general),
    author_type: 'bot',
    bot_id: builds.id,
    user_id: null,
    client_id: null,
    body: `Build 7 failed, <@${ada.id}>`,
    mentions: [ada.id],
    file: null,
  });
  const { data } = await stream.next('message.created');
  expect(data.message).toMatchObject({ id: posted.body.data.id, bot_id: builds.id });
  stream.close();
  const shown = await get(`${general}/messages/${posted.body.data.id}`).expect(200);
  expect(shown.body.data.bot_id).toBe(builds.id);
  expect(posted.headers.location).toBe(`/api/crm/webhooks/bot/messages/${posted.body.data.id}`);
  const { body: history } = await get(`${general}/messages/${posted.body.data.id}/history`);
  expect(history.data[0]).toMatchObject({
    action: 'create',
    actor_type: 'bot',
    user_id: null,
    token_id: builds.id,
  });
  const { body: participants } = await get(`${general}/participants`);
  expect(participants.data.map(({ user_id }: { user_id: string }) => user_id)).toEqual([ada.id]);
});

test('A bot replies in threads of its channels', async () => {
  const general = await channel();
  const builds = await bot(general);
  const { body: root } = await post(`${general}/messages`, { body: 'Deploy?' }).expect(201);
  const reply = { body: 'Done', thread_root_id: root.data.id };
  const { body } = await builds.post(reply).expect(201);
  expect(body.data.thread_root_id).toBe(root.data.id);
  expect((await get(`${general}/messages/${root.data.id}`)).body.data.reply_count).toBe(1);
  const elsewhere = await channel({ name: 'Elsewhere' });
  const { body: foreign } = await post(`${elsewhere}/messages`, { body: 'Hi' }).expect(201);
  const refused = await builds.post({ body: 'Done', thread_root_id: foreign.data.id });
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['thread_root_id']]);
});

test('A message of a bot may have a file, whose request can be repeated by its key', async () => {
  const general = await channel({ kind: 'private' });
  const builds = await bot(general);
  const upload = () =>
    crm()
      .http.post('/api/crm/webhooks/bot/upload')
      .set({ 'x-bot-token': builds.token, 'Idempotency-Key': builds.id })
      .field('body', 'The log')
      .attach('file', Buffer.from('all green'), '../build.txt');
  const first = await upload().expect(201);
  expect(first.body.data).toMatchObject({ body: 'The log', bot_id: builds.id, file: { size: 9 } });
  expect(first.body.data.file.name).not.toContain('/');
  const second = await upload().expect(201);
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.body).toEqual(first.body);
  const { body } = await get(`${general}/messages`);
  expect(body.meta.total).toBe(1);
  const { text } = await get(`${general}/messages/${first.body.data.id}/file`).buffer();
  expect(text).toBe('all green');
});

test('A request is repeated by its key; the keys of other bots are separate', async () => {
  const general = await channel();
  const [one, other] = [await bot(general), await bot(general)];
  const key = { 'Idempotency-Key': randomUUID() };
  const first = await one.post({ body: 'Once' }, '', key).expect(201);
  const second = await one.post({ body: 'Once' }, '', key).expect(201);
  expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
  await one.post({ body: 'Changed' }, '', key).expect(422);
  const another = await other.post({ body: 'Once' }, '', key).expect(201);
  expect(another.body.data.id).not.toBe(first.body.data.id);
});

test('A request is not repeated after the bot was removed from the channel', async () => {
  const general = await channel({ kind: 'private' });
  const builds = await bot(general);
  const key = { 'Idempotency-Key': randomUUID() };
  const upload = () =>
    crm()
      .http.post('/api/crm/webhooks/bot/upload')
      .set({ 'x-bot-token': builds.token, 'Idempotency-Key': builds.id })
      .attach('file', Buffer.from('all green'), 'build.txt');
  await builds.post({ body: 'Once' }, '', key).expect(201);
  await upload().expect(201);
  await remove(`${general}/bots/${builds.id}`).expect(204);
  await builds.post({ body: 'Once' }, '', key).expect(404);
  await upload().expect(404);
});

describe('The channel of a message', () => {
  const problemOf = async (request: ReturnType<typeof post>) => {
    const { status, body } = await request;
    return [status, body.errors];
  };

  test('must be named if the bot was added to several channels', async () => {
    const [general, random] = [await channel(), await channel({ name: 'Random' })];
    const builds = await bot(general, random);
    const problem = 'channel_id is required, because the bot was added to several channels';
    expect(await problemOf(builds.post({ body: 'Hi' }))).toEqual([422, { channel_id: [problem] }]);
    const { body } = await builds.post({ body: 'Hi', channel_id: idOf(random) }).expect(201);
    expect(body.data.channel_id).toBe(idOf(random));
  });

  test('must be one that the bot was added to, and is not deleted', async () => {
    const [general, other] = [await channel(), await channel({ name: 'Other' })];
    const builds = await bot(general);
    const problem = 'channel_id must be the id of a channel that the bot was added to';
    for (const channel_id of [idOf(other), randomUUID()]) {
      const refused = builds.post({ body: 'Hi', channel_id });
      expect(await problemOf(refused)).toEqual([422, { channel_id: [problem] }]);
    }
    await remove(`${general}/bots/${builds.id}`).expect(204);
    const none = 'channel_id is missing, and the bot was not added to any channel';
    expect(await problemOf(builds.post({ body: 'Hi' }))).toEqual([422, { channel_id: [none] }]);
    await post(`${general}/bots`, { bot_id: builds.id }).expect(201);
    await builds.post({ body: 'Hi' }).expect(201);
    await remove(`${general}?force=true`).expect(204);
    const channel_id = idOf(general);
    const deleted = builds.post({ body: 'Hi', channel_id });
    expect(await problemOf(deleted)).toEqual([422, { channel_id: [problem] }]);
  });
});

describe('A bot', () => {
  test('edits and deletes its own messages, and no others', async () => {
    const general = await channel();
    const [builds, other] = [await bot(general), await bot(general)];
    const { body, headers } = await builds.post({ body: 'Running' }).expect(201);
    const own = `/messages/${body.data.id}`;
    expect((await builds.get(own).expect(200)).headers.etag).toBe(headers.etag);
    const changed = await builds.put(own, { body: 'Passed' }).expect(200);
    expect(changed.body.data).toMatchObject({ body: 'Passed', edited_at: expect.any(String) });
    await builds.put(own, { body: 'Late' }).set('If-Match', '"1"').expect(412);
    const { body: foreign } = await post(`${general}/messages`, { body: 'Mine' }).expect(201);
    for (const [who, path] of [
      [other, own],
      [builds, `/messages/${foreign.data.id}`],
      [builds, `/messages/${randomUUID()}`],
    ] as const) {
      await who.get(path).expect(404);
      await who.put(path, { body: 'Taken' }).expect(404);
      await who.remove(path).expect(404);
      await who.post({}, `${path}/recall`).expect(404);
    }
    const byUser = await put(`${general}${own}`, { body: 'Taken' }).expect(403);
    expect(byUser.body.error).toBe('not_the_author');
    await builds.remove(own).expect(204);
    await builds.get(own).expect(404);
    await get(`${general}${own}`).expect(404);
  });

  test('recalls a message once, and cannot edit it afterwards', async () => {
    const general = await channel();
    const builds = await bot(general);
    const { body } = await builds.post({ body: 'The password is 1234' }).expect(201);
    const own = `/messages/${body.data.id}`;
    const { body: recalled } = await builds.post({}, `${own}/recall`).expect(200);
    expect(recalled.data).toMatchObject({ body: null, recalled_at: expect.any(String) });
    expect((await get(`${general}/messages`)).text).not.toContain('1234');
    await builds.put(own, { body: 'Again' }).expect(409);
    await builds.post({}, `${own}/recall`).expect(409);
    await builds.post({ body: 'Hi', thread_root_id: body.data.id }).expect(201);
  });

  test('that was removed from the channel cannot see or change its messages there', async () => {
    const general = await channel();
    const builds = await bot(general);
    const { body } = await builds.post({ body: 'Running' }).expect(201);
    const own = `/messages/${body.data.id}`;
    await remove(`${general}/bots/${builds.id}`).expect(204);
    await builds.get(own).expect(404);
    await builds.put(own, { body: 'Passed' }).expect(404);
    await builds.remove(own).expect(404);
  });
});
