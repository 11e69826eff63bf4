import { randomUUID } from 'node:crypto';
import { chatTenant } from '../../testing/chat.ts';

const { caller, channels, client, get, post, put, remove, user, channel } = chatTenant();

describe('A channel', () => {
  test('has a name and a topic, and its creator is its owner', async () => {
    const ada = user();
    const { body } = await post(
      channels,
      { name: 'General', topic: 'All things' },
      ada.headers,
    ).expect(201);
    expect(body.data).toMatchObject({
      kind: 'public',
      name: 'General',
      topic: 'All things',
      last_position: 0,
      last_message_at: null,
    });
    const { body: people } = await get(`${channels}/${body.data.id}/participants`);
    expect(people.data).toMatchObject([{ user_id: ada.id, role: 'owner' }]);
    await post(channels, { topic: 'No name' }).expect(422);
  });

  test('is found by its name and topic, and sorted by name, kind and last message', async () => {
    const first = await channel({ name: 'Ábel' });
    const second = await channel({ name: 'zebra', topic: 'stripes' });
    await post(`${first}/messages`, { body: 'Hello' }).expect(201);
    const names = async (query: string): Promise<string[]> =>
      (await get(`${channels}?${query}`).expect(200)).body.data.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names('')).toEqual(['Ábel', 'zebra']);
    expect(await names('search=abel')).toEqual(['Ábel']);
    expect(await names('search=STRIP')).toEqual(['zebra']);
    expect(await names('sort=last_message_at')).toEqual(['Ábel', 'zebra']);
    expect(await names('kind=private')).toEqual([]);
    expect(second).toMatch(channels);
  });

  test('with messages is deleted only with force, and restored with them', async () => {
    const general = await channel();
    const { body } = await post(`${general}/messages`, { body: 'Hello' }).expect(201);
    expect((await remove(general).expect(409)).body.error).toBe('conflict');
    await get(general).expect(200);
    await remove(`${general}?force=true`).expect(204);
    await get(`${general}/messages`).expect(404);
    await post(`${general}/messages`, { body: 'Hello?' }).expect(404);
    await post(`${general}/restore`).expect(200);
    expect((await get(`${general}/messages/${body.data.id}`).expect(200)).body.data.body).toBe(
      'Hello',
    );
    const empty = await channel();
    await remove(empty).expect(204);
  });

  test('keeps its version when messages are posted, and has another entity tag', async () => {
    const general = await channel();
    const before = await get(general).expect(200);
    const tag = { 'If-None-Match': before.headers.etag as string };
    await get(general, tag).expect(304);
    await post(`${general}/messages`, { body: 'Hello' }).expect(201);
    const after = await get(general, tag).expect(200);
    expect(after.body.data).toMatchObject({ last_position: 1 });
    const match = { 'If-Match': before.headers.etag as string };
    await put(general, { topic: 'New' }, match).expect(200);
    await put(general, { topic: 'Newer' }, match).expect(412);
  });
});

test('A channel has another entity tag for whoever has read it', async () => {
  const [ada, bob] = [user(), user()];
  const general = await channel({ user_ids: [bob.id] }, ada.headers);
  await post(`${general}/messages`, { body: `Ask <@${bob.id}>` }, ada.headers).expect(201);
  const before = await get(general, bob.headers).expect(200);
  expect(before.body.data).toMatchObject({ unread_count: 1, mention_count: 1 });
  const known = { ...bob.headers, 'If-None-Match': before.headers.etag as string };
  await get(general, known).expect(304);
  await post(`${general}/read`, {}, bob.headers).expect(200);
  const after = await get(general, known).expect(200);
  expect(after.body.data).toMatchObject({ unread_count: 0, mention_count: 0 });
});

