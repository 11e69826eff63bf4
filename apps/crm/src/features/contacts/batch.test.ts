import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, get, post, put } = tenantForEachTest();
const path = '/api/crm/contacts';

interface Operation {
  readonly op: string;
  readonly id?: string;
  readonly version?: number;
  readonly body?: object;
}

const create = (body: object = { first_name: 'Ada' }): Operation => ({ op: 'create', body });
const batch = (operations: readonly Operation[], atomic = true) =>
  post(`${path}/batch`, { atomic, operations });
const results = async (operations: readonly Operation[]) =>
  (await batch(operations, false).expect(200)).body.data.results;

const created = async (body: object = { first_name: 'Ada' }): Promise<string> =>
  (await post(path, body).expect(201)).body.data.id;
const total = async (): Promise<number> => (await get(path)).body.meta.total;
const history = async (id: string) => (await get(`${path}/${id}/history`).expect(200)).body.data;

describe('An atomic batch', () => {
  test('creates, updates and deletes in order, with the responses of the single operations', async () => {
    const [kept, gone] = [await created(), await created()];
    const { body } = await batch([
      create({ first_name: 'Eve', tags: ['new'] }),
      { op: 'update', id: kept, version: 1, body: { title: 'Countess' } },
      { op: 'delete', id: gone },
      create({ first_name: 'Mallory' }),
    ]).expect(200);
    const [eve, update, deletion, mallory] = body.data.results;
    expect(eve).toMatchObject({ status: 201, version: 1, data: { tags: ['new'] } });
    expect((await get(`${path}/${eve.data.id}`)).body.data).toEqual(eve.data);
    expect(update).toMatchObject({ status: 200, version: 2, data: { title: 'Countess' } });
    expect(deletion).toEqual({ status: 204 });
    expect(mallory.data.first_name).toBe('Mallory');
    await get(`${path}/${gone}`).expect(404);
    expect(await total()).toBe(3);
  });

  test('of 500 creations keeps their order, updates the total and records a history of each', async () => {
    const names = Array.from({ length: 500 }, (_, i) => `Contact ${i}`);
    const { body } = await batch(names.map((first_name) => create({ first_name }))).expect(200);
    const made = body.data.results.map(({ data }: { data: { first_name: string } }) => data);
    expect(made.map(({ first_name }: { first_name: string }) => first_name)).toEqual(names);
    expect(await total()).toBe(500);
    expect(await history(made[499].id)).toMatchObject([{ action: 'create', version: 1 }]);
  });

  test('with invalid fields changes nothing and names each field', async () => {
    const id = await created();
    const { status, body } = await batch([
      { op: 'update', id, body: { title: 'Changed' } },
      create({ first_name: 'Eve', email: 'no' }),
      create({ last_name: 'Nobody' }),
      { op: 'delete' },
      { op: 'create', id, body: { first_name: 'Eve' } },
    ]);
    expect([status, Object.keys(body.errors)]).toEqual([
      422,
      [
        'operations.1.body.email',
        'operations.2.body.first_name',
        'operations.3.id',
        'operations.4.id',
      ],
    ]);
    expect((await get(`${path}/${id}`)).body.data.title).toBeNull();
  });

  test('that violates a constraint changes nothing and names the field of the operation', async () => {
    const refused = await batch([
      create(),
      create({ first_name: 'Eve', company_id: randomUUID() }),
      create(),
    ]);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([
      422,
      ['operations.1.body.company_id'],
    ]);
    expect(await total()).toBe(0);
  });

  test.each([
    ['that does not exist is 404', {}, 404, 'not_found'],
    ['in another version is 412', { version: 7 }, 412, 'precondition_failed'],
  ])('with a record %s and changes nothing', async (_what, change, status, error) => {
    const id = status === 412 ? await created() : randomUUID();
    const before = await total();
    const refused = await batch([create(), { op: 'delete', id, ...change }]);
    expect([refused.status, refused.body.error]).toEqual([status, error]);
    expect(Object.keys(refused.body.errors)).toEqual(['operations.1']);
    expect(await total()).toBe(before);
  });

  test.each(['create', 'update', 'delete'])('needs the permission to %s', async (verb) => {
    const id = await created();
    const operations = [create(), { op: 'update', id, body: { title: 'x' } }, { op: 'delete', id }];
    const headers = caller({ lacking: [`contacts.${verb}`] });
    const refused = await post(`${path}/batch`, { operations }, headers);
    expect([refused.status, refused.body.required_permission]).toEqual([
      403,
      `tenant.acme.crm.contacts.${verb}`,
    ]);
    expect(await history(id)).toHaveLength(1);
    const allowed = operations.filter(({ op }) => op !== verb);
    await post(`${path}/batch`, { operations: allowed }, headers).expect(200);
  });
});

