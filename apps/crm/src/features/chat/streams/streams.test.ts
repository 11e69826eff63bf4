import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { chatTenant } from '../../../testing/chat.ts';
import { startCrm, type TestCrm } from '../../../testing/crm.ts';
import { countLockWaits } from '../../../testing/lock-waits.ts';
import { openStream, type ReceivedStream } from '../../../testing/streams.ts';
import { deleteExpiredEvents } from './expired-events.ts';

const { caller, crm, tenant, user, channel, get, post, put, remove } = chatTenant();

/** A second replica on the same database, which authenticates callers at the same identity. */
let other: TestCrm;
beforeAll(async () => {
  const { database, identity } = crm().context.config;
  other = await startCrm({ DATABASE_URL: database.url, IDENTITY_URL: identity.url });
});
afterAll(() => other.stop());

type Headers = Readonly<Record<string, string>>;

const streamOf = (path: string, headers: Headers, lastId?: string, replica: TestCrm = crm()) =>
  openStream(`${replica.url}${path}`, {
    ...headers,
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  });

const chat = '/api/crm/chat/stream';
const say = (path: string, body: string, headers: Headers) =>
  post(`${path}/messages`, { body }, headers).expect(201);
const bodiesOf = (
  events: readonly { readonly event: string; readonly data: { message?: { body: string } } }[],
) =>
  events.filter(({ event }) => event === 'message.created').map(({ data }) => data.message?.body);

test('Messages reach the streams of the channel at every replica, with the message itself', async () => {
  const ada = user();
  const path = await channel({}, ada.headers);
  const here = await streamOf(`${path}/stream`, ada.headers);
  const there = await streamOf(`${path}/stream`, ada.headers, undefined, other);
  expect([here.names(), there.names()]).toEqual([['ready'], ['ready']]);
  const { body } = await say(path, 'Hello', ada.headers);
  const { reactions, ...plain } = body.data;
  expect(reactions).toEqual([]);
  for (const stream of [here, there]) {
    const { data } = await stream.next('message.created');
    expect(data).toEqual({
      channel_id: path.split('/').at(-1),
      message_id: body.data.id,
      position: 1,
      thread_root_id: null,
      message: plain,
    });
    stream.close();
  }
});

test('A stream that continues after any event gets exactly the later ones, while others write', async () => {
  const [ada, bob] = [user(), user()];
  const paths = [await channel({}, ada.headers), await channel({}, ada.headers)];
  const live = await streamOf(chat, ada.headers);
  for (const path of paths) await say(path, 'first', bob.headers);
  const writers = paths.map(async (path, index) => {
    for (let n = 0; n < 15; n += 1) await say(path, `${index}.${n}`, bob.headers);
  });
  const resumed: { readonly after: string; readonly stream: ReceivedStream }[] = [];
  for (let n = 0; n < 6; n += 1) {
    await until(() => live.events.length > n * 3 + 2);
    const after = live.events[n * 2]?.id as string;
    const stream = await streamOf(chat, ada.headers, after, n % 2 === 0 ? other : crm());
    resumed.push({ after, stream });
  }
  await Promise.all(writers);
  const [last] = (await say(paths[0] as string, 'last', bob.headers).then(({ body }) => [
    body.data.body,
  ])) as [string];
  const isComplete = (stream: typeof live) => bodiesOf(stream.events).at(-1) === last;
  await until(() => isComplete(live) && resumed.every(({ stream }) => isComplete(stream)));
  const ids = live.events.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => Number(a) - Number(b)));
  expect(new Set(ids).size).toBe(ids.length);
  for (const { after, stream } of resumed) {
    expect(stream.events).toEqual(live.events.slice(ids.indexOf(after) + 1));
    stream.close();
  }
  live.close();
});

