import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { lockEntriesOf } from './time-entries.rules.ts';

type Headers = Readonly<Record<string, string>>;

const { crm, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/time-entries';
const at = (hour: number, minute = 0): string =>
  new Date(Date.UTC(2026, 2, 2, hour, minute)).toISOString();

/** The path of a new entry. */
const created = async (fields: object, headers: Headers = {}): Promise<string> => {
  const { body } = await post(path, fields, headers).expect(201);
  return `${path}/${body.data.id}`;
};

/** A user without `time_entries.export`. */
const worker = (id = randomUUID()): Headers => caller({ id, lacking: ['time_entries.export'] });

const project = async (fields: object, headers: Headers = {}): Promise<string> => {
  const key = `T${randomUUID().replaceAll('-', '').slice(0, 8).toUpperCase()}`;
  const { body } = await post('/api/crm/projects', { name: 'P', key, ...fields }, headers);
  return body.data.id;
};

const client = (): Headers => ({
  ...crm().identity.signIn({ type: 'client', id: 'pipeline', tenants: [], scopes: ['*'] }).headers,
  'x-tenant': 'acme',
});

describe('An entry has a start and either minutes or an end', () => {
  test('and answers both', async () => {
    const one = await post(path, { started_at: at(8), minutes: 90 }).expect(201);
    expect(one.body.data).toMatchObject({ ended_at: at(9, 30), minutes: 90, billable: false });
    const other = await post(path, { started_at: at(10), ended_at: at(10, 20) }).expect(201);
    expect(other.body.data).toMatchObject({ ended_at: at(10, 20), minutes: 20 });
  });

  test.each([
    ['neither', {}, 'ended_at'],
    ['both', { minutes: 5, ended_at: at(9) }, 'minutes'],
    ['an end before the start', { ended_at: at(7) }, 'ended_at'],
    ['an end at the start', { ended_at: at(8) }, 'ended_at'],
    ['an end after more than a year', { ended_at: '2027-03-03T08:01:00Z' }, 'ended_at'],
    ['an end after thousands of years', { ended_at: '9999-12-31T00:00:00Z' }, 'ended_at'],
    ['an end after the year 9999', { started_at: '9999-12-31T23:00:00Z', minutes: 60 }, 'minutes'],
  ])('%s is refused', async (_, fields, field) => {
    const { status, body } = await post(path, { started_at: at(8), ...fields });
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });

  test('which can be changed', async () => {
    const entry = await created({ started_at: at(8), minutes: 60 });
    const longer = await put(entry, { minutes: 90 }).expect(200);
    expect(longer.body.data).toMatchObject({ ended_at: at(9, 30), minutes: 90 });
    const later = await put(entry, { started_at: at(9) }).expect(200);
    expect(later.body.data).toMatchObject({ ended_at: at(9, 30), minutes: 30 });
    const moved = await put(entry, { started_at: at(12), ended_at: at(13) }).expect(200);
    expect(moved.body.data).toMatchObject({ started_at: at(12), minutes: 60 });
    const noted = await put(entry, { note: 'Call' }).expect(200);
    expect(noted.body.data).toMatchObject({ ended_at: at(13), note: 'Call' });
    await put(entry, { minutes: 5, ended_at: at(14) }).expect(422);
    await put(entry, { ended_at: at(11) }).expect(422);
    await put(entry, { ended_at: '9999-12-31T00:00:00Z' }).expect(422);
    await put(entry, { started_at: '9999-12-31T00:00:00Z' }).expect(422);
  });
});

describe('The entries of a user do not overlap', () => {
  const overlap = 'started_at to ended_at overlaps with another time entry of the user';

  test('when they are created, changed or restored; those of others may', async () => {
    const entry = await created({ started_at: at(8), minutes: 60 });
    const next = await created({ started_at: at(9), minutes: 60 });
    for (const request of [
      post(path, { started_at: at(7), minutes: 61 }),
      put(next, { started_at: at(8, 59) }),
      put(entry, { ended_at: null }),
    ]) {
      expect((await request.expect(422)).body.errors).toEqual({ started_at: [overlap] });
    }
    await post(path, { started_at: at(8), minutes: 60 }, caller()).expect(201);
    await remove(entry).expect(204);
    const other = await created({ started_at: at(8, 30), minutes: 5 });
    const refused = await post(`${entry}/restore`);
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    await remove(other).expect(204);
    await post(`${entry}/restore`).expect(200);
  });

  test('also if they are created at the same time', async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) => post(path, { started_at: at(8, n), minutes: 60 })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422]);
  });
});

