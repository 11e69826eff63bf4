import { startCrm, type TestCrm } from '../../testing/crm.ts';

const EMAIL = '/api/crm/system/email/accounts';
const SMS = '/api/crm/system/sms/accounts';
const email = {
  name: 'Support',
  from_address: 'support@acme.test',
  host: 'smtp.acme.test',
  credentials: { username: 'acme', password: 'first' },
};
const sms = { name: 'Alerts', provider: 'twilio', sender: 'Acme', credentials: { token: 'first' } };

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());
afterEach(() => crm.context.pool.query('DELETE FROM tenant_crm.messaging_accounts'));

const create = async (path: string, body: object) => {
  const { status, headers, body: created } = await crm.http.post(path).set(crm.system()).send(body);
  expect(status).toBe(201);
  return { one: `${path}/${created.data.id}`, headers, data: created.data };
};

const put = (one: string, body: object, headers: Record<string, string> = {}) =>
  crm.http
    .put(one)
    .set({ ...crm.system(), ...headers })
    .send(body);

const storedCredentials = async () => {
  const { rows } = await crm.context.pool.query(
    'SELECT id, sealed_credentials AS sealed FROM tenant_crm.messaging_accounts',
  );
  const [{ id, sealed }] = rows;
  const purpose = `messaging_accounts.sealed_credentials ${id}`;
  return JSON.parse(String(crm.context.vault?.open(sealed, purpose)));
};

describe('accounts have versions', () => {
  test('in the ETag; a change or deletion with another version in If-Match is a 412', async () => {
    const { one, headers } = await create(EMAIL, email);
    expect(headers).toMatchObject({ etag: '"1"', location: one });
    await crm.http.get(one).set(crm.system()).set('If-None-Match', '"1"').expect(304);
    expect(
      (await put(one, { port: 25, credentials: null }, { 'If-Match': '"1"' })).headers,
    ).toEqual(expect.objectContaining({ etag: '"2"' }));
    const late = await put(one, { name: 'Late' }, { 'If-Match': '"1"' });
    expect([late.status, late.body.error]).toEqual([412, 'precondition_failed']);
    await crm.http.delete(one).set(crm.system()).set('If-Match', '"1"').expect(412);
    expect((await crm.http.get(one).set(crm.system())).body.data.name).toBe('Support');
    await crm.http.delete(one).set(crm.system()).set('If-Match', '"2"').expect(204);
    await crm.http.delete(one).set(crm.system()).set('If-Match', '"2"').expect(404);
  });

  test('a change without effect creates no new version', async () => {
    const { one } = await create(EMAIL, email);
    expect((await put(one, {}).expect(200)).headers.etag).toBe('"1"');
  });
});

test('changes of different fields at the same time are all kept', async () => {
  const { one } = await create(EMAIL, email);
  const changes = [
    { name: 'Sales' },
    { from_name: 'Acme' },
    { is_active: false },
    { from_address: 'sales@acme.test' },
    { credentials: { username: 'acme', password: 'second' } },
  ];
  for (const { status } of await Promise.all(changes.map((change) => put(one, change)))) {
    expect(status).toBe(200);
  }
  const { body, headers } = await crm.http.get(one).set(crm.system());
  expect(body.data).toMatchObject({
    name: 'Sales',
    from_name: 'Acme',
    is_active: false,
    from_address: 'sales@acme.test',
  });
  expect(headers.etag).toBe('"6"');
  expect(await storedCredentials()).toEqual({ username: 'acme', password: 'second' });
});

describe('stored credentials are never sent to another server', () => {
  test.each([
    ['host', { host: 'smtp.evil.test' }],
    ['port', { port: 2525 }],
    ['security', { security: 'none' }],
    ['host, port', { host: 'smtp.evil.test', port: 25 }],
  ])('a change of %s requires the credentials again', async (changed, change) => {
    const { one, data } = await create(EMAIL, email);
    const { status, body } = await put(one, { ...change, name: 'Other' });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['credentials']]);
    expect(body.errors.credentials[0]).toContain(`${changed} changes`);
    expect((await crm.http.get(one).set(crm.system())).body.data).toEqual(data);
    const credentials = { username: 'acme', password: 'second' };
    await put(one, { ...change, credentials }).expect(200);
    expect(await storedCredentials()).toEqual(credentials);
  });

  test('a change of the provider requires the credentials again', async () => {
    const { one } = await create(SMS, sms);
    const { status, body } = await put(one, { provider: 'other' });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['credentials']]);
    await put(one, { provider: 'other', credentials: null }).expect(200);
  });

  test('the same value is not a change, and an account without credentials needs none', async () => {
    const { one } = await create(EMAIL, email);
    await put(one, { host: email.host, port: 587, security: 'starttls' }).expect(200);
    await put(one, { host: 'smtp2.acme.test', credentials: null }).expect(200);
    await put(one, { host: 'smtp3.acme.test' }).expect(200);
  });

  test('a host that changes at the same time as the credentials never keeps the old ones', async () => {
    const { one } = await create(EMAIL, email);
    const credentials = { username: 'acme', password: 'second' };
    const [moved, renewed] = await Promise.all([
      put(one, { host: 'smtp.evil.test' }),
      put(one, { credentials }),
    ]);
    expect([moved.status, renewed.status]).toEqual([422, 200]);
  });
});

test('accounts that are created at the same time do not exceed the limit of a tenant', async () => {
  await crm.context.pool.query(
    `INSERT INTO tenant_crm.messaging_accounts (id, tenant_id, channel, name, settings)
     SELECT gen_random_uuid(), $1, 'sms', 'n' || i, '{}' FROM generate_series(1, $2) AS i`,
    [crm.identity.acme.id, 98],
  );
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      crm.http
        .post(SMS)
        .set(crm.system())
        .send({ ...sms, name: `Alerts ${i}` }),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 201, 409, 409, 409, 409, 409, 409]);
});