describe('A batch that is not atomic', () => {
  test('performs the operations that succeed, and reports the result of each', async () => {
    const id = await created();
    const all = await results([
      create(),
      create({ first_name: '' }),
      create({ first_name: 'Eve', company_id: randomUUID() }),
      { op: 'update', id, version: 7, body: { title: 'x' } },
      { op: 'update', id, version: 1, body: { title: 'y' } },
      { op: 'delete', id: randomUUID() },
      create(),
    ]);
    expect(all.map(({ status }: { status: number }) => status)).toEqual([
      201, 422, 422, 412, 200, 404, 201,
    ]);
    expect(all[2].error).toMatchObject({
      error: 'validation_failed',
      errors: { 'operations.2.body.company_id': [expect.any(String)] },
    });
    expect(await total()).toBe(3);
    expect((await history(id))[0]).toMatchObject({ version: 2, changes: { title: { to: 'y' } } });
  });

  test('performs the operations for which the caller has the permission', async () => {
    const id = await created();
    const { body } = await post(
      `${path}/batch`,
      { atomic: false, operations: [{ op: 'delete', id }, create()] },
      caller({ lacking: ['contacts.delete'] }),
    ).expect(200);
    const [deletion, creation] = body.data.results;
    expect([deletion.status, deletion.error.error]).toEqual([403, 'permission_denied']);
    expect(creation.status).toBe(201);
    expect(await total()).toBe(2);
  });
});

test('Concurrent batches of the same records in opposite orders do not deadlock', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => created()));
  const update = (id: string) => ({ op: 'update', id, body: { title: randomUUID() } });
  const batches = Array.from({ length: 6 }, (_, i) => (i % 2 ? ids : ids.toReversed()).map(update));
  const statuses = await Promise.all(batches.map(async (one) => (await batch(one)).status));
  expect(statuses).toEqual(Array(6).fill(200));
});

test('A batch that is repeated with its Idempotency-Key has no further effect', async () => {
  const key = { 'Idempotency-Key': randomUUID() };
  const body = { atomic: false, operations: [create(), create({ first_name: '' })] };
  const first = await post(`${path}/batch`, body, key).expect(200);
  const second = await post(`${path}/batch`, body, key).expect(200);
  expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  expect(await total()).toBe(1);
});

describe('A batch that is repeated with its Idempotency-Key after the caller lost a permission', () => {
  const account = { type: 'service_account', is_service_account: true } as const;
  const everything = ['tenant.*.crm.contacts.*'];

  test.each([true, false])('is 403 and shows no record (atomic: %s)', async (atomic) => {
    const key = { 'Idempotency-Key': randomUUID() };
    const body = { atomic, operations: [create(), { op: 'delete', id: await created() }] };
    const signedIn = (scopes: string[]) => caller({ ...account, id, scopes });
    const id = randomUUID();
    await post(`${path}/batch`, body, { ...signedIn(everything), ...key }).expect(200);
    const denied = signedIn(['tenant.*.crm.contacts.create']);
    const replay = await post(`${path}/batch`, body, { ...denied, ...key });
    expect([replay.status, replay.body.error, replay.body.required_permission]).toEqual([
      403,
      'service_account_scope_denied',
      'tenant.acme.crm.contacts.delete',
    ]);
    expect(replay.body.data).toBeUndefined();
  });

  test('gets the response of the first if that denied the same operations', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const body = { atomic: false, operations: [create(), { op: 'delete', id: await created() }] };
    const headers = { ...caller({ lacking: ['contacts.delete'] }), ...key };
    const first = await post(`${path}/batch`, body, headers).expect(200);
    const second = await post(`${path}/batch`, body, headers).expect(200);
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  });
});

