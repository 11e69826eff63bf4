import { randomUUID } from 'node:crypto';
import { builtInRoles } from '@tessera/contracts';
import { chatTenant } from '../../testing/chat.ts';

const { caller, get, post, put, remove, user, channel } = chatTenant();

test('Everybody joins a public channel, posting joins too, and everybody leaves', async () => {
  const general = await channel();
  const [ada, bob] = [user(), user()];
  await post(`${general}/participants`, { user_id: ada.id }, ada.headers).expect(201);
  await post(`${general}/messages`, { body: 'Hello' }, bob.headers).expect(201);
  await post(`${general}/messages`, { body: 'Hello again' }, bob.headers).expect(201);
  const { body } = await get(`${general}/participants?role=member`).expect(200);
  expect(body.data).toMatchObject([
    { user_id: ada.id, role: 'member' },
    { user_id: bob.id, role: 'member' },
  ]);
  await remove(`${general}/participants/${bob.id}`, bob.headers).expect(204);
  await get(`${general}/participants/${bob.id}`).expect(404);
  await get(`${general}/messages`, bob.headers).expect(200);
});

test('Reading a public channel does not join it', async () => {
  const general = await channel();
  const ada = user();
  await get(`${general}/messages`, ada.headers).expect(200);
  await get(`${general}/participants/${ada.id}`).expect(404);
});

describe('The last owner of a channel', () => {
  test('neither leaves nor becomes a member, until another one exists', async () => {
    const [ada, bob] = [user(), user()];
    const general = await channel({ user_ids: [bob.id] }, ada.headers);
    const membership = `${general}/participants/${ada.id}`;
    expect((await remove(membership, ada.headers).expect(409)).body.error).toBe('last_owner');
    await put(membership, { role: 'member' }, ada.headers).expect(409);
    await put(`${general}/participants/${bob.id}`, { role: 'owner' }, ada.headers).expect(200);
    await remove(membership, ada.headers).expect(204);
  });

  test('stays when both owners leave at the same moment', async () => {
    const [ada, bob] = [user(), user()];
    const general = await channel({ user_ids: [bob.id] }, ada.headers);
    await put(`${general}/participants/${bob.id}`, { role: 'owner' }, ada.headers).expect(200);
    const left = await Promise.all(
      [ada, bob].map(({ id, headers }) => remove(`${general}/participants/${id}`, headers)),
    );
    expect(left.map(({ status }) => status).sort()).toEqual([204, 409]);
  });
});

describe('In a public channel with an owner', () => {
  test('others neither make themselves owners nor remove the owner', async () => {
    const [ada, bob] = [user(), user()];
    const general = await channel({}, ada.headers);
    const asOwner = { user_id: bob.id, role: 'owner' };
    const refused = await post(`${general}/participants`, asOwner, bob.headers).expect(403);
    expect(refused.body.error).toBe('channel_role_required');
    await post(`${general}/participants`, { user_id: bob.id }, bob.headers).expect(201);
    await put(`${general}/participants/${bob.id}`, { role: 'owner' }, bob.headers).expect(403);
    await remove(`${general}/participants/${ada.id}`, bob.headers).expect(403);
    const { body } = await post(`${general}/messages`, { body: 'Hello' }, ada.headers);
    await remove(`${general}/messages/${body.data.id}`, bob.headers).expect(403);
  });

  test('the owner appoints another one', async () => {
    const [ada, bob] = [user(), user()];
    const general = await channel({}, ada.headers);
    const asOwner = { user_id: bob.id, role: 'owner' };
    await post(`${general}/participants`, asOwner, ada.headers).expect(201);
    await remove(`${general}/participants/${ada.id}`, bob.headers).expect(204);
  });
});

test('Viewers leave a channel that they were added to, and remove nobody else', async () => {
  const [ada, bob] = [user(), user()];
  const viewer = randomUUID();
  const headers = caller({ id: viewer, policies: builtInRoles.viewer.policies });
  for (const kind of ['public', 'private']) {
    const users = { kind, user_ids: [bob.id, viewer] };
    const people = `${await channel(users, ada.headers)}/participants`;
    for (const id of [bob.id, ada.id, randomUUID()]) {
      const { body } = await remove(`${people}/${id}`, headers).expect(403);
      expect(body.required_permission).toBe('tenant.acme.crm.chat.participants.delete');
    }
    await remove(`${people}/${viewer.toUpperCase()}`, headers).expect(204);
    expect((await get(people, ada.headers)).body.meta.total).toBe(2);
  }
  const hidden = await channel({ kind: 'private' }, ada.headers);
  await remove(`${hidden}/participants/${ada.id}`, headers).expect(404);
  const blind = caller({ lacking: ['chat.channels.view'] });
  const general = await channel({}, ada.headers);
  const refused = await remove(`${general}/participants/${ada.id}`, blind).expect(403);
  expect(refused.body.required_permission).toBe('tenant.acme.crm.chat.channels.view');
});

test('A channel is listed by who participates in it', async () => {
  const ada = user();
  const general = await channel({}, ada.headers);
  await channel({ name: 'Other' });
  const { body } = await get(`/api/crm/channels?participant_id=${ada.id}`).expect(200);
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([general.split('/').at(-1)]);
});

test('Participants who are added, removed and added again while they post do not block each other', async () => {
  const [ada, bob] = [user(), user()];
  const general = await channel({}, ada.headers);
  const statuses = await Promise.all(
    [...Array(12).keys()].map(async (i) => {
      const requests = [
        () => post(`${general}/participants`, { user_id: bob.id }, ada.headers),
        () => post(`${general}/messages`, { body: 'Hello' }, bob.headers),
        () => remove(`${general}/participants/${bob.id}`, ada.headers),
      ];
      return (await requests[i % 3]?.())?.status ?? 0;
    }),
  );
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
});

test('The permission to use the chat is checked and named first', async () => {
  const general = await channel();
  const neither = caller({ lacking: ['chat.access', 'chat.messages.list'] });
  const refused = await get(`${general}/messages`, neither).expect(403);
  expect(refused.body.required_permission).toBe('tenant.acme.crm.chat.access');
  const other = await get(`${general}/messages`, caller({ lacking: ['chat.messages.list'] }));
  expect(other.body.required_permission).toBe('tenant.acme.crm.chat.messages.list');
});
