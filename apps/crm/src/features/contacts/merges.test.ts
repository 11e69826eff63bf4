import { eventOf } from '../../events/event-types.ts';
import { collide } from '../../testing/collisions.ts';
import { callerIn } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { linkingTables } from './merges.repository.ts';
import { createContactMerges } from './merges.service.ts';

const { crm, tenant, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/contacts';

const contact = async (fields: object): Promise<string> =>
  (await post(path, { first_name: 'Ada', ...fields }).expect(201)).body.data.id;
const log = async (contact_id: string): Promise<string> =>
  (await post('/api/crm/communication-logs', { kind: 'note', contact_id }).expect(201)).body.data
    .id;
const task = async (contact_id: string): Promise<string> =>
  (await post('/api/crm/tasks', { title: 'Call', contact_id }).expect(201)).body.data.id;
const merge = (id: string, contact_id: string, headers = {}) =>
  post(`${path}/${id}/merge`, { contact_id }, headers);
const unmerge = (id: string, contact_id: string) => post(`${path}/${id}/unmerge`, { contact_id });
const logsOf = async (id: string): Promise<string[]> =>
  (await get(`/api/crm/communication-logs?contact_id=${id}&sort=created_at`)).body.data.map(
    (found: { id: string }) => found.id,
  );
const show = async (id: string) => (await get(`${path}/${id}`).expect(200)).body.data;

const one = {
  last_name: 'Lovelace',
  email: 'ada@a.example',
  tags: ['vip', 'press'],
  phones: [{ label: 'work', phone: '1' }],
};
const two = {
  first_name: 'A.',
  email: 'ada@b.example',
  title: 'Countess',
  phone: '2',
  tags: ['press', 'lead'],
  phones: [
    { label: 'private', phone: '1' },
    { label: 'private', phone: '3' },
  ],
  emails: [{ label: 'private', email: 'ada@c.example' }],
};

describe('Merging a contact into another one', () => {
  test('fills empty fields, combines lists and loses no e-mail address', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const { body } = await merge(id, other).expect(200);
    expect(body.data).toMatchObject({
      id,
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@a.example',
      title: 'Countess',
      phone: '2',
      tags: ['vip', 'press', 'lead'],
      emails: [
        { label: 'merged', email: 'ada@b.example' },
        { label: 'private', email: 'ada@c.example' },
      ],
      phones: [
        { label: 'work', phone: '1' },
        { label: 'private', phone: '3' },
      ],
    });
    await get(`${path}/${other}`).expect(404);
    const [change] = (await get(`${path}/${id}/history`)).body.data;
    expect(change).toMatchObject({ action: 'merge', changes: { title: { to: 'Countess' } } });
  });

  test('keeps the notes of both, each once, and undoing it removes those that it added', async () => {
    const id = await contact({ notes: 'Met in London.' });
    const notes = 'Prefers mail.\n\nSpeaks French.';
    const [other, same, blank] = [
      await contact({ notes }),
      await contact({ notes }),
      await contact({ notes: 'Met' }),
    ];
    const notesAfter = async (response: ReturnType<typeof merge>) =>
      (await response.expect(200)).body.data.notes;
    const both = `Met in London.\n\n${notes}`;
    expect(await notesAfter(merge(id, other))).toBe(both);
    expect(await notesAfter(merge(id, same))).toBe(both);
    expect(await notesAfter(merge(id, blank))).toBe(`${both}\n\nMet`);
    expect(await notesAfter(unmerge(id, other))).toBe(`${both}\n\nMet`);
    expect(await notesAfter(unmerge(id, same))).toBe('Met in London.\n\nMet');
    await put(`${path}/${id}`, { notes: 'Met in Paris.\n\nMet' }).expect(200);
    expect(await notesAfter(unmerge(id, blank))).toBe('Met in Paris.');
    const empty = await contact({});
    expect(await notesAfter(merge(empty, other))).toBe(notes);
    expect(await notesAfter(unmerge(empty, other))).toBeNull();
  });

  test('is refused if the notes of both are too long, with what to do', async () => {
    const [id, other] = [
      await contact({ notes: 'a'.repeat(6000) }),
      await contact({ notes: 'b'.repeat(4000) }),
    ];
    const { body } = await merge(id, other).expect(409);
    expect(body.message).toContain('notes of more than 10000 characters');
  });

  test('takes no address or number that the contact has already, however it is written', async () => {
    const london = { label: 'home', line1: '12 St James Square', city: 'London', country: 'UK' };
    const id = await contact({
      email: 'ada@a.example',
      phone: '+36 1 234 5678',
      phones: [{ label: 'work', phone: '06-20-111' }],
      addresses: [london],
    });
    const other = await contact({
      email: 'ada@b.example',
      emails: [
        { label: 'old', email: 'ada@a.example' },
        { label: 'new', email: 'ada@b.example' },
      ],
      phone: '06 20 111',
      phones: [{ label: 'home', phone: '+36 (1) 234-5678' }],
      addresses: [
        { ...london, label: 'private', line1: '12  st james square ', city: 'LONDON' },
        { ...london, line1: '13 St James Square' },
      ],
    });
    const { data } = (await merge(id, other).expect(200)).body;
    expect(data.emails).toEqual([{ label: 'merged', email: 'ada@b.example' }]);
    expect(data.phones).toEqual([{ label: 'work', phone: '06-20-111' }]);
    expect(data.addresses.map((one: { line1: string }) => one.line1)).toEqual([
      '12 St James Square',
      '13 St James Square',
    ]);
  });

  test('does not make a further address of the contact its primary one as well', async () => {
    const emails = [{ label: 'work', email: 'ada@a.example' }];
    const [id, other] = [await contact({ emails }), await contact({ email: 'ada@a.example' })];
    expect((await merge(id, other).expect(200)).body.data).toMatchObject({ email: null, emails });
  });

  test('leaves it to be found by the address of either', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    await merge(id, other).expect(200);
    for (const email of ['ada@a.example', 'ADA@B.example', 'ada@c.example']) {
      expect((await get(`${path}?email=${email}`).expect(200)).body.data).toMatchObject([{ id }]);
    }
  });

  test('moves its logs and tasks, with new versions', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const [mine, theirs, todo] = [await log(id), await log(other), await task(other)];
    const before = await get(`/api/crm/communication-logs/${theirs}`);
    await merge(id, other).expect(200);
    expect(await logsOf(id)).toEqual([mine, theirs]);
    expect((await get(`/api/crm/tasks/${todo}`)).body.data.contact_id).toBe(id);
    const stale = { 'If-Match': before.headers.etag as string };
    await put(`/api/crm/communication-logs/${theirs}`, { subject: 'A' }, stale).expect(412);
  });

  test('requires two contacts that are not deleted, and the version that If-Match names', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    expect((await merge(id, id).expect(422)).body.errors).toHaveProperty('contact_id');
    const { etag } = (await get(`${path}/${id}`)).headers as { etag: string };
    await put(`${path}/${id}`, { title: 'CEO' }).expect(200);
    await merge(id, other, { 'If-Match': etag }).expect(412);
    expect(await show(other)).toMatchObject({ tags: ['press', 'lead'] });
    await remove(`${path}/${other}`).expect(204);
    expect((await merge(id, other).expect(422)).body.errors).toHaveProperty('contact_id');
    await merge(other, id).expect(404);
  });

  test('does not take over a deleted company', async () => {
    const company = await post('/api/crm/companies', { name: 'Gone' }).expect(201);
    const company_id = company.body.data.id;
    const [id, other] = [await contact(one), await contact({ company_id })];
    await remove(`/api/crm/companies/${company_id}?force=true`).expect(204);
    expect((await merge(id, other).expect(200)).body.data.company_id).toBeNull();
  });

  test('requires the permissions to update and to delete contacts', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    for (const lacking of ['contacts.update', 'contacts.delete']) {
      await merge(id, other, caller({ lacking: [lacking] })).expect(403);
    }
  });

  test('loses nothing when merges run concurrently', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, (_, at) => contact({ tags: [`${at}`] })),
    );
    const logs = await Promise.all(ids.map(log));
    const pairs = ids.flatMap((id) =>
      ids.filter((other) => other !== id).map((other) => [id, other]),
    );
    const answers = await Promise.all(pairs.map(([id = '', other = '']) => merge(id, other)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(answers.filter(({ status }) => ![200, 404, 422].includes(status))).toEqual([]);
    const { data: left } = (await get(path)).body;
    expect(left).toHaveLength(1);
    expect([...left[0].tags].sort()).toEqual(['0', '1', '2', '3', '4']);
    expect((await logsOf(left[0].id)).sort()).toEqual([...logs].sort());
  });
});