test('An operation that the scopes of a service account do not cover is denied as such', async () => {
  const scopes = ['tenant.*.crm.contacts.create'];
  const headers = caller({ type: 'service_account', is_service_account: true, scopes });
  const operations = [{ op: 'delete', id: await created() }];
  const { status, body } = await post(`${path}/batch`, { operations }, headers);
  expect([status, body.error, body.required_permission]).toEqual([
    403,
    'service_account_scope_denied',
    'tenant.acme.crm.contacts.delete',
  ]);
});

test('A batch has 1 to 500 operations', async () => {
  await batch([]).expect(422);
  await batch(Array.from({ length: 501 }, () => create())).expect(422);
  expect(await total()).toBe(0);
});

test('Companies and tasks, whose creation has rules, can be changed in batches too', async () => {
  const tasks = ['a', 'b', 'c'].map((title) => create({ title }));
  const { body } = await post('/api/crm/tasks/batch', { operations: tasks }).expect(200);
  const [first] = body.data.results;
  const change = { op: 'update', id: first.data.id, version: 1, body: { status: 'done' } };
  const done = await post('/api/crm/tasks/batch', { operations: [change] }).expect(200);
  expect(done.body.data.results[0].data.completed_at).toEqual(expect.any(String));
  expect((await get('/api/crm/tasks')).body.meta.total).toBe(3);
  const companies = { operations: [create({ name: 'A' }), create({ name: 'B' })] };
  await post('/api/crm/companies/batch', companies).expect(200);
  expect((await get('/api/crm/companies')).body.meta.total).toBe(2);
  await put(`/api/crm/tasks/${first.data.id}`, { title: 'd' }).expect(200);
});

describe('Before the operations of a batch are validated, it is known whether the caller may perform them:', () => {
  const readOnly = () =>
    caller({ lacking: ['contacts.create', 'contacts.update', 'contacts.delete'] });

  test('callers who may do nothing get 403 before their body is read', async () => {
    const answer = await post(`${path}/batch`, { no: 'batch' }, readOnly());
    expect([answer.status, answer.body.error]).toEqual([403, 'permission_denied']);
    const notAtomic = { atomic: false, operations: [create()] };
    await post(`${path}/batch`, notAtomic, readOnly()).expect(403);
  });

  test('an atomic batch with a verb that the caller may not use is 403, whatever it contains', async () => {
    const operations = [create({ email: 7 }), { op: 'delete' }, 'nonsense'];
    const headers = caller({ lacking: ['contacts.delete'] });
    const { status, body } = await post(`${path}/batch`, { operations }, headers);
    expect([status, body.required_permission]).toEqual([403, 'tenant.acme.crm.contacts.delete']);
    expect(Object.keys(body.errors)).toEqual(['operations.1']);
  });
});

describe('The errors of a batch', () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, key) => [`no_${key}`, 0]));
  const operations = Array.from({ length: 100 }, () => create({ first_name: 'Ada', ...many }));

  test('name operations that are no operations', async () => {
    const { body } = await batch([create(), create(), { op: 'create', bodies: 1 } as Operation]);
    expect(body.errors).toEqual({
      'operations.2.bodies': ['operations.2.bodies is not allowed'],
    });
  });

  test('are limited in number', async () => {
    const { body } = await batch(operations).expect(422);
    expect(Object.keys(body.errors).length).toBeLessThanOrEqual(1150);
    const separate = await results(operations);
    expect(separate).toHaveLength(100);
    const named = separate.flatMap(({ error }: { error: { errors: object } }) =>
      Object.keys(error.errors),
    );
    expect(named.length).toBeLessThanOrEqual(1250);
  });
});