test('A stream that continues gets the deletion of a channel meanwhile', async () => {
  const ada = user();
  const path = await channel({}, ada.headers);
  const before = await streamOf(chat, ada.headers);
  const lastId = before.events.at(-1)?.id as string;
  before.close();
  await remove(path, ada.headers).expect(204);
  const stream = await streamOf(chat, ada.headers, lastId);
  const { data } = await stream.next('channel.deleted');
  expect(data).toEqual({ channel_id: path.split('/').at(-1) });
  stream.close();
});

test('An event whose transaction commits late is neither lost nor sent twice', async () => {
  const ada = user();
  const [one, two] = [await channel({}, ada.headers), await channel({}, ada.headers)];
  const stream = await streamOf(chat, ada.headers);
  const { database } = crm().context;
  const client = await database.pool.connect();
  await client.query('BEGIN');
  // Holds the feed as a slow transaction does.
  await client.query('SELECT FROM tenant_crm.chat_feeds WHERE tenant_id = $1 FOR UPDATE', [
    tenant().id,
  ]);
  const waiting = Promise.all([say(one, 'one', ada.headers), say(two, 'two', ada.headers)]);
  await until(async () => (await countLockWaits(database.pool)) === 2);
  expect(stream.names()).toEqual(['ready']);
  await client.query('COMMIT');
  client.release();
  await waiting;
  await until(() => stream.names().length === 3);
  const again = await streamOf(chat, ada.headers, stream.events[1]?.id);
  await until(() => again.events.length === 1);
  expect(again.events).toEqual(stream.events.slice(2));
  stream.close();
  again.close();
});

test('A stream with an id that is not kept, or not known, begins anew with reset', async () => {
  const ada = user();
  const path = await channel({}, ada.headers);
  await say(path, 'old', ada.headers);
  const { pool } = crm().context;
  const first = await streamOf(`${path}/stream`, ada.headers, '0');
  await first.next('message.created');
  expect(bodiesOf(first.events)).toEqual(['old']);
  const id = path.split('/').at(-1);
  await pool.query(
    "UPDATE tenant_crm.chat_events SET created_at = now() - interval '25 hours' WHERE channel_id = $1",
    [id],
  );
  expect(await deleteExpiredEvents(pool)).toBeGreaterThan(0);
  const { body } = await say(path, 'new', ada.headers);
  for (const address of [`${path}/stream`, chat]) {
    for (const lastId of ['0', '999999', 'nonsense', '1'.repeat(300)]) {
      const stream = await streamOf(address, ada.headers, lastId);
      await stream.next('reset');
      expect(stream.names()).toEqual(['reset']);
      const next = await streamOf(address, ada.headers, stream.events[0]?.id);
      await say(path, 'next', ada.headers);
      await next.next('message.created');
      expect(bodiesOf(next.events)).not.toContain(body.data.body);
      stream.close();
      next.close();
    }
  }
  first.close();
});

test('The stream of all channels gets those that the caller joins, and no others', async () => {
  const [ada, bob] = [user(), user()];
  const stream = await streamOf(chat, bob.headers);
  const hidden = await channel({ kind: 'private', name: 'Board' }, ada.headers);
  const open = await channel({}, ada.headers);
  await say(hidden, 'secret', ada.headers);
  const own = await channel({}, bob.headers);
  await say(open, 'before', ada.headers);
  // A stream reads events in their order: with this one, Bob's has also read the earlier ones.
  await say(own, 'mine', bob.headers);
  await until(() => bodiesOf(stream.events).length === 1);
  await post(`${open}/participants`, { user_id: bob.id }, ada.headers).expect(201);
  await say(open, 'after', ada.headers);
  const direct = await channel(
    { kind: 'direct', name: undefined, user_ids: [bob.id] },
    ada.headers,
  );
  await say(direct, 'just you', ada.headers);
  await until(() => bodiesOf(stream.events).length === 3);
  expect(bodiesOf(stream.events)).toEqual(['mine', 'after', 'just you']);
  await remove(`${open}/participants/${bob.id}`, ada.headers).expect(204);
  await stream.next('participant.removed');
  await say(open, 'too late', ada.headers);
  await say(direct, 'still here', ada.headers);
  await until(() => bodiesOf(stream.events).length === 4);
  expect(bodiesOf(stream.events)).toEqual(['mine', 'after', 'just you', 'still here']);
  stream.close();
});

