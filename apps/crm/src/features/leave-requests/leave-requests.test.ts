import { tenantForEachTest } from '../../testing/tenant.ts';

const { crm, caller, get, post, put, remove } = tenantForEachTest();
const path = '/api/crm/leave-requests';

type Headers = Readonly<Record<string, string>>;

const leave = (fields: object = {}) => ({
  kind: 'vacation',
  first_day: '2026-07-06',
  last_day: '2026-07-10',
  ...fields,
});

/** A user of the tenant who may not review. */
const employee = () => caller({ lacking: ['leave_requests.review'] });

const requested = async (headers: Headers, fields: object = {}): Promise<string> => {
  const { body } = await post(path, leave(fields), headers).expect(201);
  return `${path}/${body.data.id}`;
};

const approved = async (headers: Headers, fields: object = {}): Promise<string> => {
  const request = await requested(headers, fields);
  await post(`${request}/approve`).expect(200);
  return request;
};

const errorOf = async (response: ReturnType<typeof get>) => {
  const { status, body } = await response;
  return [status, body.error, Object.keys(body.errors ?? {})];
};

describe('A leave request', () => {
  test('is pending and belongs to the caller', async () => {
    const user = { id: crypto.randomUUID() };
    const { body } = await post(path, leave({ reason: 'Sea' }), caller(user)).expect(201);
    expect(body.data).toMatchObject({
      kind: 'vacation',
      first_day: '2026-07-06',
      last_day: '2026-07-10',
      is_first_day_half: false,
      is_last_day_half: false,
      reason: 'Sea',
      user_id: user.id,
      status: 'pending',
      working_days: 5,
      reviewed_by: null,
      reviewed_at: null,
      review_comment: null,
    });
  });

  test('cannot be given to somebody else', async () => {
    const refused = post(path, leave({ user_id: crypto.randomUUID() }));
    expect(await errorOf(refused)).toEqual([422, 'validation_failed', ['user_id']]);
  });

  test.each([
    ['ends before it begins', { last_day: '2026-07-05' }, 'last_day'],
    ['lasts longer than three years', { last_day: '2029-07-20' }, 'last_day'],
    [
      'begins and ends at noon of the same day',
      { last_day: '2026-07-06', is_first_day_half: true, is_last_day_half: true },
      'is_last_day_half',
    ],
    ['has an unknown kind', { kind: 'party' }, 'kind'],
  ])('that %s is a 422 that names the field', async (_, fields, field) => {
    expect(await errorOf(post(path, leave(fields)))).toEqual([422, 'validation_failed', [field]]);
  });

  test('can be changed while it is pending, which updates its working days', async () => {
    const request = await requested(employee());
    const { body } = await put(request, { last_day: '2026-07-13', is_last_day_half: true });
    expect(body.data).toMatchObject({ first_day: '2026-07-06', working_days: 5.5 });
    const refused = put(request, { first_day: '2026-07-20' });
    expect(await errorOf(refused)).toEqual([422, 'validation_failed', ['last_day']]);
    await post(`${request}/reject`).expect(200);
    expect((await put(request, { reason: 'Sea' })).status).toBe(409);
  });
});

describe('Working days', () => {
  test("depend on the tenant's working week", async () => {
    await put('/api/crm/settings', { working_week: [7, 1, 2, 3, 4] }).expect(200);
    const { body } = await post(path, leave({ last_day: '2026-07-12' })).expect(201);
    expect(body.data.working_days).toBe(5);
    const { body: friday } = await post(
      path,
      leave({ first_day: '2026-07-10', last_day: '2026-07-10' }),
    );
    expect(friday.data.working_days).toBe(0);
  });

  test('do not change with the working week until the days change', async () => {
    const headers = employee();
    const request = await requested(headers);
    await put('/api/crm/settings', { working_week: [1, 2] }).expect(200);
    const { body: renamed } = await put(request, { reason: 'Sea' }, headers).expect(200);
    expect(renamed.data.working_days).toBe(5);
    const { body: moved } = await put(request, { last_day: '2026-07-09' }, headers).expect(200);
    expect(moved.data.working_days).toBe(2);
  });
});