test('A merge is refused if the contacts together have more than a list can contain', async () => {
  const tags = Array.from({ length: 49 }, (_none, n) => `tag ${n}`);
  const emails = Array.from({ length: 20 }, (_none, n) => ({
    label: 'work',
    email: `${n}@a.example`,
  }));
  const [id, other] = [await contact({ ...one, tags, emails }), await contact(two)];
  const { body } = await merge(id, other).expect(409);
  expect(body.message).toBe(
    'Together, the contacts have more than 50 tags and more than 20 emails. Remove some from one of them first.',
  );
  await put(`${path}/${id}`, { tags: tags.slice(1), emails: emails.slice(2) }).expect(200);
  const { data } = (await merge(id, other).expect(200)).body;
  expect([data.tags.length, data.emails.length]).toEqual([50, 20]);
});

test('A merge is refused if it would move too many records, but not in the other direction', async () => {
  const [few, many] = [await contact(one), await contact(two)];
  await log(many);
  await task(many);
  await task(many);
  const { database, pool } = crm().context;
  const { rows } = await pool.query<{ tenant_id: string }>(
    'SELECT tenant_id FROM tenant_crm.contacts WHERE id = $1',
    [few],
  );
  const acting = callerIn(rows[0]?.tenant_id);
  const merges = createContactMerges(database, 2);
  const refusal = (message: string) => ({ status: 409, message: expect.stringContaining(message) });
  await expect(merges.merge(acting, few, many)).rejects.toMatchObject(
    refusal('Merge this contact into that one instead.'),
  );
  const another = await contact(one);
  for (let n = 0; n < 3; n += 1) await task(another);
  await expect(merges.merge(acting, another, many)).rejects.toMatchObject(
    refusal('This contact has more as well'),
  );
  expect((await merges.merge(acting, many, few)).id).toBe(many);
});

