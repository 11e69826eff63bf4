import { onOneReplica } from '@tessera/background-work';
import { until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import { advisoryLocks } from '../../database.ts';
import { withMethods } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { removeNextValues } from './custom-fields.repository.ts';
import { removeValues, removeValuesOnOneReplica } from './value-removal.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/custom-fields';
const contacts = '/api/crm/contacts';

const declare = async (fields: object): Promise<string> => {
  const { body, status } = await post(path, { label: 'Field', ...fields });
  expect([status, body]).toEqual([201, expect.anything()]);
  return `${path}/${body.data.id}`;
};

const created = async (custom: object = {}, fields: object = {}): Promise<string> => {
  const { body } = await post(contacts, { first_name: 'Ada', custom, ...fields }).expect(201);
  return `${contacts}/${body.data.id}`;
};

const customOf = async (contact: string) => (await get(contact)).body.data.custom;

const errorOf = async (response: ReturnType<typeof get>) => {
  const { status, body } = await response;
  return [status, Object.keys(body.errors ?? {})];
};

const tier = { key: 'tier', type: 'choice', choices: ['gold', 'silver'], is_filterable: true };

describe('A custom field', () => {
  test('is declared for the tenant and listed in the order of forms', async () => {
    await declare({ key: 'score', type: 'number', position: 2 });
    await declare({ ...tier, label: 'Tier', position: 1 });
    const { body } = await get(path).expect(200);
    expect(body.data).toMatchObject([
      { key: 'tier', label: 'Tier', type: 'choice', choices: ['gold', 'silver'], position: 1 },
      { key: 'score', type: 'number', choices: [], is_filterable: false, is_required: false },
    ]);
  });

  test('is exported with its choices by callers with the permission', async () => {
    await declare({ key: 'score', type: 'number', position: 2 });
    await declare({ ...tier, label: 'Tier', position: 1 });
    const { text } = await get(`${path}/export?type=choice`).expect(200);
    const [header, ...rows] = text.trimEnd().split('\r\n');
    expect(header).toMatch(/id,key,label,type,choices,/);
    expect(rows).toEqual([expect.stringContaining(',tier,Tier,choice,"[""gold"",""silver""]",')]);
    const { body } = await get(`${path}/export?format=json`).expect(200);
    const keys: string[] = body.data.map(({ key }: { key: string }) => key);
    expect(keys.sort()).toEqual(['score', 'tier']);
    await get(`${path}/export`, caller({ lacking: ['custom_fields.export'] })).expect(403);
  });

  test('is declared by owners and administrators, and listed by everyone who may view contacts', async () => {
    const viewer = caller({ permissions: ['contacts.view', 'custom_fields.list'] });
    await get(path, viewer).expect(200);
    const { status, body } = await post(path, { label: 'Tier', ...tier }, viewer);
    expect([status, body.required_permission]).toEqual([
      403,
      'tenant.acme.crm.custom_fields.create',
    ]);
  });

  test.each([
    ['with a key that is already used', { key: 'tier', type: 'text' }, 'key'],
    ['with a capital letter in its key', { key: 'Tier', type: 'text' }, 'key'],
    ['of an unknown type', { key: 'level', type: 'colour' }, 'type'],
    ['of type choice without choices', { key: 'level', type: 'choice' }, 'choices'],
    ['of type text with choices', { key: 'level', type: 'text', choices: ['a'] }, 'choices'],
  ])('%s is a 422', async (_, fields, field) => {
    await declare(tier);
    expect(await errorOf(post(path, { label: 'Level', ...fields }))).toEqual([422, [field]]);
  });

  test('changes neither its key nor its type', async () => {
    const field = await declare({ key: 'score', type: 'number' });
    expect(await errorOf(put(field, { key: 'points' }))).toEqual([422, ['key']]);
    expect(await errorOf(put(field, { type: 'text' }))).toEqual([422, ['type']]);
    await put(field, { type: 'number', label: 'Score' }).expect(200);
  });

  test('is limited to 100 per tenant', async () => {
    const all = Array.from({ length: 100 }, (_, index) => ({ key: `f${index}`, type: 'bool' }));
    for (const fields of all) await declare(fields);
    expect((await post(path, { label: 'One more', key: 'more', type: 'bool' })).status).toBe(409);
  });
});

describe('Values', () => {
  test('of each type are stored, shown, listed and exported', async () => {
    await declare({ key: 'nick', type: 'text', position: 1 });
    await declare({ key: 'score', type: 'number', position: 2 });
    await declare({ key: 'since', type: 'date', position: 3 });
    await declare({ key: 'vip', type: 'bool', position: 4 });
    await declare({ ...tier, position: 5 });
    const custom = { nick: '=Ada', score: 1.5, since: '2026-02-28', vip: true, tier: 'gold' };
    const contact = await created(custom);
    await created();
    expect(await customOf(contact)).toEqual(custom);
    const { body: listed } = await get(`${contacts}?sort=created_at`);
    expect(listed.data.map((of: { custom: object }) => of.custom)).toEqual([custom, {}]);
    const { body: exported } = await get(`${contacts}/export?format=json`);
    expect(exported.data.map((of: { custom: object }) => of.custom)).toEqual([custom, {}]);
    const csv = (await get(`${contacts}/export`)).text.split('\r\n');
    const [header = '', first = '', second = ''] = csv;
    expect(header).toContain(
      ',custom.nick,custom.score,custom.since,custom.vip,custom.tier,created_at',
    );
    expect(header.split(',')).not.toContain('custom');
    expect(first).toContain(",'=Ada,1.5,2026-02-28,true,gold,");
    expect(second).toContain(',,,,,,');
  });

  test.each([
    ['an unknown field', { nothing: 1 }, 'custom.nothing'],
    ['a text for a number', { score: '7' }, 'custom.score'],
    ['a date that does not exist', { since: '2026-02-30' }, 'custom.since'],
    ['a number for a bool', { vip: 1 }, 'custom.vip'],
    ['a blank text', { nick: ' ' }, 'custom.nick'],
    ['an object for a text', { nick: {} }, 'custom.nick'],
    ['none of the choices', { tier: 'bronze' }, 'custom.tier'],
    ['a key that every object has', { constructor: 1 }, 'custom.constructor'],
  ])('such as %s are a 422 that names the field', async (_, custom, field) => {
    await declare({ key: 'score', type: 'number' });
    await declare({ key: 'since', type: 'date' });
    await declare({ key: 'vip', type: 'bool' });
    await declare({ key: 'nick', type: 'text' });
    await declare(tier);
    expect(await errorOf(post(contacts, { first_name: 'Ada', custom }))).toEqual([422, [field]]);
    const contact = await created();
    expect(await errorOf(put(contact, { custom }))).toEqual([422, [field]]);
    expect(await customOf(contact)).toEqual({});
  });

  test('can have a key that every object has', async () => {
    await declare({ key: 'constructor', type: 'text' });
    await created({ constructor: 'Eve' });
    await created();
    const { body } = await get(`${contacts}?sort=created_at`).expect(200);
    const custom = body.data.map((of: { custom: object }) => of.custom);
    expect(custom.map(Object.entries)).toEqual([[['constructor', 'Eve']], []]);
    const { text } = await get(`${contacts}/export?sort=created_at`).expect(200);
    const [header = [], ...rows] = text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const column = header.indexOf('custom.constructor');
    expect(rows.map((cells) => cells[column])).toEqual(['Eve', '']);
  });

  test('that are left out stay unchanged, and null removes a value', async () => {
    await declare({ key: 'score', type: 'number' });
    await declare(tier);
    const contact = await created({ score: 1, tier: 'gold' });
    await put(contact, { custom: { tier: 'silver' } }).expect(200);
    await put(contact, { first_name: 'Bob' }).expect(200);
    expect(await customOf(contact)).toEqual({ score: 1, tier: 'silver' });
    const { body } = await put(contact, { custom: { score: null } }).expect(200);
    expect(body.data.custom).toEqual({ tier: 'silver' });
  });

  test('that are required must be given for new contacts and cannot be removed', async () => {
    const before = await created();
    await declare({ ...tier, is_required: true });
    expect(await errorOf(post(contacts, { first_name: 'Ada' }))).toEqual([422, ['custom.tier']]);
    const contact = await created({ tier: 'gold' });
    const refused = put(contact, { custom: { tier: null } });
    expect(await errorOf(refused)).toEqual([422, ['custom.tier']]);
    await put(before, { first_name: 'Bob' }).expect(200);
    await put(before, { custom: { tier: null } }).expect(200);
    expect(await customOf(before)).toEqual({});
  });

  test('of other tenants are unknown', async () => {
    await declare(tier);
    const other = crm().caller({ tenant: 'globex' });
    const refused = crm()
      .http.post(contacts)
      .set(other)
      .send({ first_name: 'A', custom: { tier: 'gold' } });
    expect(await errorOf(refused)).toEqual([422, ['custom.tier']]);
  });

  test('that are texts are found by the search', async () => {
    await declare({ key: 'nick', type: 'text' });
    await declare({ key: 'score', type: 'number' });
    const contact = await created({ nick: 'Péter the Great', score: 4711 });
    await created();
    const { body } = await get(`${contacts}?search=peter%20the`);
    expect(body.data.map(({ id }: { id: string }) => `${contacts}/${id}`)).toEqual([contact]);
    expect((await get(`${contacts}?search=4711`)).body.meta.total).toBe(0);
  });

  test('of a deleted field are not kept by clients that send the entity tag of the contact', async () => {
    await declare({ key: 'nick', type: 'text' });
    const field = await declare({ key: 'pin', type: 'text' });
    const contact = await created({ nick: 'Ada', pin: 'secret' });
    const { etag } = (await get(contact).expect(200)).headers;
    await get(contact, { 'If-None-Match': `${etag}` }).expect(304);
    await remove(field).expect(204);
    const { body } = await get(contact, { 'If-None-Match': `${etag}` }).expect(200);
    expect(body.data.custom).toEqual({ nick: 'Ada' });
    // The record itself is in the same version.
    await put(contact, { title: 'Dr' }, { 'If-Match': `${etag}` }).expect(200);
  });

  test('are part of the history of a contact, each by its key', async () => {
    await declare(tier);
    await declare({ key: 'score', type: 'number' });
    await declare({ key: 'nick', type: 'text' });
    const contact = await created({ tier: 'gold', nick: 'Ada' });
    await put(contact, { custom: { tier: 'silver', score: 7, nick: 'Ada' } }).expect(200);
    await put(contact, { custom: { score: null } }).expect(200);
    const { body } = await get(`${contact}/history`);
    expect(body.data.map(({ changes }: { changes: object }) => changes)).toEqual([
      { 'custom.score': { from: 7, to: null } },
      { 'custom.score': { from: null, to: 7 }, 'custom.tier': { from: 'gold', to: 'silver' } },
      {},
    ]);
  });

  test('are part of the history from the first one, though the clock of the process was fast', async () => {
    const field = await declare({ key: 'nick', type: 'text' });
    await crm().context.pool.query(
      `UPDATE tenant_crm.custom_fields SET created_at = created_at + interval '1 hour' WHERE id = $1`,
      [field.split('/').at(-1)],
    );
    const contact = await created();
    await put(contact, { custom: { nick: 'Ada' } }).expect(200);
    const { body } = await get(`${contact}/history`);
    expect(body.data[0].changes).toEqual({ 'custom.nick': { from: null, to: 'Ada' } });
  });

  test('of a deleted field are not in the history of a new field with the same key', async () => {
    const field = await declare({ key: 'pin', type: 'text' });
    const contact = await created({ pin: 'secret' });
    await put(contact, { custom: { pin: 'other secret' } }).expect(200);
    await remove(field).expect(204);
    await removeValues(crm().context.database);
    await declare({ key: 'pin', type: 'text' });
    await put(contact, { custom: { pin: 'public' } }).expect(200);
    const { body, text } = await get(`${contact}/history`);
    expect(body.data[0].changes).toEqual({ 'custom.pin': { from: null, to: 'public' } });
    expect(text).not.toContain('secret');
  });

  test('of a deleted field are not shown in the history and the timeline, before and after their removal', async () => {
    await declare(tier);
    const nick = await declare({ key: 'nick', type: 'text' });
    const contact = await created({ tier: 'gold', nick: 'Countess' });
    await put(contact, { custom: { tier: 'silver', nick: 'Ada' } }).expect(200);
    await put(contact, { custom: { nick: 'Lady' }, title: 'Dr' }).expect(200);
    await remove(nick).expect(204);
    const expected = [
      { title: { from: null, to: 'Dr' } },
      { 'custom.tier': { from: 'gold', to: 'silver' } },
      {},
    ];
    const changes = (of: { changes: object }) => of.changes;
    for (const finish of [async () => {}, () => removeValues(crm().context.database)]) {
      await finish();
      const { body: history } = await get(`${contact}/history`).expect(200);
      expect(history.data.map(changes)).toEqual(expected);
      const { body: timeline } = await get(`${contact}/timeline?type=change`).expect(200);
      expect(
        timeline.data.map((of: { change: { changes: object } }) => changes(of.change)),
      ).toEqual(expected);
    }
  });
});

describe('Contacts are filtered', () => {
  const total = async (query: string) => (await get(`${contacts}?${query}`)).body.meta.total;

  test('by each type of value, several at once, and in exports', async () => {
    for (const [key, type] of Object.entries({ nick: 'text', score: 'number', vip: 'bool' })) {
      await declare({ key, type, is_filterable: true });
    }
    await declare(tier);
    await created({ nick: '7', score: 7, vip: true, tier: 'gold' });
    await created({ score: 8, vip: false, tier: 'gold' });
    await created();
    expect(await total('custom.score=7')).toBe(1);
    expect(await total('custom.nick=7')).toBe(1);
    expect(await total('custom.vip=false')).toBe(1);
    expect(await total('custom.tier=gold')).toBe(2);
    expect(await total('custom[tier]=gold&custom.score=8')).toBe(1);
    expect(await total('custom.tier=gold&search=ada')).toBe(2);
    const exported = await get(`${contacts}/export?format=json&custom.score=8`);
    expect(exported.body.data).toHaveLength(1);
  });

  test.each([
    ['custom.nothing=1', 'custom.nothing'],
    ['custom.secret=1', 'custom.secret'],
    ['custom.score=many', 'custom.score'],
    ['custom.score=1&custom.score=2', 'custom.score'],
    ['custom.score=1&custom[score]=2', 'custom.score'],
    ['custom=1', 'custom'],
    ['other.score=1', 'other.score'],
  ])('but %s is a 422 that names the parameter', async (query, field) => {
    await declare({ key: 'secret', type: 'text' });
    await declare({ key: 'score', type: 'number', is_filterable: true });
    expect(await errorOf(get(`${contacts}?${query}`))).toEqual([422, [field]]);
  });
});

describe('A choice that was removed', () => {
  test('stays in contacts, which can be sent back as they are, and is found by filters', async () => {
    const field = await declare(tier);
    await declare({ key: 'score', type: 'number' });
    const contact = await created({ tier: 'gold' });
    await put(field, { choices: ['silver'] }).expect(200);
    const { custom } = (await get(contact)).body.data;
    await put(contact, { custom: { ...custom, score: 1 } }).expect(200);
    expect(await customOf(contact)).toEqual({ tier: 'gold', score: 1 });
    expect((await get(`${contacts}?custom.tier=gold`).expect(200)).body.meta.total).toBe(1);
    await put(contact, { custom: { tier: 'silver' } }).expect(200);
    const back = put(contact, { custom: { tier: 'gold' } });
    expect(await errorOf(back)).toEqual([422, ['custom.tier']]);
    const other = post(contacts, { first_name: 'Bob', custom: { tier: 'gold' } });
    expect(await errorOf(other)).toEqual([422, ['custom.tier']]);
  });
});

describe('A deleted field', () => {
  test('hides its values immediately, and they are removed in the background', async () => {
    const field = await declare(tier);
    await declare({ key: 'score', type: 'number' });
    const contact = await created({ tier: 'gold', score: 1 });
    await remove(field).expect(204);
    expect(await customOf(contact)).toEqual({ score: 1 });
    expect((await get(`${contacts}/export`)).text).not.toContain('custom.tier');
    expect(await errorOf(get(`${contacts}?custom.tier=gold`))).toEqual([422, ['custom.tier']]);
    expect(await errorOf(put(contact, { custom: { tier: 'gold' } }))).toEqual([
      422,
      ['custom.tier'],
    ]);
    await removeValues(crm().context.database);
    const { rows } = await crm().context.pool.query(
      'SELECT custom, version FROM tenant_crm.contacts WHERE id = $1',
      [contact.slice(contacts.length + 1)],
    );
    expect(rows).toEqual([{ custom: { score: 1 }, version: 2 }]);
  });

  test('frees its key, and former values do not return under that key', async () => {
    const field = await declare(tier);
    const contact = await created({ tier: 'gold' });
    await remove(field).expect(204);
    await removeValues(crm().context.database);
    await declare({ key: 'tier', type: 'text' });
    expect(await customOf(contact)).toEqual({});
  });

  test('does not take values of a new field with its key along when a merge is undone', async () => {
    const field = await declare(tier);
    const id = (await created()).slice(contacts.length + 1);
    const other = (await created({ tier: 'gold' })).slice(contacts.length + 1);
    await post(`${contacts}/${id}/merge`, { contact_id: other }).expect(200);
    await remove(field).expect(204);
    await removeValues(crm().context.database);
    await declare(tier);
    await put(`${contacts}/${id}`, { custom: { tier: 'gold' } }).expect(200);
    await post(`${contacts}/${id}/unmerge`, { contact_id: other }).expect(200);
    expect(await customOf(`${contacts}/${id}`)).toEqual({ tier: 'gold' });
  });

  test('whose values cannot be removed does not keep those of other tenants', async () => {
    const { database } = crm().context;
    const first = newTenant('acme');
    const failing = crm().caller({ tenants: [first] });
    const url = (await post(path, { label: 'Tier', ...tier }, failing).expect(201)).body.data.id;
    await remove(`${path}/${url}`, failing).expect(204);
    const field = await declare(tier);
    await remove(field).expect(204);
    const forTenant = (id: string) => {
      const db = database.forTenant(id);
      const query = () => Promise.reject(new Error('The statement failed.'));
      return id === first.id ? withMethods(db, { query }) : db;
    };
    const pool = database.pool;
    await expect(removeValues({ pool, forTenant })).rejects.toThrow(
      'the values of 1 custom fields were not removed',
    );
    await declare(tier);
  });

  test('is removed from the next contacts by each statement, whether they have a value or not', async () => {
    const field = await declare(tier);
    const ids = [];
    for (const custom of [{}, {}, {}, { tier: 'gold' }, {}]) {
      ids.push((await created(custom)).slice(contacts.length + 1));
    }
    await remove(field).expect(204);
    const db = crm().context.database.forTenant(tenant().id);
    const ends: (string | undefined)[] = [];
    do {
      ends.push(await removeNextValues(db, 'tier', { after: ends.at(-1), limit: 2 }));
    } while (ends.at(-1) !== undefined);
    expect(ends).toEqual([ids[1], ids[3], ids[4], undefined]);
    const { rows } = await crm().context.pool.query(
      "SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 AND custom <> '{}'",
      [tenant().id],
    );
    expect(rows).toEqual([]);
  });

  test('keeps the values of a new field with its key if a replica continues after another has finished', async () => {
    const { database } = crm().context;
    const field = await declare(tier);
    const contact = await created({ tier: 'gold' });
    await remove(field).expect(204);
    let isFrozen = true;
    const forTenant = (id: string) => {
      const db = database.forTenant(id);
      const transaction: typeof db.transaction = async (work) => {
        if (isFrozen) {
          isFrozen = false;
          await removeValues(database);
          await declare(tier);
          await put(contact, { custom: { tier: 'silver' } }).expect(200);
        }
        return db.transaction(work);
      };
      return withMethods(db, { transaction });
    };
    await removeValues({ pool: database.pool, forTenant });
    expect(isFrozen).toBe(false);
    expect(await customOf(contact)).toEqual({ tier: 'silver' });
  });

  test('is processed by one replica at a time, and the others do nothing', async () => {
    const { database, pool } = crm().context;
    const field = await declare(tier);
    await created({ tier: 'gold' });
    const removal = () => removeValuesOnOneReplica(database, new AbortController().signal);
    const isFree = async () => (await post(path, { label: 'Tier', ...tier })).status === 201;
    // Repeated because the periodic removal may hold the lock.
    await until(() =>
      onOneReplica(pool, [advisoryLocks.valueRemoval, 0], async () => {
        await remove(field).expect(204);
        await removal();
        expect(await isFree()).toBe(false);
      }),
    );
    await until(async () => {
      await removal();
      return isFree();
    });
  });

  test('leaves no value behind in a contact that is written concurrently', async () => {
    const field = await declare(tier);
    const contact = await created();
    const writes = Array.from({ length: 8 }, () => put(contact, { custom: { tier: 'gold' } }));
    const [deleted, ...written] = await Promise.all([remove(field), ...writes]);
    expect(deleted.status).toBe(204);
    for (const { status } of written) expect([200, 422]).toContain(status);
    await removeValues(crm().context.database);
    const { rows } = await crm().context.pool.query(
      "SELECT id FROM tenant_crm.contacts WHERE custom <> '{}' AND id = $1",
      [contact.slice(contacts.length + 1)],
    );
    expect(rows).toEqual([]);
  });
});