test('The stream of a channel ends when the caller is removed from it, or it is deleted', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ kind: 'private', user_ids: [bob.id] }, ada.headers);
  const [own, removed] = [
    await streamOf(`${path}/stream`, ada.headers),
    await streamOf(`${path}/stream`, bob.headers, undefined, other),
  ];
  await remove(`${path}/participants/${bob.id}`, ada.headers).expect(204);
  await until(() => removed.hasEnded());
  expect(removed.events.at(-1)).toMatchObject({
    event: 'closed',
    data: { error: 'removed_from_channel' },
  });
  expect((await streamOf(`${path}/stream`, bob.headers)).status).toBe(404);
  await remove(path, ada.headers).expect(204);
  await until(() => own.hasEnded());
  expect(own.events.at(-1)).toMatchObject({ event: 'closed', data: { error: 'not_found' } });
});

test('A private channel has no stream for those who do not participate in it', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ kind: 'private' }, ada.headers);
  expect((await streamOf(`${path}/stream`, bob.headers)).status).toBe(404);
});

test('Typing reaches the other users of the channel at every replica, and is not stored', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ user_ids: [bob.id] }, ada.headers);
  const there = await streamOf(chat, bob.headers, undefined, other);
  const own = await streamOf(chat, ada.headers);
  const position = there.events[0]?.id;
  await post(`${path}/typing`, {}, ada.headers).expect(204);
  const { data, id } = await there.next('typing');
  expect([data, id]).toEqual([{ channel_id: path.split('/').at(-1), user_id: ada.id }, undefined]);
  const again = await streamOf(chat, bob.headers, undefined, other);
  expect(again.events[0]?.id).toBe(position);
  expect(own.names()).not.toContain('typing');
  for (const stream of [there, own, again]) stream.close();
});

test('Users are online while they have a stream at any replica', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ user_ids: [bob.id] }, ada.headers);
  const own = await streamOf(chat, ada.headers);
  const online = async () =>
    (await get(`${path}/presence`, ada.headers).expect(200)).body.data.online;
  await until(async () => (await online()).length === 1);
  const there = await streamOf(chat, bob.headers, undefined, other);
  expect((await own.next('presence')).data).toEqual({ user_id: bob.id, status: 'online' });
  expect(await online()).toEqual([ada.id, bob.id].sort());
  there.close();
  await until(() => own.events.some(({ data }) => data.status === 'offline'));
  expect(await online()).toEqual([ada.id]);
  own.close();
});

test('The users of a replica that stops are offline, unless they reconnect to another one', async () => {
  const [ada, bob, eve] = [user(), user(), user()];
  const path = await channel({ user_ids: [bob.id, eve.id] }, ada.headers);
  const { database, identity } = crm().context.config;
  const stopped = await startCrm({ DATABASE_URL: database.url, IDENTITY_URL: identity.url });
  const own = await streamOf(chat, ada.headers);
  for (const { headers } of [bob, eve]) await streamOf(chat, headers, undefined, stopped);
  const presence = () =>
    own.events.flatMap(({ event, data }) => (event === 'presence' ? data : []));
  await until(() => presence().length === 2);
  const stopping = stopped.stop();
  // Not after it: a stop may take longer than users have to come back.
  const again = await streamOf(chat, eve.headers, undefined, other);
  await stopping;
  await until(() => presence().length === 3);
  expect(presence()[2]).toEqual({ user_id: bob.id, status: 'offline' });
  const { body } = await get(`${path}/presence`, ada.headers).expect(200);
  expect(body.data.online).toEqual([ada.id, eve.id].sort());
  for (const stream of [own, again]) stream.close();
});