describe('A repeated merge', () => {
  test('changes nothing, and answers with the survivor', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const before = (await get(`${path}/${id}`)).headers as { etag: string };
    const ifUnchanged = { 'If-Match': before.etag };
    const { body, headers } = await merge(id, other, ifUnchanged).expect(200);
    const repeated = await merge(id, other, ifUnchanged).expect(200);
    expect([repeated.body, repeated.headers.etag]).toEqual([body, headers.etag]);
    expect((await get(`${path}/${id}/history`)).body.meta.total).toBe(2);
  });

  test('of a contact that is merged into another one is refused with the id of that one', async () => {
    const [id, other, third] = [await contact(one), await contact(two), await contact({})];
    await merge(id, other).expect(200);
    expect((await merge(third, other).expect(422)).body.errors).toEqual({
      contact_id: [`contact_id is merged into the contact ${id} already`],
    });
  });

  test('gets the response of the first one by its Idempotency-Key, and so does undoing it', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    for (const action of ['merge', 'unmerge']) {
      const headers = { 'Idempotency-Key': action };
      const send = () => post(`${path}/${id}/${action}`, { contact_id: other }, headers);
      const first = await send().expect(200);
      const second = await send().expect(200);
      expect(second.body).toEqual(first.body);
      expect(second.headers['idempotent-replayed']).toBe('true');
    }
    await show(other);
  });
});

