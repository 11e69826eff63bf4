import { until } from '@tessera/local-stack';
import { countLockWaits } from '../../testing/lock-waits.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, tenant, get, post, put } = tenantForEachTest();
const contacts = '/api/crm/contacts';

/** How many changes and events there are in the tenant. */
const traces = async (): Promise<unknown> => {
  const { rows } = await crm().context.pool.query(
    `SELECT (SELECT count(*) FROM tenant_crm.record_changes WHERE tenant_id = $1) AS changes,
       (SELECT count(*) FROM tenant_crm.outbox WHERE tenant_id = $1) AS events,
       (SELECT count(*) FROM tenant_crm.chat_events WHERE tenant_id = $1) AS chat`,
    [tenant().id],
  );
  return rows;
};

/** Sends a change that must leave the record as it is, with its version and its times. */
const changesNothing = async (one: string, change: object): Promise<void> => {
  const before = await get(one).expect(200);
  const left = await traces();
  const answer = await put(one, change, { 'If-Match': before.headers.etag ?? '' });
  expect([answer.status, answer.body]).toEqual([200, before.body]);
  const after = await get(one);
  expect([after.body, after.headers.etag]).toEqual([before.body, before.headers.etag]);
  expect(await traces()).toEqual(left);
};

const created = async (path: string, body: object): Promise<string> => {
  const { status, headers } = await post(path, body);
  expect(status).toBe(201);
  return headers.location ?? '';
};

const ada = {
  first_name: 'Ada',
  email: 'ada@example.com',
  tags: ['vip', 'uk'],
  emails: [{ label: 'home', email: 'ada@home.example' }],
  addresses: [{ label: 'home', city: 'London', country: 'GB' }],
};

describe('An update that changes nothing makes no version, no history and no event', () => {
  test('of a contact, whatever the order of keys, the form of an address, or what is left out', async () => {
    const one = await created(contacts, ada);
    await changesNothing(one, {});
    await changesNothing(one, ada);
    await changesNothing(one, { first_name: 'Ada' });
    await changesNothing(one, { email: 'ADA@Example.com' });
    await changesNothing(one, { addresses: [{ country: 'GB', city: 'London', label: 'home' }] });
    // It still depends on the version that the caller has read.
    const late = await put(one, ada, { 'If-Match': '"7"' });
    expect([late.status, late.body.error]).toEqual([412, 'precondition_failed']);
    // And a change of one field among them is one.
    const changed = await put(one, { ...ada, title: 'Countess' });
    expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
    expect((await get(`${one}/history`)).body.data).toMatchObject([
      { changes: { title: { from: null, to: 'Countess' } } },
      { action: 'create' },
    ]);
  });

  test('of its custom fields, or of none of them', async () => {
    await created('/api/crm/custom-fields', { key: 'size', label: 'Size', type: 'number' });
    const one = await created(contacts, { ...ada, custom: { size: 1.5 } });
    await changesNothing(one, { custom: { size: 1.5 } });
    await changesNothing(one, { custom: {} });
  });

  test('of a time entry, in another time zone or with the minutes that are shown', async () => {
    const one = await created('/api/crm/time-entries', {
      started_at: '2026-03-02T08:00:00Z',
      ended_at: '2026-03-02T08:00:29Z',
    });
    await changesNothing(one, { started_at: '2026-03-02T09:00:00+01:00' });
    // 29 seconds are shown as 0 minutes, which would end the entry when it starts.
    await changesNothing(one, { minutes: 0 });
    await changesNothing(one, { minutes: 0, ended_at: '2026-03-02T08:00:29Z' });
    const refused = await put(one, { minutes: 0, started_at: '2026-03-02T07:00:00Z' });
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      { minutes: ['minutes must be from 1 to 527040'] },
    ]);
    // Of both, what differs from the entry counts.
    const later = await put(one, { minutes: 0, ended_at: '2026-03-02T09:00:00Z' });
    expect(later.body.data).toMatchObject({ minutes: 60, ended_at: '2026-03-02T09:00:00.000Z' });
    const shorter = await put(one, { minutes: 30, ended_at: '2026-03-02T09:00:00Z' });
    expect(shorter.body.data).toMatchObject({ minutes: 30, ended_at: '2026-03-02T08:30:00.000Z' });
    const neither = await put(one, { minutes: 20, ended_at: '2026-03-02T09:00:00Z' });
    expect([neither.status, Object.keys(neither.body.errors)]).toEqual([422, ['minutes']]);
  });

  test('of a member with the same role, and a folder or task in its place', async () => {
    const project = await created('/api/crm/projects', { name: 'Engine', key: 'ENG' });
    const userId = crypto.randomUUID();
    const members = `${project}/members`;
    await created(members, { user_id: userId, role: 'viewer' });
    await changesNothing(`${members}/${userId}`, { role: 'viewer' });
    const folder = await created('/api/crm/document-folders', { name: 'Plans' });
    await changesNothing(folder, { name: 'Plans', parent_id: null });
    const task = await created('/api/crm/tasks', { title: 'Draw' });
    const { status } = (await get(task)).body.data;
    await changesNothing(task, { status, project_id: null });
  });

  test('in a batch, beside one that changes something', async () => {
    const one = await created(contacts, ada);
    const other = await created(contacts, { first_name: 'Bob' });
    const idOf = (path: string): string => path.split('/').at(-1) ?? '';
    const { body } = await post(`${contacts}/batch`, {
      operations: [
        { op: 'update', id: idOf(one), body: ada },
        { op: 'update', id: idOf(other), body: { first_name: 'Rob' } },
      ],
    });
    expect(body.data.results).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect((await get(one)).headers.etag).toBe('"1"');
    expect((await get(other)).headers.etag).toBe('"2"');
  });
});

test('A moderated comment with the same text stays approved and unedited', async () => {
  await put('/api/crm/settings', { comment_moderation: true }).expect(200);
  const article = await created('/api/crm/kb-articles', { title: 'Engines', body: 'Steam' });
  await post(`${article}/publish`).expect(200);
  const one = await created(`${article}/comments`, { body: 'Yes' });
  await changesNothing(one, { body: 'Yes' });
});

test('Settings that stay the same have no new version, even the first time', async () => {
  const path = '/api/crm/settings';
  const { body: defaults } = await get(path);
  await changesNothing(path, { message_recall_minutes: defaults.data.message_recall_minutes });
  await changesNothing(path, { content_language: null });
  const changed = await put(path, { working_week: [1, 2] }).expect(200);
  expect(changed.headers.etag).toBe('"2"');
  await changesNothing(path, { working_week: [1, 2] });
});

test('A value that another request is replacing is written, although the record still has it', async () => {
  const { pool } = crm().context;
  const one = await created('/api/crm/companies', { name: 'Acme' });
  const other = await pool.connect();
  try {
    await other.query('BEGIN');
    await other.query(
      `UPDATE tenant_crm.companies SET name = 'Other', version = version + 1
       WHERE tenant_id = $1 AND id = $2`,
      [tenant().id, one.split('/').at(-1)],
    );
    const renaming = put(one, { name: 'Acme' }).then((answer) => answer);
    await until(async () => (await countLockWaits(pool)) > 0);
    await other.query('COMMIT');
    const { body, headers } = await renaming;
    expect([body.data.name, headers.etag]).toEqual(['Acme', '"3"']);
  } finally {
    other.release();
  }
  expect((await get(one)).body.data.name).toBe('Acme');
});