describe('The list of channels', () => {
  test('shows the newest message of each that is not deleted, and the role of the caller', async () => {
    const ada = user();
    const general = await channel({}, ada.headers);
    const sent = async (body: string) =>
      (await post(`${general}/messages`, { body }, ada.headers).expect(201)).body.data;
    await sent('First');
    const last = await sent('Second');
    const listed = async (headers = {}) =>
      (await get(channels, headers).expect(200)).body.data.find(({ id }: { readonly id: string }) =>
        general.endsWith(id),
      );
    expect(await listed(ada.headers)).toMatchObject({
      role: 'owner',
      user_ids: [],
      last_message: { id: last.id, position: 2, body: 'Second', user_id: ada.id },
    });
    expect(await listed()).toMatchObject({ role: null, last_message: { id: last.id } });
    const blind = caller({ lacking: ['chat.messages.view'] });
    expect(await listed(blind)).toMatchObject({ last_message: null });
    await remove(`${general}/messages/${last.id}`, ada.headers).expect(204);
    expect(await listed()).toMatchObject({ last_message: { position: 1, body: 'First' } });
    expect((await get(general)).body.data).toMatchObject({ last_message: { body: 'First' } });
  });

  test('is exported with what the caller may see of each channel, and with its filters', async () => {
    const [ada, bob] = [user(), user()];
    const general = await channel({ name: 'General' }, ada.headers);
    await channel({ name: 'Board', kind: 'private' }, ada.headers);
    await post(`${general}/messages`, { body: 'Hello' }, ada.headers).expect(201);
    const exported = async (headers: Readonly<Record<string, string>>, query = '') => {
      const { body } = await get(`${channels}/export?format=json${query}`, headers).expect(200);
      const found: { name: string; role: string | null; last_message: object | null }[] = body.data;
      return found
        .map(({ name, role, last_message }) => [name, role, last_message !== null])
        .sort();
    };
    const board = ['Board', 'owner', false];
    expect(await exported(ada.headers)).toEqual([board, ['General', 'owner', true]]);
    expect(await exported(ada.headers, '&kind=private')).toEqual([board]);
    expect(await exported(bob.headers)).toEqual([['General', null, true]]);
    const blind = caller({ lacking: ['chat.messages.view'] });
    expect(await exported(blind)).toEqual([['General', null, false]]);
    const { text } = await get(`${channels}/export`, ada.headers).expect(200);
    const [header, ...rows] = text.trimEnd().split('\r\n');
    expect(header).toMatch(/id,kind,name,topic,/);
    expect(rows).toHaveLength(2);
    for (const lacking of ['chat.channels.export', 'chat.access'] as const) {
      await get(`${channels}/export`, caller({ lacking: [lacking] })).expect(403);
    }
    const alone = caller({ lacking: ['chat.participants.list'] });
    await get(`${channels}/export?participant_id=${ada.id}`, alone).expect(403);
    expect(await exported(bob.headers, `&participant_id=${ada.id}`)).toEqual([
      ['General', null, true],
    ]);
  });

  test('counts what the caller has not read, and who mentions them, in channels that they participate in', async () => {
    const [ada, bob] = [user(), user()];
    const general = await channel({ user_ids: [bob.id] }, ada.headers);
    for (const body of ['Hello', `Ask <@${bob.id}>`]) {
      await post(`${general}/messages`, { body }, ada.headers).expect(201);
    }
    const counts = async (headers: Readonly<Record<string, string>>) => {
      const { unread_count, mention_count } = (await get(channels, headers).expect(200)).body
        .data[0];
      return [unread_count, mention_count];
    };
    expect(await counts(bob.headers)).toEqual([2, 1]);
    expect(await counts(ada.headers)).toEqual([0, 0]);
    expect(await counts(user().headers)).toEqual([null, null]);
    await post(`${general}/read`, { position: 1 }, bob.headers).expect(200);
    expect(await counts(bob.headers)).toEqual([1, 1]);
    await post(`${general}/read`, {}, bob.headers).expect(200);
    expect(await counts(bob.headers)).toEqual([0, 0]);
  });

  test('shows the channels of other users only to those who may list participants', async () => {
    const [ada, bob] = [user(), user()];
    await channel({}, bob.headers);
    const of = (id: string) => `${channels}?participant_id=${id}`;
    expect((await get(of(bob.id), ada.headers).expect(200)).body.data).toHaveLength(1);
    const id = randomUUID();
    const limited = caller({ id, lacking: ['chat.participants.list'] });
    await get(of(bob.id), limited).expect(403);
    await get(of(id), limited).expect(200);
  });

  test('begins with other people only if the caller may add participants', async () => {
    const [id, bob] = [randomUUID(), user()];
    const limited = caller({ id, lacking: ['chat.participants.create'] });
    for (const kind of ['public', 'private']) {
      const named = { kind, name: 'General' };
      const withBob = { ...named, user_ids: [id, bob.id] };
      const { body } = await post(channels, withBob, limited).expect(403);
      expect(body.required_permission).toBe('tenant.acme.crm.chat.participants.create');
      await post(channels, { ...named, user_ids: [id] }, limited).expect(201);
    }
    await post(channels, { kind: 'direct', user_ids: [bob.id] }, limited).expect(201);
    expect((await get(channels, bob.headers)).body.meta.total).toBe(2);
  });

  test('with other people is not shown again to callers who may not add participants any more', async () => {
    const id = randomUUID();
    const signedIn = (...scopes: string[]) => ({
      ...caller({ type: 'service_account', is_service_account: true, id, scopes }),
      'Idempotency-Key': id,
    });
    const withBob = { name: 'General', user_ids: [user().id] };
    await post(channels, withBob, signedIn('*')).expect(201);
    const fewer = signedIn('tenant.*.crm.chat.access', 'tenant.*.crm.chat.channels.*');
    const { body } = await post(channels, withBob, fewer).expect(403);
    expect(body.required_permission).toBe('tenant.acme.crm.chat.participants.create');
    await post(channels, withBob, signedIn('*')).expect(201);
  });

  test('names the people of direct channels', async () => {
    const [ada, bob] = [user(), user()];
    await post(channels, { kind: 'direct', user_ids: [bob.id] }, ada.headers).expect(201);
    const { body } = await get(channels, bob.headers).expect(200);
    expect(body.data).toMatchObject([
      { role: 'member', user_ids: [ada.id, bob.id].sort(), last_message: null },
    ]);
  });
});