describe('While a merge is not committed', () => {
  /** Starts a merge, then a request when the merge has moved all records; returns both responses. */
  const during = (id: string, other: string, request: () => PromiseLike<{ status: number }>) =>
    collide<{ status: number }>(
      crm().context.pool,
      { text: 'LOCK TABLE tenant_crm.contact_merges IN SHARE MODE' },
      [() => merge(id, other), request],
    );

  test.each(['communication-logs', 'tasks'])(
    '%s that refer to the merged contact wait, and are refused',
    async (resource) => {
      const [id, other] = [await contact(one), await contact(two)];
      const body = { kind: 'note', title: 'A', contact_id: other };
      const { kind, title, contact_id } = body;
      const fields = resource === 'tasks' ? { title, contact_id } : { kind, contact_id };
      const create = () => post(`/api/crm/${resource}`, fields);
      expect((await during(id, other, create)).map(({ status }) => status)).toEqual([200, 422]);
      const existing = await post(`/api/crm/${resource}`, { ...fields, contact_id: id }).expect(
        201,
      );
      const third = await contact({});
      const url = `/api/crm/${resource}/${existing.body.data.id}`;
      const move = () => put(url, { contact_id: third });
      expect((await during(id, third, move)).map(({ status }) => status)).toEqual([200, 422]);
    },
  );

  test.each(['communication-logs', 'tasks'])(
    'restored %s of the merged contact wait, and belong to the survivor',
    async (resource) => {
      const [id, other] = [await contact(one), await contact(two)];
      const linked = resource === 'tasks' ? await task(other) : await log(other);
      const url = `/api/crm/${resource}/${linked}`;
      await remove(url).expect(204);
      const restore = () => post(`${url}/restore`);
      expect((await during(id, other, restore)).map(({ status }) => status)).toEqual([200, 200]);
      expect((await get(url)).body.data.contact_id).toBe(id);
    },
  );

  test('merges of both of its contacts wait, and none of them is refused for a deadlock', async () => {
    const [id, survivor, merged] = [await contact(one), await contact(two), await contact({})];
    const logs = [await log(survivor), await log(merged)];
    const answers = await collide<{ status: number }>(
      crm().context.pool,
      { text: 'LOCK TABLE tenant_crm.contact_merges IN SHARE MODE' },
      [() => merge(survivor, merged), () => merge(id, merged), () => merge(id, survivor)],
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200]);
    expect((await logsOf(id)).sort()).toEqual(logs.sort());
  });

  test('batches that create tasks of both contacts wait for it, or it for them', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const company = await post('/api/crm/companies', { name: 'A' }).expect(201);
    const company_id = company.body.data.id;
    const operations = [{ contact_id: other }, { contact_id: id, company_id }].map((fields) => ({
      op: 'create',
      body: { title: 'A', ...fields },
    }));
    const answers = await collide<{ status: number }>(
      crm().context.pool,
      {
        text: 'SELECT id FROM tenant_crm.companies WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
        values: [tenant().id, company_id],
      },
      [() => post('/api/crm/tasks/batch', { operations, atomic: true }), () => merge(id, other)],
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('batches of its tasks in another order wait for it, and it for them', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const ids = [await task(other), await task(other), await task(other)];
    const [first, second, third] = ids;
    // The newest task has the lowest id.
    const { pool } = crm().context;
    for (const [age, of] of ids.entries()) {
      const text = `UPDATE tenant_crm.tasks SET created_at = now() - $1 * interval '1 day' WHERE id = $2`;
      await pool.query(text, [age, of]);
    }
    const operations = [first, third].map((of) => ({ op: 'update', id: of, body: { title: 'B' } }));
    const answers = await collide<{ status: number }>(
      pool,
      {
        text: 'SELECT id FROM tenant_crm.tasks WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
        values: [tenant().id, second],
      },
      [() => merge(id, other), () => post('/api/crm/tasks/batch', { operations, atomic: true })],
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe.each(['communication-logs', 'tasks'])(
  'A change of %s that waits beside a merge',
  (resource) => {
    const create = (contact_id: string) =>
      resource === 'tasks' ? task(contact_id) : log(contact_id);

    /** Sends a change of a record and then a merge of its contact, while both wait for the contact. */
    const beside = (
      contactId: string,
      requests: readonly (() => PromiseLike<{ status: number }>)[],
    ) =>
      collide<{ status: number }>(
        crm().context.pool,
        {
          text: 'SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
          values: [tenant().id, contactId],
        },
        requests,
      );

    test('moves the record to the survivor, and both succeed', async () => {
      const [id, other] = [await contact(one), await contact(two)];
      const url = `/api/crm/${resource}/${await create(other)}`;
      const move = () => put(url, { contact_id: id });
      const answers = await beside(id, [move, () => merge(id, other)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await get(url)).body.data.contact_id).toBe(id);
    });

    test('restores the record, which then goes back to its former contact', async () => {
      const [id, other] = [await contact(one), await contact(two)];
      const url = `/api/crm/${resource}/${await create(other)}`;
      await merge(id, other).expect(200);
      await remove(url).expect(204);
      const restore = () => post(`${url}/restore`);
      const undo = () => unmerge(id, other);
      for (const requests of [
        [restore, undo],
        [undo, restore],
      ]) {
        const answers = await beside(id, requests);
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect((await get(url)).body.data.contact_id).toBe(other);
        await merge(id, other).expect(200);
        await remove(url).expect(204);
      }
    });
  },
);

describe('A record in the trash when its contact is merged', () => {
  test.each(['communication-logs', 'tasks'])(
    'is restored to the last survivor, and goes back when merges are undone: %s',
    async (resource) => {
      const [first, second, third] = [await contact(one), await contact(two), await contact({})];
      const linked = resource === 'tasks' ? await task(first) : await log(first);
      const url = `/api/crm/${resource}/${linked}`;
      const owner = async () => (await get(url).expect(200)).body.data.contact_id;
      await remove(url).expect(204);
      await merge(second, first).expect(200);
      await merge(third, second).expect(200);
      await post(`${url}/restore`).expect(200);
      expect(await owner()).toBe(third);
      const [change] = (await get(`${url}/history`)).body.data;
      expect(change).toMatchObject({
        action: 'restore',
        changes: { contact_id: { from: first, to: third } },
      });
      await unmerge(third, second).expect(200);
      expect(await owner()).toBe(second);
      await unmerge(second, first).expect(200);
      expect(await owner()).toBe(first);
    },
  );

  test('is restored as it was if the survivor has been deleted', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const url = `/api/crm/tasks/${await task(other)}`;
    await remove(url).expect(204);
    await merge(id, other).expect(200);
    await remove(`${path}/${id}`).expect(204);
    await post(`${url}/restore`).expect(200);
    expect((await get(url).expect(200)).body.data.contact_id).toBe(other);
  });
});

describe('Undoing a merge', () => {
  test('restores the other contact with its links, and the survivor to its former state', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const [mine, theirs, todo] = [await log(id), await log(other), await task(other)];
    const [before, otherBefore] = [await show(id), await show(other)];
    await merge(id, other).expect(200);
    const { body } = await unmerge(id, other).expect(200);
    const changes = await crm().context.pool.query<{ table_name: string; action: string }>(
      'SELECT DISTINCT table_name, action FROM tenant_crm.record_changes WHERE tenant_id = $1',
      [tenant().id],
    );
    // Each change is an event: also those of the records that were moved.
    expect(changes.rows.filter((row) => !eventOf(row.table_name, row.action))).toEqual([]);
    const { updated_at: _survivor, ...survivor } = before;
    const { updated_at: _other, ...restored } = otherBefore;
    expect(body.data).toMatchObject(survivor);
    expect(await show(other)).toMatchObject(restored);
    expect([await logsOf(id), await logsOf(other)]).toEqual([[mine], [theirs]]);
    expect((await get(`/api/crm/tasks/${todo}`)).body.data.contact_id).toBe(other);
    expect((await unmerge(id, other).expect(422)).body.errors).toHaveProperty('contact_id');
    await merge(id, other).expect(200);
  });

  test('keeps later changes', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    const theirs = await log(other);
    await merge(id, other).expect(200);
    await put(`${path}/${id}`, { title: 'CEO', tags: ['lead', 'new'] }).expect(200);
    await put(`/api/crm/communication-logs/${theirs}`, { contact_id: await contact({}) }).expect(
      200,
    );
    const { body } = await unmerge(id, other).expect(200);
    expect(body.data).toMatchObject({ title: 'CEO', phone: null, tags: ['new'] });
    expect(await logsOf(other)).toEqual([]);
  });

  test('removes only the custom values that the survivor lacked before', async () => {
    for (const key of ['size', 'colour', 'level']) {
      await post('/api/crm/custom-fields', { key, label: key, type: 'text' }).expect(201);
    }
    const id = await contact({ custom: { size: 'S' } });
    const other = await contact({ custom: { size: 'L', colour: 'red', level: 'gold' } });
    const { body: merged } = await merge(id, other).expect(200);
    expect(merged.data.custom).toEqual({ size: 'S', colour: 'red', level: 'gold' });
    await put(`${path}/${id}`, { custom: { level: 'silver' } }).expect(200);
    const { body } = await unmerge(id, other).expect(200);
    expect(body.data.custom).toEqual({ size: 'S', level: 'silver' });
  });

  test('leaves what another merged contact has given as well, until that is undone, too', async () => {
    const field = { key: 'tier', label: 'Tier', type: 'text' };
    await post('/api/crm/custom-fields', field).expect(201);
    const custom = { tier: 'gold' };
    const [id, other] = [await contact({ tags: ['own'] }), await contact({ ...two, custom })];
    const third = await contact({ ...two, title: 'Lady', tags: ['lead', 'own'], custom });
    const before = await show(id);
    await merge(id, other).expect(200);
    await merge(id, third).expect(200);
    const { data } = (await unmerge(id, other).expect(200)).body;
    expect(data).toMatchObject({ phone: '2', email: 'ada@b.example', title: null, custom });
    expect(data).toMatchObject({ tags: ['own', 'lead'], phones: two.phones, emails: two.emails });
    const { updated_at: _, ...own } = before;
    expect((await unmerge(id, third).expect(200)).body.data).toMatchObject(own);
  });

  test('removes what was removed after an earlier merge and came back with this one', async () => {
    const given = { title: 'Lady', tags: ['lead'], email: 'ada@b.example' };
    const id = await contact({ email: 'ada@a.example' });
    const [other, third] = [await contact(given), await contact(given)];
    await merge(id, other).expect(200);
    await put(`${path}/${id}`, { title: null, tags: [], emails: [] }).expect(200);
    const { body } = await merge(id, third).expect(200);
    const emails = [{ label: 'merged', email: given.email }];
    expect(body.data).toMatchObject({ title: 'Lady', tags: ['lead'], emails });
    const { data } = (await unmerge(id, third).expect(200)).body;
    expect(data).toMatchObject({ title: null, tags: [], emails: [] });
  });

  test('is possible for 30 days; restoring the merged contact is not', async () => {
    const [id, other] = [await contact(one), await contact(two)];
    await merge(id, other).expect(200);
    await post(`${path}/${other}/restore`).expect(409);
    const age = (interval: string) =>
      crm().context.pool.query(
        'UPDATE tenant_crm.contact_merges SET merged_at = now() - $1::interval WHERE merged_id = $2',
        [interval, other],
      );
    await age('30 days 1 minute');
    await unmerge(id, other).expect(409);
    await age('29 days 23 hours');
    await unmerge(id, other).expect(200);
  });
});

test('Restoring a merged contact is refused with what can be done instead', async () => {
  const [id, other] = [await contact(one), await contact(two)];
  await merge(id, other).expect(200);
  const refusal = async () => {
    const { status, body } = await post(`${path}/${other}/restore`);
    return [status, body.message];
  };
  const merged = `The contact is merged into ${id}`;
  expect(await refusal()).toEqual([409, `${merged}: undo the merge instead.`]);
  await remove(`${path}/${id}`).expect(204);
  const deleted = `${merged}, which is deleted: restore that contact, and undo the merge.`;
  expect(await refusal()).toEqual([409, deleted]);
  await crm().context.pool.query(
    `UPDATE tenant_crm.contact_merges SET merged_at = now() - interval '31 days' WHERE merged_id = $1`,
    [other],
  );
  expect(await refusal()).toEqual([409, `${merged}, and the merge is older than 30 days.`]);
});

test('Every table that refers to contacts is moved by a merge', async () => {
  const { rows } = await crm().context.pool.query<{ name: string }>(
    `SELECT DISTINCT relname AS name FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
     WHERE contype = 'f' AND conparentid = 0 AND confrelid = 'tenant_crm.contacts'::regclass
       AND relname <> 'contact_merges' ORDER BY relname`,
  );
  expect(rows.map(({ name }) => name)).toEqual([...linkingTables]);
});