describe('Without leave_requests.review', () => {
  test('callers see, export, change, delete and restore only their own requests', async () => {
    const [ada, bob] = [employee(), employee()];
    const request = await requested(ada);
    await requested(bob, { reason: 'Bob' });
    expect((await get(path, bob)).body).toMatchObject({
      data: [{ reason: 'Bob' }],
      meta: { total: 1 },
    });
    const exported = await get(`${path}/export?format=json`, bob).expect(200);
    expect(exported.body.data.map(({ reason }: { reason: string }) => reason)).toEqual(['Bob']);
    for (const response of [
      get(request, bob),
      get(`${request}/history`, bob),
      put(request, { reason: 'Sea' }, bob),
      post(`${request}/cancel`, {}, bob),
      remove(request, bob),
      post(`${request}/restore`, {}, bob),
    ]) {
      expect((await response).status).toBe(404);
    }
    expect((await get(path)).body.meta.total).toBe(2);
  });

  test('callers can neither approve nor reject, nor see the calendar', async () => {
    const request = await requested(employee());
    const other = employee();
    for (const response of [
      post(`${request}/approve`, {}, other),
      post(`${request}/reject`, {}, other),
      get(`${path}/calendar?from=2026-07-01&to=2026-07-31`, other),
    ]) {
      const { status, body } = await response;
      expect([status, body.required_permission]).toEqual([
        403,
        'tenant.acme.crm.leave_requests.review',
      ]);
    }
  });

  test('owners can delete a pending request, but neither delete nor restore an approved one', async () => {
    const ada = employee();
    await remove(await requested(ada, { first_day: '2026-07-01' }), ada).expect(204);
    const request = await approved(ada);
    const refused = await remove(request, ada);
    expect([refused.status, refused.body.required_permission]).toEqual([
      403,
      'tenant.acme.crm.leave_requests.review',
    ]);
    await remove(request).expect(204);
    await post(`${request}/restore`, {}, ada).expect(403);
    await post(`${request}/restore`).expect(200);
  });
});

describe('A review', () => {
  test('approves a request and records by whom, when and why', async () => {
    const reviewer = { id: crypto.randomUUID() };
    const request = await requested(employee());
    const { body } = await post(`${request}/approve`, { comment: 'Enjoy' }, caller(reviewer));
    expect(body.data).toMatchObject({
      status: 'approved',
      reviewed_by: reviewer.id,
      reviewed_at: expect.stringMatching(/Z$/),
      review_comment: 'Enjoy',
    });
  });

  test('rejects a request, with or without a comment or a body', async () => {
    const ada = employee();
    const [first, second] = [await requested(ada), await requested(ada)];
    const { body } = await post(`${first}/reject`, { comment: 'Release week' }).expect(200);
    expect(body.data).toMatchObject({ status: 'rejected', review_comment: 'Release week' });
    const { body: silent } = await crm().http.post(`${second}/reject`).set(caller()).expect(200);
    expect(silent.data).toMatchObject({ status: 'rejected', review_comment: null });
  });

  test('of a request of one’s own is a 403, also while impersonating a reviewer', async () => {
    const ada = { id: crypto.randomUUID() };
    const request = await requested(caller(ada));
    const impersonating = caller({ impersonator_id: ada.id });
    for (const headers of [caller(ada), impersonating]) {
      for (const decision of ['approve', 'reject']) {
        const refused = post(`${request}/${decision}`, {}, headers);
        expect(await errorOf(refused)).toEqual([403, 'own_leave_request', []]);
      }
    }
    expect((await get(request)).body.data.status).toBe('pending');
  });

  test('is also what deleting and restoring an approved one is, so a reviewer does neither to their own', async () => {
    const user = { id: crypto.randomUUID() };
    const reviewer = caller(user);
    const impersonating = caller({ impersonator_id: user.id });
    const own = [403, 'own_leave_request', []];
    const request = await approved(reviewer);
    for (const headers of [reviewer, impersonating]) {
      expect(await errorOf(remove(request, headers))).toEqual(own);
    }
    await remove(request).expect(204);
    for (const headers of [reviewer, impersonating]) {
      expect(await errorOf(post(`${request}/restore`, {}, headers))).toEqual(own);
    }
    await post(`${request}/restore`).expect(200);
    const pending = await requested(reviewer, { first_day: '2026-08-03', last_day: '2026-08-03' });
    await remove(pending, reviewer).expect(204);
    await post(`${pending}/restore`, {}, reviewer).expect(200);
  });

  test('is possible once: a second one is a 409, as is one of a cancelled request', async () => {
    const ada = employee();
    const cancelled = await requested(ada);
    const request = await approved(ada);
    for (const decision of ['approve', 'reject']) {
      expect(await errorOf(post(`${request}/${decision}`))).toEqual([409, 'conflict', []]);
    }
    await post(`${cancelled}/cancel`, {}, ada).expect(200);
    expect((await post(`${cancelled}/approve`)).status).toBe(409);
  });

  test('succeeds for only one of two concurrent reviewers', async () => {
    const request = await requested(employee());
    const decided = await Promise.all(
      ['approve', 'reject', 'approve', 'reject'].map((decision) =>
        post(`${request}/${decision}`, {}, caller()),
      ),
    );
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const winner = decided.find(({ status }) => status === 200);
    expect((await get(request)).body).toEqual(winner?.body);
  });
});