describe('A private channel', () => {
  test('is seen by its participants only, administrators included', async () => {
    const [ada, eve] = [user(), user()];
    const secret = await channel({ kind: 'private' }, ada.headers);
    const message = (await post(`${secret}/messages`, { body: 'Hush' }, ada.headers)).body.data;
    const admin = caller({ is_system_admin: true });
    for (const stranger of [eve.headers, admin]) {
      expect((await get(channels, stranger)).body).toMatchObject({ data: [], meta: { total: 0 } });
      for (const request of [
        get(secret, stranger),
        get(`${secret}/history`, stranger),
        put(secret, { name: 'Mine' }, stranger),
        remove(secret, stranger),
        get(`${secret}/participants`, stranger),
        post(`${secret}/participants`, { user_id: eve.id }, stranger),
        get(`${secret}/messages`, stranger),
        get(`${secret}/messages/${message.id}`, stranger),
        get(`${secret}/messages/${message.id}/history`, stranger),
        post(`${secret}/messages`, { body: 'Me too' }, stranger),
      ]) {
        await request.expect(404);
      }
    }
    expect((await get(channels, ada.headers)).body.meta.total).toBe(1);
  });

  test('is changed by its owners only, who add and remove people', async () => {
    const [ada, bob, eve] = [user(), user(), user()];
    const secret = await channel({ kind: 'private', user_ids: [bob.id] }, ada.headers);
    await post(`${secret}/messages`, { body: 'Hello' }, bob.headers).expect(201);
    for (const request of [
      put(secret, { name: 'Mine' }, bob.headers),
      remove(secret, bob.headers),
      post(`${secret}/participants`, { user_id: eve.id }, bob.headers),
      put(`${secret}/participants/${bob.id}`, { role: 'owner' }, bob.headers),
      remove(`${secret}/participants/${ada.id}`, bob.headers),
    ]) {
      expect((await request.expect(403)).body.error).toBe('channel_role_required');
    }
    await post(`${secret}/participants`, { user_id: eve.id }, ada.headers).expect(201);
    await get(secret, eve.headers).expect(200);
    await remove(`${secret}/participants/${eve.id}`, ada.headers).expect(204);
    await get(secret, eve.headers).expect(404);
    await remove(`${secret}/participants/${bob.id}`, bob.headers).expect(204);
    await get(secret, bob.headers).expect(404);
  });

  test('cannot be created by a client, which could not see it', async () => {
    const { body } = await post(
      channels,
      { kind: 'private', name: 'Mine' },
      client('pipeline'),
    ).expect(403);
    expect(body.error).toBe('user_required');
  });
});

describe('A direct channel', () => {
  test('exists once for the same people, whoever opens it and in whatever order', async () => {
    const [ada, bob, eve] = [user(), user(), user()];
    const open = (by: typeof ada, others: readonly (typeof ada)[]) =>
      post(channels, { kind: 'direct', user_ids: others.map(({ id }) => id) }, by.headers);
    const { body } = await open(ada, [bob, eve]).expect(201);
    expect(body.data).toMatchObject({ kind: 'direct', name: null });
    expect((await open(eve, [ada, bob, eve]).expect(200)).body.data.id).toBe(body.data.id);
    expect((await open(ada, [bob]).expect(201)).body.data.id).not.toBe(body.data.id);
    await get(`${channels}/${body.data.id}`, bob.headers).expect(200);
    await get(`${channels}/${body.data.id}`, user().headers).expect(404);
  });

  test('exists once also when both people open it at the same moment', async () => {
    const [ada, bob] = [user(), user()];
    const opened = await Promise.all(
      [...Array(4).keys()].map((i) => {
        const [by, other] = i % 2 ? [ada, bob] : [bob, ada];
        return post(channels, { kind: 'direct', user_ids: [other.id] }, by.headers);
      }),
    );
    expect(opened.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(new Set(opened.map(({ body }) => body.data.id)).size).toBe(1);
  });

  test('has neither a name, a topic nor other people later, and is not deleted', async () => {
    const [ada, bob] = [user(), user()];
    const open = { kind: 'direct', user_ids: [bob.id] };
    const { body } = await post(channels, open, ada.headers).expect(201);
    const direct = `${channels}/${body.data.id}`;
    await put(direct, { topic: 'Us' }, ada.headers).expect(409);
    await remove(direct, ada.headers).expect(409);
    await post(`${direct}/participants`, { user_id: randomUUID() }, ada.headers).expect(409);
    await remove(`${direct}/participants/${bob.id}`, bob.headers).expect(409);
    for (const refused of [
      { ...open, name: 'Us' },
      { ...open, topic: 'Us' },
      { kind: 'direct' },
      { kind: 'direct', user_ids: Array.from({ length: 10 }, () => randomUUID()) },
    ]) {
      await post(channels, refused, ada.headers).expect(422);
    }
    const { body: answer } = await post(
      channels,
      { kind: 'direct', name: 'Us', topic: 'Us' },
      ada.headers,
    ).expect(422);
    expect(Object.keys(answer.errors).sort()).toEqual(['name', 'topic', 'user_ids']);
    await post(channels, { ...open, topic: null }, ada.headers).expect(200);
  });
});
