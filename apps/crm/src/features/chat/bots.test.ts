import { chatTenant } from '../../testing/chat.ts';
import { authenticateBot } from './bot-tokens.ts';

const { crm, get, post, put, remove, user, channel } = chatTenant();
const bots = '/api/crm/bots';

const created = async (name = 'Builds'): Promise<{ id: string; token: string; path: string }> => {
  const { body } = await post(bots, { name }).expect(201);
  return { ...body.data, path: `${bots}/${body.data.id}` };
};

const authenticated = async (token: string) =>
  (await authenticateBot(crm().context.database, token))?.botId;

test('The token of a bot is shown once, and stored as a hash', async () => {
  const { id, token, path } = await created();
  expect(token).toMatch(/^tcb_/);
  const secret = token.slice(-43);
  for (const shown of [await get(path), await get(bots), await get(`${path}/history`)]) {
    expect(shown.text).not.toContain(secret);
    expect(shown.text).not.toContain('token_hash');
    expect(shown.text).not.toContain('"token"');
  }
  const { rows } = await crm().context.pool.query(
    'SELECT bots::text AS stored FROM tenant_crm.bots WHERE id = $1',
    [id],
  );
  expect(rows[0].stored).not.toContain(secret);
  const keyed = { 'Idempotency-Key': 'one' };
  const { body } = await post(bots, { name: 'Keyed' }, keyed).expect(201);
  const { rows: kept } = await crm().context.pool.query(
    'SELECT count(*)::int AS count FROM tenant_crm.idempotency_keys WHERE body::text LIKE $1',
    [`%${body.data.token}%`],
  );
  expect(kept).toEqual([{ count: 0 }]);
});

test('A token authenticates its bot until it is replaced, or the bot is deleted', async () => {
  const { id, token, path } = await created();
  expect(await authenticated(token)).toBe(id);
  const { body } = await post(`${path}/rotate-token`).expect(200);
  expect(await authenticated(token)).toBeUndefined();
  expect(await authenticated(body.data.token)).toBe(id);
  await remove(path).expect(204);
  expect(await authenticated(body.data.token)).toBeUndefined();
  await post(`${path}/restore`).expect(200);
  expect(await authenticated(body.data.token)).toBe(id);
});

test('No other token authenticates a bot, and each takes one read of the database', async () => {
  const { database } = crm().context;
  const tenants: string[] = [];
  const watched = {
    forTenant(tenantId: string) {
      tenants.push(tenantId);
      return database.forTenant(tenantId);
    },
  };
  const [one, other] = [await created(), await created()];
  const secretOf = (token: string) => token.slice(-43);
  for (const token of [
    '',
    'tcb_',
    one.token.slice(0, -1),
    `${one.token}A`,
    one.token.replace(secretOf(one.token), secretOf(other.token)),
    one.token.replace('tcb_', 'tcb_AAAAAAAAAAAAAAAAAAAAAA_').replace(/_[^_]+(?=_[^_]+_[^_]+$)/, ''),
    secretOf(one.token),
  ]) {
    tenants.length = 0;
    const found = await authenticateBot(watched, token);
    expect([token, found, tenants.length]).toEqual([token, undefined, 1]);
  }
});

test('Bots are added to channels and removed from them, in a private one by its owners', async () => {
  const [ada, bob] = [user(), user()];
  const { id } = await created();
  const secret = await channel({ kind: 'private', user_ids: [bob.id] }, ada.headers);
  const add = { bot_id: id };
  expect((await post(`${secret}/bots`, add, bob.headers).expect(403)).body.error).toBe(
    'channel_role_required',
  );
  await post(`${secret}/bots`, add).expect(404);
  await post(`${secret}/bots`, add, ada.headers).expect(201);
  await post(`${secret}/bots`, add, ada.headers).expect(422);
  const { body } = await get(`${secret}/bots`, bob.headers).expect(200);
  expect(body).toMatchObject({ data: [{ bot_id: id }], meta: { total: 1 } });
  await remove(`${secret}/bots/${id}`, bob.headers).expect(403);
  await remove(`${secret}/bots/${id}`, ada.headers).expect(204);
  await get(`${secret}/bots/${id}`, ada.headers).expect(404);
  const { rows } = await crm().context.pool.query(
    "SELECT type, payload FROM tenant_crm.chat_events WHERE channel_id = $1 AND type LIKE 'bot.%' ORDER BY number",
    [secret.split('/').at(-1)],
  );
  expect(rows.map(({ type }) => type)).toEqual(['bot.added', 'bot.removed']);
  expect(rows[0].payload).toEqual({ bot_id: id });
});

test('A deleted bot is no bot of its channels until it is restored, and can be removed from them', async () => {
  const [deleted, other] = [await created(), await created()];
  const inChannel = `${await channel()}/bots`;
  for (const { id } of [deleted, other]) await post(inChannel, { bot_id: id }).expect(201);
  const ids = async () =>
    (await get(inChannel).expect(200)).body.data
      .map(({ bot_id }: { bot_id: string }) => bot_id)
      .sort();
  await remove(deleted.path).expect(204);
  expect(await ids()).toEqual([other.id]);
  expect((await get(inChannel)).body.meta.total).toBe(1);
  await get(`${inChannel}/${deleted.id}`).expect(404);
  await get(`${inChannel}/${deleted.id}/history`).expect(200);
  await post(`${deleted.path}/restore`).expect(200);
  expect(await ids()).toEqual([deleted.id, other.id].sort());
  await remove(deleted.path).expect(204);
  await remove(`${inChannel}/${deleted.id}`).expect(204);
  const { body } = await get(`${inChannel}/${deleted.id}/history`).expect(200);
  expect(body.data).toMatchObject([{ action: 'delete' }, { action: 'create' }]);
  await post(`${deleted.path}/restore`).expect(200);
  expect(await ids()).toEqual([other.id]);
});

test('Bots are renamed and listed by name', async () => {
  const { path } = await created('Zoe');
  await created('Abe');
  await put(path, { name: 'Ábel' }).expect(200);
  const { body } = await get(bots).expect(200);
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Abe', 'Ábel']);
});