describe('Cancelling', () => {
  test('is for the owner, while the request is pending', async () => {
    const ada = employee();
    const request = await requested(ada);
    expect(await errorOf(post(`${request}/cancel`))).toEqual([403, 'not_the_owner', []]);
    const { body } = await post(`${request}/cancel`, {}, ada).expect(200);
    expect(body.data).toMatchObject({ status: 'cancelled', reviewed_by: null });
    expect((await post(`${request}/cancel`, {}, ada)).status).toBe(409);
    expect((await post(`${await approved(ada)}/cancel`, {}, ada)).status).toBe(409);
  });
});

describe('Approved leaves of one user do not overlap', () => {
  const overlap = [422, 'validation_failed', ['first_day']];

  test('so requesting one of the same days is a 422, as is moving a request to them', async () => {
    const ada = employee();
    const later = { first_day: '2026-07-13', last_day: '2026-07-17' };
    const request = await requested(ada, later);
    const same = await requested(ada);
    await approved(ada);
    const { status, body } = await post(
      path,
      leave({ first_day: '2026-07-10', last_day: '2026-07-12' }),
      ada,
    );
    expect([status, body.errors]).toEqual([
      422,
      { first_day: ['first_day to last_day overlaps with an approved leave of the same user'] },
    ]);
    expect(await errorOf(put(request, { first_day: '2026-07-10' }, ada))).toEqual(overlap);
    await put(request, { first_day: '2026-07-11' }, ada).expect(200);
    // Its days were requested before the approval, and do not change.
    await put(same, leave({ reason: 'Sea' }), ada).expect(200);
    await post(path, leave(), employee()).expect(201);
  });

  test('but requests may have the days of one that is pending, rejected, cancelled or deleted', async () => {
    const ada = employee();
    await requested(ada);
    await post(`${await requested(ada)}/reject`).expect(200);
    await post(`${await requested(ada)}/cancel`, {}, ada).expect(200);
    await remove(await approved(ada)).expect(204);
    await requested(ada);
  });

  test('so approving another one of the same days is a 422', async () => {
    const ada = employee();
    const request = await requested(ada, { first_day: '2026-07-10', last_day: '2026-07-12' });
    await approved(ada);
    expect(await errorOf(post(`${request}/approve`))).toEqual(overlap);
    expect((await get(request)).body.data.status).toBe('pending');
    await post(`${request}/reject`).expect(200);
    await approved(ada, { first_day: '2026-07-11', last_day: '2026-07-12' });
    await approved(employee());
  });

  test('but one may end at noon when another one begins', async () => {
    const ada = employee();
    const day = { first_day: '2026-07-10', last_day: '2026-07-10' };
    const morning = { ...day, is_last_day_half: true };
    const request = await requested(ada, morning);
    await approved(ada, { is_last_day_half: true });
    await approved(ada, { ...day, kind: 'sick', is_first_day_half: true });
    expect(await errorOf(post(path, leave(morning), ada))).toEqual(overlap);
    expect(await errorOf(post(`${request}/approve`))).toEqual(overlap);
  });

  test('so only one of several concurrent approvals succeeds', async () => {
    const ada = employee();
    const requests = await Promise.all(
      Array.from({ length: 6 }, (_, day) => requested(ada, { first_day: `2026-07-0${day + 1}` })),
    );
    const decided = await Promise.all(
      requests.map((request) => post(`${request}/approve`, {}, caller())),
    );
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422, 422]);
    expect((await get(`${path}?status=approved`)).body.meta.total).toBe(1);
  });

  test('so a deleted one cannot be restored if another one was approved since', async () => {
    const ada = employee();
    const request = await approved(ada);
    await remove(request).expect(204);
    const second = await approved(ada);
    expect(await errorOf(post(`${request}/restore`))).toEqual(overlap);
    await remove(second).expect(204);
    await post(`${request}/restore`).expect(200);
  });
});