test('Who is online is not sent to those who may not list participants', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ user_ids: [bob.id] }, ada.headers);
  const limited = caller({ lacking: ['chat.participants.list'] });
  const stream = await streamOf(`${path}/stream`, limited);
  const own = await streamOf(chat, ada.headers);
  const there = await streamOf(chat, bob.headers);
  await own.next('presence');
  await say(path, 'Hello', ada.headers);
  await stream.next('message.created');
  expect(stream.names()).not.toContain('presence');
  for (const one of [stream, own, there]) one.close();
});

test('Who joins and leaves a channel is not sent to those who may not list participants, except of themselves', async () => {
  const [ada, bob, id] = [user(), user(), randomUUID()];
  const path = await channel({ user_ids: [bob.id] }, ada.headers);
  const limited = caller({ id, lacking: ['chat.participants.list'] });
  const live = await streamOf(`${path}/stream`, limited);
  const witness = await streamOf(`${path}/stream`, ada.headers);
  await post(`${path}/participants`, { user_id: user().id }, ada.headers).expect(201);
  await put(`${path}/participants/${bob.id}`, { role: 'owner' }, ada.headers).expect(200);
  await remove(`${path}/participants/${bob.id}`, ada.headers).expect(204);
  await say(path, 'I join', limited);
  await live.next('message.created');
  const own = ['participant.added', 'message.created'];
  expect(live.names()).toEqual(['ready', ...own]);
  expect(live.events[1]?.data).toMatchObject({ user_id: id });
  await witness.next('message.created');
  const others = ['participant.added', 'participant.updated', 'participant.removed'];
  expect(witness.names()).toEqual(['ready', ...others, ...own]);
  const again = await streamOf(`${path}/stream`, limited, live.events[0]?.id);
  await again.next('message.created');
  expect(again.events).toEqual(live.events.slice(1));
  const all = await streamOf(`${path}/stream`, ada.headers, live.events[0]?.id);
  await all.next('message.created');
  expect(all.events).toEqual(witness.events.slice(1));
  for (const stream of [live, witness, again, all]) stream.close();
});

test('A stream that continues with much text gets all of it, in parts', async () => {
  const ada = user();
  const path = await channel({}, ada.headers);
  const before = await streamOf(chat, ada.headers);
  const lastId = before.events.at(-1)?.id as string;
  before.close();
  // Of three bytes each: more than 1 MiB in less than a page.
  const body = '語'.repeat(10_000);
  for (let n = 0; n < 40; n += 1) await say(path, body, ada.headers);
  const stream = await streamOf(chat, ada.headers, lastId);
  await until(() => bodiesOf(stream.events).length === 40);
  const ids = stream.events.map(({ id }) => Number(id));
  expect(ids).toEqual(Array.from(ids, (_, n) => (ids[0] ?? 0) + n));
  stream.close();
});

test('Unread messages and mentions are counted until they are read', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ user_ids: [bob.id] }, ada.headers);
  const unread = async (headers: Headers) =>
    (await get('/api/crm/chat/unread', headers).expect(200)).body.data[0];
  await say(path, 'Hello', ada.headers);
  const { body } = await say(path, `Hello <@${bob.id}>`, ada.headers);
  expect(await unread(bob.headers)).toMatchObject({
    read_position: 0,
    unread_count: 2,
    mention_count: 1,
  });
  expect(await unread(ada.headers)).toMatchObject({ read_position: 2, unread_count: 0 });
  await post(`${path}/read`, { position: 1 }, bob.headers).expect(200);
  expect(await unread(bob.headers)).toMatchObject({ unread_count: 1, mention_count: 1 });
  await put(`${path}/messages/${body.data.id}`, { body: 'Hello all' }, ada.headers).expect(200);
  expect(await unread(bob.headers)).toMatchObject({ unread_count: 1, mention_count: 0 });
  await put(`${path}/messages/${body.data.id}`, { body: `<@${bob.id}>` }, ada.headers).expect(200);
  const { body: read } = await post(`${path}/read`, {}, bob.headers).expect(200);
  expect(read.data).toMatchObject({ read_position: 2, unread_count: 0, mention_count: 0 });
  const { body: back } = await post(`${path}/read`, { position: 0 }, bob.headers).expect(200);
  expect(back.data.read_position).toBe(2);
});

