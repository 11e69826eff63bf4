import { startCrm, type TestCrm } from '../../testing/crm.ts';

const SECRET = 'a-secret-that-nobody-else-reads';

const channels = [
  [
    'email',
    {
      name: 'Support',
      from_address: 'support@acme.test',
      host: 'smtp.acme.test',
      credentials: { username: 'acme', password: SECRET },
    },
    { from_name: 'Acme' },
    { port: 587, security: 'starttls', from_name: null, is_active: true },
  ],
  [
    'sms',
    {
      name: 'Alerts',
      provider: 'twilio',
      sender: '+3612345678',
      credentials: { account_sid: 'AC1', auth_token: SECRET },
    },
    { sender: 'Acme' },
    { is_active: true },
  ],
] as const;

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());
afterEach(() => crm.context.pool.query('DELETE FROM tenant_crm.messaging_accounts'));

describe.each(channels)('%s accounts', (channel, input, change, defaults) => {
  const path = `/api/crm/system/${channel}/accounts`;
  const create = (body: object = input, tenant?: 'globex') =>
    crm.http.post(path).set(crm.system(tenant)).send(body);

  test('are created, shown, listed, changed and deleted', async () => {
    const { credentials: _sealed, ...told } = input;
    const { status, body } = await create();
    expect([status, body.data]).toEqual([
      201,
      expect.objectContaining({ ...told, ...defaults, has_credentials: true }),
    ]);
    const one = `${path}/${body.data.id}`;
    const headers = crm.system();
    expect((await crm.http.get(one).set(headers)).body).toEqual(body);
    const changed = await crm.http.put(one).set(headers).send(change).expect(200);
    expect(changed.body.data).toMatchObject({ ...told, ...change, has_credentials: true });
    const list = await crm.http.get(path).set(headers).expect(200);
    expect(list.body).toMatchObject({ data: [changed.body.data], meta: { total: 1 } });
    await crm.http.delete(one).set(headers).expect(204);
    await crm.http.get(one).set(headers).expect(404);
    await crm.http.delete(one).set(headers).expect(404);
  });

  test('credentials are stored encrypted and are in no response', async () => {
    const answers = [await create()];
    const one = `${path}/${answers[0]?.body.data.id}`;
    for (const at of [one, path]) answers.push(await crm.http.get(at).set(crm.system()));
    for (const { text } of answers) expect(text).not.toContain(SECRET);
    const { rows } = await crm.context.pool.query('SELECT * FROM tenant_crm.messaging_accounts');
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    const stored: Buffer = rows[0].sealed_credentials;
    expect(stored.includes(SECRET)).toBe(false);
    const place = `messaging_accounts.sealed_credentials ${rows[0].id}`;
    const opened = crm.context.vault?.open(stored, place).toString() ?? '';
    expect(JSON.parse(opened)).toEqual(input.credentials);
  });

  test('credentials stay if a change does not name them, and null removes them', async () => {
    const one = `${path}/${(await create()).body.data.id}`;
    const put = (body: object) => crm.http.put(one).set(crm.system()).send(body);
    expect((await put({ is_active: false })).body.data).toMatchObject({ has_credentials: true });
    expect((await put({ credentials: null })).body.data).toMatchObject({ has_credentials: false });
  });

  test('a name is unique in a tenant', async () => {
    await create().expect(201);
    const { status, body } = await create();
    expect([status, Object.keys(body.errors)]).toEqual([422, ['name']]);
    await create(input, 'globex').expect(201);
  });

  test("another tenant's account is a 404 and stays unchanged", async () => {
    const { body } = await create();
    const one = `${path}/${body.data.id}`;
    const theirs = crm.system('globex');
    await crm.http.get(one).set(theirs).expect(404);
    await crm.http.put(one).set(theirs).send(change).expect(404);
    await crm.http.delete(one).set(theirs).expect(404);
    expect((await crm.http.get(path).set(theirs)).body.data).toEqual([]);
    expect((await crm.http.get(one).set(crm.system())).body).toEqual(body);
  });

  test('an account of the other channel is a 404', async () => {
    const { body } = await create();
    const other = `/api/crm/system/${channel === 'sms' ? 'email' : 'sms'}/accounts`;
    await crm.http.get(`${other}/${body.data.id}`).set(crm.system()).expect(404);
    expect((await crm.http.get(other).set(crm.system())).body.data).toEqual([]);
  });
});