describe('The calendar', () => {
  const calendar = async (query: string) =>
    (await get(`${path}/calendar?${query}`).expect(200)).body.data;

  test('contains approved and pending leaves with a day in the range, without reasons', async () => {
    const ada = employee();
    await requested(ada, { first_day: '2026-07-31', last_day: '2026-08-02' });
    await requested(ada, { first_day: '2026-08-01', last_day: '2026-08-02' });
    await post(`${await requested(ada)}/reject`).expect(200);
    await post(`${await requested(ada)}/cancel`, {}, ada).expect(200);
    await remove(await requested(ada)).expect(204);
    await approved(ada, { reason: 'Sea' });
    const july = await calendar('from=2026-07-01&to=2026-07-31');
    expect(july).toEqual([
      expect.objectContaining({ status: 'approved', first_day: '2026-07-06', working_days: 5 }),
      expect.objectContaining({ status: 'pending', first_day: '2026-07-31' }),
    ]);
    expect(Object.keys(july[0])).not.toContain('reason');
    expect(await calendar('from=2026-07-08&to=2026-07-08')).toHaveLength(1);
    expect(await calendar('from=2026-07-11&to=2026-07-30')).toEqual([]);
  });

  test.each([
    ['from=2026-07-01', 'to'],
    ['from=2026-07-02&to=2026-07-01', 'to'],
    ['from=2026-01-01&to=2027-01-02', 'to'],
    ['from=July&to=2027-01-01', 'from'],
  ])('of %s is a 422 that names %s', async (query, field) => {
    expect(await errorOf(get(`${path}/calendar?${query}`))).toEqual([
      422,
      'validation_failed',
      [field],
    ]);
  });
});

test('Lists are filtered by kind, status, user and days', async () => {
  const user = { id: crypto.randomUUID() };
  const ada = caller(user);
  await approved(ada);
  await requested(ada, { kind: 'sick', first_day: '2026-07-20', last_day: '2026-07-21' });
  await requested(employee());
  const total = async (query: string) => (await get(`${path}?${query}`)).body.meta.total;
  expect(await total('kind=sick')).toBe(1);
  expect(await total('status=pending')).toBe(2);
  expect(await total(`user_id=${user.id}`)).toBe(2);
  expect(await total('last_day_from=2026-07-21&first_day_to=2026-07-31')).toBe(1);
});