test('A message that is deleted is no longer unread', async () => {
  const [ada, bob] = [user(), user()];
  const path = await channel({ user_ids: [bob.id] }, ada.headers);
  const unread = async () =>
    (await get('/api/crm/chat/unread', bob.headers).expect(200)).body.data[0].unread_count;
  const listed = async () => (await get(path, bob.headers).expect(200)).body.data.unread_count;
  const said = [];
  for (const body of ['First', 'Second', 'Third']) {
    said.push((await say(path, body, ada.headers)).body.data.id);
  }
  const drop = (id: string) => remove(`${path}/messages/${id}`, ada.headers).expect(204);
  await drop(said[2]);
  expect([await unread(), await listed()]).toEqual([2, 2]);
  await post(`${path}/read`, { position: 1 }, bob.headers).expect(200);
  await drop(said[0]);
  expect(await unread()).toBe(1);
  await drop(said[1]);
  expect([await unread(), await listed()]).toEqual([0, 0]);
  await post(`${path}/messages/${said[1]}/restore`, {}, ada.headers).expect(200);
  expect(await unread()).toBe(1);
  await say(path, 'Fourth', ada.headers);
  expect(await unread()).toBe(2);
});

test('Who may not view messages does not learn how many are unread', async () => {
  const limited = caller({ lacking: ['chat.messages.view'] });
  const { body } = await get('/api/crm/chat/unread', limited).expect(403);
  expect(body.required_permission).toMatch(/chat\.messages\.view$/);
  await get('/api/crm/chat/unread', caller({ lacking: ['chat.channels.list'] })).expect(200);
});

test('Whoever joins a channel has read what was written before', async () => {
  const [ada, bob, eve] = [user(), user(), user()];
  const path = await channel({}, ada.headers);
  await say(path, 'Hello', ada.headers);
  await post(`${path}/participants`, { user_id: bob.id }, ada.headers).expect(201);
  await say(path, 'I join by writing', eve.headers);
  const unread = async ({ headers }: { readonly headers: Headers }) =>
    (await get('/api/crm/chat/unread', headers).expect(200)).body.data[0].unread_count;
  expect([await unread(bob), await unread(eve)]).toEqual([1, 0]);
});

test('A channel cannot be marked as read by those who do not participate in it', async () => {
  const [ada, bob] = [user(), user()];
  await post(`${await channel({}, ada.headers)}/read`, {}, bob.headers).expect(409);
  await post(`${await channel({ kind: 'private' }, ada.headers)}/read`, {}, bob.headers).expect(
    404,
  );
});

test('The search finds messages of the channels that the caller participates in, and no others', async () => {
  const [ada, bob] = [user(), user()];
  const [own, foreign] = [
    await channel({ user_ids: [bob.id] }, ada.headers),
    await channel({ kind: 'private' }, ada.headers),
  ];
  await say(own, 'Árvíztűrő tükörfúrógép', ada.headers);
  await say(foreign, 'arvizturo secret', ada.headers);
  const found = async (search: string, headers: Headers) => {
    const { body } = await get(`/api/crm/chat/messages?search=${search}`, headers).expect(200);
    return body.data.map((message: { body: string }) => message.body);
  };
  expect(await found('arvizturo', bob.headers)).toEqual(['Árvíztűrő tükörfúrógép']);
  expect(await found('arvizturo', ada.headers)).toHaveLength(2);
  expect(await found('ű', bob.headers)).toHaveLength(1);
  expect(await found('secret', bob.headers)).toEqual([]);
});

test.each(['', '?search=', '?search=%20', '?search=x&exact_total=true'])(
  'Messages are not searched with the query %j',
  async (query) => {
    await get(`/api/crm/chat/messages${query}`, user().headers).expect(422);
  },
);