describe('A timer', () => {
  test('runs from its start until it is stopped, once', async () => {
    const began = Date.now();
    const { body, headers } = await post(`${path}/start`, { note: 'Review' }).expect(201);
    expect(headers.location).toBe(`${path}/${body.data.id}`);
    expect(body.data).toMatchObject({ ended_at: null, minutes: null, note: 'Review' });
    expect(Date.parse(body.data.started_at)).toBeGreaterThanOrEqual(began);
    const running = await get(`${path}?running=true`).expect(200);
    expect(running.body.data).toEqual([body.data]);
    const stopped = await post(`${headers.location}/stop`).expect(200);
    expect(stopped.body.data).toMatchObject({ minutes: 0, ended_at: expect.any(String) });
    await post(`${headers.location}/stop`).expect(409);
    expect((await get(`${path}?running=true`)).body.data).toEqual([]);
    await post(`${path}/start`, {}).expect(201);
  });

  test('is the only one of its user, also if two are started at the same time', async () => {
    const started = await Promise.all([1, 2, 3, 4].map(() => post(`${path}/start`, {})));
    expect(started.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect((await get(`${path}?running=true`)).body.meta.total).toBe(1);
    // A timer about nothing yet: without a body.
    await post(`${path}/start`, null, caller()).expect(201);
  });

  test('is not stopped during another change of its user', async () => {
    const { body, headers } = await post(`${path}/start`, {}).expect(201);
    const { database, pool } = crm().context;
    const { rows } = await pool.query(
      'SELECT tenant_id FROM tenant_crm.time_entries WHERE id = $1',
      [body.data.id],
    );
    let stopped: Promise<{ status: number }> | undefined;
    await database.forTenant(rows[0].tenant_id).transaction(async (db) => {
      await lockEntriesOf(db, body.data.user_id);
      stopped = post(`${headers.location}/stop`).then();
      await until(async () => {
        const waiting = await pool.query(
          `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
        );
        return waiting.rows.length > 0;
      });
    });
    expect((await stopped)?.status).toBe(200);
  });

  test('is also ended by a change, and continues if its end is removed', async () => {
    const { headers } = await post(`${path}/start`, {}).expect(201);
    const timer = String(headers.location);
    const ended = await put(timer, { minutes: 25 }).expect(200);
    expect(ended.body.data.minutes).toBe(25);
    const resumed = await put(timer, { ended_at: null }).expect(200);
    expect(resumed.body.data).toMatchObject({ ended_at: null, minutes: null });
  });

  test('begins where an entry ends that a faster clock has ended, unless that is more than a minute ahead', async () => {
    const ahead = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    const ended_at = ahead(20);
    const entry = await created({ started_at: ahead(-600), ended_at });
    const { body, headers } = await post(`${path}/start`, {}).expect(201);
    expect(body.data).toMatchObject({ started_at: ended_at, ended_at: null });
    const stopped = await post(`${headers.location}/stop`).expect(200);
    expect(Date.parse(stopped.body.data.ended_at)).toBeGreaterThan(Date.parse(ended_at));
    await remove(String(headers.location)).expect(204);
    await put(entry, { ended_at: ahead(600) }).expect(200);
    expect((await post(`${path}/start`, {}).expect(409)).body.error).toBe('conflict');
    await put(entry, { started_at: ahead(300) }).expect(200);
    expect((await post(`${path}/start`, {}).expect(409)).body.error).toBe('conflict');
  });

  test('is not stopped before it has begun', async () => {
    for (const started_at of ['2999-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z']) {
      const timer = await created({ started_at, ended_at: null });
      const refused = await post(`${timer}/stop`);
      expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
      await remove(timer).expect(204);
    }
  });

  test('requires a user, as does every entry of the caller', async () => {
    for (const request of [
      post(`${path}/start`, {}, client()),
      post(path, { started_at: at(8), minutes: 5 }, client()),
    ]) {
      expect((await request.expect(403)).body.error).toBe('user_required');
    }
  });
});

describe('Without time_entries.export', () => {
  test('callers see and change only their own entries', async () => {
    const entry = await created({ started_at: at(8), minutes: 60 });
    const headers = worker();
    await created({ started_at: at(8), minutes: 60 }, headers);
    expect((await get(path, headers)).body.meta.total).toBe(1);
    expect((await get(path)).body.meta.total).toBe(2);
    for (const request of [
      get(entry, headers),
      get(`${entry}/history`, headers),
      put(entry, { note: 'X' }, headers),
      post(`${entry}/stop`, {}, headers),
      remove(entry, headers),
      post(`${entry}/restore`, {}, headers),
    ]) {
      await request.expect(404);
    }
    const { body } = await get(`${path}/export`, headers).expect(403);
    expect(body.required_permission).toBe('tenant.acme.crm.time_entries.export');
  });

  test('callers cannot create entries for others', async () => {
    const user_id = randomUUID();
    const entry = { started_at: at(8), minutes: 60, user_id };
    const { body } = await post(path, entry, worker()).expect(422);
    expect(Object.keys(body.errors)).toEqual(['user_id']);
    expect((await post(path, entry, worker(user_id)).expect(201)).body.data.user_id).toBe(user_id);
    const later = { started_at: at(12), minutes: 60, user_id };
    expect((await post(path, later).expect(201)).body.data.user_id).toBe(user_id);
    const { body: found } = await get(`${path}?user_id=${user_id}`).expect(200);
    expect(found.meta.total).toBe(2);
  });
});

describe('Entries of a private project', () => {
  test('are invisible to users who are not its members, except their own', async () => {
    const project_id = await project({ is_private: true });
    const entry = await created({ started_at: at(8), minutes: 60, project_id });
    await created({ started_at: at(10), minutes: 60 });
    const stranger = caller();
    await created({ started_at: at(8), minutes: 30 }, stranger);
    await get(entry, stranger).expect(404);
    await get(`${entry}/history`, stranger).expect(404);
    const { body } = await get(path, stranger).expect(200);
    expect([body.data.length, body.meta.total]).toEqual([2, 2]);
    expect((await get(`${path}/export?format=json`, stranger)).body.data).toHaveLength(2);
    const summary = `${path}/summary?from=2026-03-01&to=2026-03-03&group_by=project`;
    expect((await get(summary, stranger)).body.meta.minutes).toBe(90);
    expect((await get(summary)).body.meta.minutes).toBe(150);
    expect((await get(path, caller({ is_system_admin: true }))).body.meta.total).toBe(3);
  });

  test('keep what they were from strangers when they leave it, and show it to their user', async () => {
    const id = randomUUID();
    const [user, project_id] = [caller({ id }), await project({ is_private: true })];
    await post(`/api/crm/projects/${project_id}/members`, { user_id: id }).expect(201);
    const entry = await created({ started_at: at(8), minutes: 60, project_id }, user);
    await put(entry, { note: 'secret' }, user).expect(200);
    await put(entry, { note: null, project_id: null }, user).expect(200);
    await remove(`/api/crm/projects/${project_id}/members/${id}`).expect(204);
    const { body } = await get(`${entry}/history`, caller()).expect(200);
    expect(body).toMatchObject({ data: [{ version: 3, changes: {} }], meta: { total: 1 } });
    for (const headers of [user, worker(id), {}]) {
      const whole = await get(`${entry}/history`, headers).expect(200);
      expect(whole.body.meta.total).toBe(3);
      expect(JSON.stringify(whole.body)).toContain('secret');
    }
  });

  test('stay visible to their user after the membership has ended', async () => {
    const id = randomUUID();
    const [member, project_id] = [caller({ id }), await project({ is_private: true })];
    await post(`/api/crm/projects/${project_id}/members`, { user_id: id }).expect(201);
    const entry = await created({ started_at: at(8), minutes: 60, project_id }, member);
    await created({ started_at: at(8), minutes: 60, project_id });
    await remove(`/api/crm/projects/${project_id}/members/${id}`).expect(204);
    for (const headers of [member, worker(id)]) {
      await get(entry, headers).expect(200);
      expect((await get(path, headers)).body.meta.total).toBe(1);
    }
  });

  test('can be created by members with any role except viewer', async () => {
    const id = randomUUID();
    const [viewer, project_id] = [caller({ id }), await project({ is_private: true })];
    const entry = { started_at: at(8), minutes: 60, project_id };
    const unseen = await post(path, entry, viewer).expect(422);
    expect(Object.keys(unseen.body.errors)).toEqual(['project_id']);
    const members = `/api/crm/projects/${project_id}/members`;
    await post(members, { user_id: id, role: 'viewer' }).expect(201);
    expect((await post(path, entry, viewer).expect(403)).body.error).toBe('project_role_required');
  });

  test('can be changed by viewers only if they are their own', async () => {
    const id = randomUUID();
    const [viewer, project_id] = [caller({ id }), await project({ is_private: true })];
    const members = `/api/crm/projects/${project_id}/members`;
    await post(members, { user_id: id, role: 'member' }).expect(201);
    const own = await created({ started_at: at(8), minutes: 60, project_id }, viewer);
    await put(`${members}/${id}`, { role: 'viewer' }).expect(200);
    const entry = await created({ started_at: at(8), minutes: 60, project_id });
    const deleted = await created({ started_at: at(10), minutes: 60, project_id });
    await remove(deleted).expect(204);
    const timer = await created({ started_at: at(12), ended_at: null, project_id });
    await get(entry, viewer).expect(200);
    const refusals = [
      await put(entry, { note: 'X' }, viewer),
      await put(entry, { project_id: null }, viewer),
      await remove(entry, viewer),
      await post(`${deleted}/restore`, {}, viewer),
      await post(`${timer}/stop`, {}, viewer),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual(
      refusals.map(() => [403, 'project_role_required']),
    );
    await put(own, { note: 'X' }, viewer).expect(200);
    await remove(own, viewer).expect(204);
    await post(`${own}/restore`, {}, viewer).expect(200);
  });
});

describe('A task of an entry', () => {
  const task = async (fields: object, headers: Headers = {}): Promise<string> => {
    const { body } = await post('/api/crm/tasks', { title: 'T', ...fields }, headers).expect(201);
    return body.data.id;
  };

  test('determines the project of the entry, and filters the list', async () => {
    const project_id = await project({});
    const [task_id, other] = [await task({ project_id }), await task({})];
    const { body } = await post(path, { started_at: at(8), minutes: 60, task_id }).expect(201);
    expect(body.data).toMatchObject({ task_id, project_id });
    expect((await get(`${path}?task_id=${task_id}`)).body.meta.total).toBe(1);
    const entry = `${path}/${body.data.id}`;
    const moved = await put(entry, { task_id: other }).expect(200);
    expect(moved.body.data).toMatchObject({ task_id: other, project_id: null });
    const removed = await put(entry, { task_id: null, project_id }).expect(200);
    expect(removed.body.data).toMatchObject({ task_id: null, project_id });
    const same = await put(entry, {}).expect(200);
    expect(same.headers.etag).toBe(removed.headers.etag);
  });

  test('that moves takes a timer that ends afterwards with it, but no finished entry', async () => {
    const [first, second] = [await project({}), await project({})];
    const task_id = await task({ project_id: first });
    const finished = await created({ started_at: at(8), minutes: 60, task_id });
    const projectOf = async (entry: string) => (await get(entry)).body.data.project_id;
    const started = await post(`${path}/start`, { task_id }).expect(201);
    await put(`/api/crm/tasks/${task_id}`, { project_id: second }).expect(200);
    const { body } = await post(`${started.headers.location}/stop`).expect(200);
    expect([body.data.project_id, await projectOf(finished)]).toEqual([second, first]);
    const other = await created({ started_at: at(9), ended_at: null, task_id }, caller());
    await put(`/api/crm/tasks/${task_id}`, { project_id: null }).expect(200);
    await put(other, { note: 'Still at it' }).expect(200);
    expect(await projectOf(other)).toBe(second);
    await put(other, { minutes: 30 }).expect(200);
    expect(await projectOf(other)).toBeNull();
  });

  test('that moves out of sight leaves a timer where it was', async () => {
    const user = caller();
    const [seen, hidden] = [await project({}), await project({ is_private: true })];
    const task_id = await task({ project_id: seen });
    const started = await post(`${path}/start`, { task_id }, user).expect(201);
    await put(`/api/crm/tasks/${task_id}`, { project_id: hidden }).expect(200);
    const { body } = await post(`${started.headers.location}/stop`, {}, user).expect(200);
    expect(body.data.project_id).toBe(seen);
  });

  test('in a deleted project leaves a timer where it was', async () => {
    const [first, second] = [await project({}), await project({})];
    const task_id = await task({ project_id: first });
    const started = await post(`${path}/start`, { task_id }).expect(201);
    const other = await created({ started_at: at(9), ended_at: null, task_id }, caller());
    await put(`/api/crm/tasks/${task_id}`, { project_id: second }).expect(200);
    await remove(`/api/crm/projects/${second}?force=true`).expect(204);
    const stopped = await post(`${started.headers.location}/stop`).expect(200);
    const ended = await put(other, { minutes: 30 }).expect(200);
    expect([stopped.body.data.project_id, ended.body.data.project_id]).toEqual([first, first]);
  });

  test('in a private project leaves the timer of a viewer where it was', async () => {
    const id = randomUUID();
    const [seen, restricted] = [await project({}), await project({ is_private: true })];
    const members = `/api/crm/projects/${restricted}/members`;
    await post(members, { user_id: id, role: 'viewer' }).expect(201);
    const user = caller({ id });
    const task_id = await task({ project_id: seen });
    const started = await post(`${path}/start`, { task_id }, user).expect(201);
    await put(`/api/crm/tasks/${task_id}`, { project_id: restricted }).expect(200);
    const { body } = await post(`${started.headers.location}/stop`, {}, user).expect(200);
    expect(body.data.project_id).toBe(seen);
    await put(`${members}/${id}`, { role: 'member' }).expect(200);
    await put(`${path}/${body.data.id}`, { ended_at: null }).expect(200);
    const again = await post(`${started.headers.location}/stop`, {}, caller({ id })).expect(200);
    expect(again.body.data.project_id).toBe(restricted);
  });

  test('must belong to its project', async () => {
    const [one, other] = [await project({}), await project({})];
    const task_id = await task({ project_id: one });
    const refused = { started_at: at(8), minutes: 60, task_id, project_id: other };
    const { body } = await post(path, refused).expect(422);
    expect(body.errors).toEqual({ task_id: ['task_id must be the id of a task of the project'] });
    const entry = await created({ started_at: at(8), minutes: 60, task_id });
    const moved = await put(entry, { project_id: other }).expect(422);
    expect(moved.body.errors).toEqual({ task_id: [expect.stringContaining('as null')] });
    await put(entry, { project_id: other, task_id: null }).expect(200);
  });

  test('that is deleted or out of sight is dropped when the entry moves to another project alone', async () => {
    const user = caller();
    const [one, other] = [await project({}), await project({})];
    const hidden = await project({ is_private: true });
    const [deleted, moved] = [await task({ project_id: one }), await task({ project_id: one })];
    const first = await created({ started_at: at(8), minutes: 60, task_id: deleted }, user);
    const second = await created({ started_at: at(9), minutes: 60, task_id: moved }, user);
    await remove(`/api/crm/tasks/${deleted}`).expect(204);
    await put(`/api/crm/tasks/${moved}`, { project_id: hidden }).expect(200);
    const unseen = await put(second, { project_id: hidden }, user).expect(422);
    expect(Object.keys(unseen.body.errors)).toEqual(['project_id']);
    for (const entry of [first, second]) {
      const { body } = await put(entry, { project_id: other }, user).expect(200);
      expect(body.data).toMatchObject({ project_id: other, task_id: null });
    }
    const { body } = await get(`${first}/history`, user).expect(200);
    expect(body.data[0].changes).toEqual({
      project_id: { from: one, to: other },
      task_id: { from: deleted, to: null },
    });
    const gone = { project_id: one, task_id: deleted };
    expect(Object.keys((await put(first, gone, user).expect(422)).body.errors)).toEqual([
      'task_id',
    ]);
  });

  test('must not be in a deleted project', async () => {
    const project_id = await project({});
    const task_id = await task({ project_id });
    const outside = await created({ started_at: at(9), minutes: 60 });
    await remove(`/api/crm/projects/${project_id}?force=true`).expect(204);
    for (const request of [
      post(path, { started_at: at(10), minutes: 60, task_id }),
      post(`${path}/start`, { task_id }),
      put(outside, { task_id }),
    ]) {
      expect((await request.expect(422)).body.errors).toEqual({
        task_id: ['task_id must be the id of an existing task'],
      });
    }
    const unnamed = await put(outside, { project_id }).expect(422);
    expect(Object.keys(unnamed.body.errors)).toEqual(['project_id']);
  });

  test('must be visible to the user', async () => {
    const task_id = await task({ project_id: await project({ is_private: true }) });
    const { body } = await post(`${path}/start`, { task_id }, caller()).expect(422);
    expect(body.errors).toEqual({ task_id: ['task_id must be the id of an existing task'] });
    expect((await post(`${path}/start`, { task_id }).expect(201)).body.data.task_id).toBe(task_id);
  });
});
