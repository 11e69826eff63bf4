import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { Bearer } from '../../testing/population.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

const inputs = {
  email: {
    name: 'Support',
    from_address: 'support@acme.test',
    host: 'smtp.acme.test',
    credentials: { username: 'acme', password: 'hidden' },
  },
  sms: { name: 'Alerts', provider: 'twilio', sender: 'Acme', credentials: { token: 'hidden' } },
} as const;

const recipients = { email: 'ada@example.test', sms: '+3612345678' } as const;

let world: TenantWorld;
let tenant: Tenant;
let member: Bearer;
beforeAll(async () => {
  world = await startTenantWorld();
  tenant = await world.identity.people.tenant();
  member = await world.identity.people.caller(tenant, '*');
});
afterAll(() => world.stop());
beforeEach(() => {
  world.crm.requests.length = 0;
  world.crm.instead = undefined;
});

/** Sends a path unchanged: clients normalise `..` and `%2e%2e` before they send it. */
const raw = async (method: string, path: string, headers: object = member) => {
  const { hostname, port } = new URL(world.identity.url);
  const sent = request({ hostname, port, method, path, headers: { ...headers } }).end();
  const [answer] = await once(sent, 'response');
  await text(answer);
  return answer.statusCode as number;
};

describe.each(['email', 'sms'] as const)('/%s/*', (channel) => {
  test.each([
    ['below the tenant', () => `/api/tenants/${tenant.id}/${channel}/accounts`],
    ["for the token's tenant", () => `/api/${channel}/accounts`],
  ])('%s is forwarded to the system routes of CRM, with that tenant', async (_where, path) => {
    const http = world.identity.http;
    const input = inputs[channel];
    const created = await http.post(path()).set(member).send(input).expect(201);
    const one = `${path()}/${created.body.data.id}`;
    expect(created.body.data).toMatchObject({ name: input.name, has_credentials: true });
    expect(created.text).not.toContain('hidden');
    expect((await http.get(one).set(member).expect(200)).body).toEqual(created.body);
    await http.put(one).set(member).send({ is_active: false }).expect(200);
    const list = await http.get(`${path()}?per_page=5`).set(member).expect(200);
    expect(list.body).toMatchObject({ success: true, meta: { total: 1 } });
    await http.delete(one).set(member).expect(200);
    await http.get(one).set(member).expect(404);
    const system = `/api/crm/system/${channel}/accounts`;
    expect(world.crm.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${system}`,
      `GET ${system}/${created.body.data.id}`,
      `PUT ${system}/${created.body.data.id}`,
      `GET ${system}?page=1&per_page=5`,
      `DELETE ${system}/${created.body.data.id}`,
      `GET ${system}/${created.body.data.id}`,
    ]);
    for (const { headers } of world.crm.requests) {
      expect(headers['x-tenant-id']).toBe(tenant.id);
      expect(headers['x-system-token']).toBe(world.crm.token);
    }
  });

  test.each([
    ['below the tenant', () => `/api/tenants/${tenant.id}/${channel}/accounts`],
    ["for the token's tenant", () => `/api/${channel}/accounts`],
  ])('a test message %s is sent by CRM', async (_where, path) => {
    const http = world.identity.http;
    const created = await http.post(path()).set(member).send(inputs[channel]).expect(201);
    const { id } = created.body.data;
    const test = `${path()}/${id}/test`;
    const to = recipients[channel];
    const sent = await http.post(test).set(member).send({ to }).expect(200);
    expect(sent.body).toEqual({ success: true, data: { sent: true, message_id: 'm1' } });
    const { method, url, body, headers } = world.crm.requests.at(-1) ?? {};
    expect([method, url, body]).toEqual([
      'POST',
      `/api/crm/system/${channel}/accounts/${id}/test`,
      { to },
    ]);
    expect(headers?.['x-tenant-id']).toBe(tenant.id);
    const unknown = `${path()}/${randomUUID()}/test`;
    await http.post(unknown).set(member).send({ to }).expect(404);
  });

  test('a test message has one recipient, and is not sent otherwise', async () => {
    const test = `/api/${channel}/accounts/${randomUUID()}/test`;
    for (const body of [{}, { to: 'nobody' }, { to: [recipients[channel]] }]) {
      const { status, body: told } = await world.identity.http.post(test).set(member).send(body);
      expect([status, Object.keys(told.errors)]).toEqual([422, ['to']]);
    }
    const further = { to: recipients[channel], text: 'x' };
    await world.identity.http.post(test).set(member).send(further).expect(422);
    expect(await raw('GET', test)).toBe(405);
    expect(await raw('POST', `/api/${channel}/accounts/test`)).toBe(405);
    expect(world.crm.requests).toEqual([]);
  });

  test.each([
    [422, 'authentication'],
    [502, 'connection'],
  ])('a test message that is not accepted tells why (%i)', async (status, step) => {
    const told = { step, reply_code: 535, reply_detail: '5.7.8' };
    world.crm.instead = () => ({
      status,
      body: { message: 'It was not accepted.', error: 'message_not_sent', ...told },
    });
    const answer = await world.identity.http
      .post(`/api/${channel}/accounts/${randomUUID()}/test`)
      .set(member)
      .send({ to: recipients[channel] });
    expect([answer.status, answer.body]).toEqual([
      status,
      { success: false, message: 'It was not accepted.', error: 'message_not_sent', ...told },
    ]);
  });

  test('forwards entity tags to CRM and back', async () => {
    const http = world.identity.http;
    const created = await http.post(`/api/${channel}/accounts`).set(member).send(inputs[channel]);
    const one = `/api/${channel}/accounts/${created.body.data.id}`;
    expect(created.headers).toMatchObject({ etag: '"1"', location: one });
    expect((await http.get(one).set(member)).headers.etag).toBe('"1"');
    await http.get(one).set(member).set('If-None-Match', '"1"').expect(304);
    const put = (tag: string) =>
      http.put(one).set(member).set('If-Match', tag).send({ is_active: false });
    expect((await put('"1"').expect(200)).headers.etag).toBe('"2"');
    expect((await put('"1"').expect(412)).body.error).toBe('precondition_failed');
    await http.delete(one).set(member).set('If-Match', '"1"').expect(412);
    await http.delete(one).set(member).set('If-Match', '"2"').expect(200);
  });

  test('forwards no caller headers and no cookies', async () => {
    await world.identity.http
      .get(`/api/${channel}/accounts`)
      .set(member)
      .set({ cookie: 'session=1', 'x-tenant-id': 'other', 'x-forwarded-for': '1.2.3.4' })
      .set({ 'x-system-token': 'mine', 'user-agent': 'curious' })
      .expect(200);
    const { headers } = world.crm.requests[0] ?? {};
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('cookie');
    expect(headers).not.toHaveProperty('x-forwarded-for');
    expect(headers?.['user-agent']).not.toBe('curious');
    expect(headers?.['x-tenant-id']).toBe(tenant.id);
  });

  test.each([
    '%2e%2e%2fstorage-usage',
    '..%2fstorage-usage',
    '%2e%2e/storage-usage',
    '../storage-usage',
    '%252e%252e%252fstorage-usage',
    'accounts%2f..%2f..%2fstorage-usage',
    'accounts/%2e%2e',
    'accounts/..%2f..%2fstorage-usage',
    'accounts/%2e%2e%2f%2e%2e%2fstorage-usage',
    'accounts/..;/storage-usage',
    'accounts/%00',
    'accounts/..\\storage-usage',
    'accounts//',
    '//evil.test/accounts',
    'accounts/http:%2f%2fevil.test',
    'storage-usage',
    'messages',
  ])('rejects %s without a request to CRM', async (path) => {
    const prefixes = [`/api/${channel}`, `/api/tenants/${tenant.id}/${channel}`];
    for (const prefix of prefixes) {
      for (const headers of [member, world.administrator]) {
        for (const method of ['GET', 'DELETE']) {
          expect([400, 403, 404, 405]).toContain(await raw(method, `${prefix}/${path}`, headers));
        }
      }
    }
    expect(world.crm.requests).toEqual([]);
  });

  test.each([
    ['PATCH', 'accounts'],
    ['DELETE', 'accounts'],
    ['PUT', 'accounts'],
  ])('%s %s is not supported: 405', async (method, path) => {
    expect(await raw(method, `/api/${channel}/${path}`)).toBe(405);
    expect(world.crm.requests).toEqual([]);
  });

  test("another tenant's are a 403, and an unknown tenant's a 404 to an administrator", async () => {
    const other = await world.identity.people.tenant();
    const path = `/api/tenants/${other.id}/${channel}/accounts`;
    const { status, body } = await world.identity.http.get(path).set(member);
    expect([status, body.error]).toEqual([403, 'tenant_forbidden']);
    await world.ask('get', path).expect(200);
    await world.ask('get', path.replace(other.id, randomUUID())).expect(404);
  });

  test('each verb requires its own permission', async () => {
    const verbs = [
      ['list', 'get', ''],
      ['create', 'post', ''],
      ['view', 'get', `/${tenant.id}`],
      ['update', 'put', `/${tenant.id}`],
      ['delete', 'delete', `/${tenant.id}`],
      ['update', 'post', `/${tenant.id}/test`],
    ] as const;
    for (const [verb, method, path] of verbs) {
      const permission = `identity.${channel}_accounts.${verb}`;
      const lacking = await world.identity.people.caller(tenant, '*', `!${permission}`);
      const asked = world.identity.http[method](`/api/${channel}/accounts${path}`).set(lacking);
      const { status, body } = await asked;
      expect([status, body.required_permission]).toEqual([403, permission]);
    }
    expect(world.crm.requests).toEqual([]);
  });
});

const ask = () => world.identity.http.get('/api/email/accounts').set(member);
const elsewhere = { location: 'http://evil.test/' };
const meta = { current_page: 1, last_page: 1, per_page: 20, total: 0 };

describe('a response of CRM', () => {
  test.each([
    ['a redirect', { status: 302, headers: elsewhere }, 503, 'crm_unavailable'],
    ['a failure', { status: 500, body: {} }, 503, 'crm_unavailable'],
    ['a rejected token', { status: 401, body: {} }, 502, 'crm_failed'],
    ['no JSON', { status: 200, body: '<html>' }, 502, 'crm_failed'],
    ['nothing', { status: 200 }, 502, 'crm_failed'],
    ['something else', { status: 200, body: { data: [{ a: 1 }], meta } }, 502, 'crm_failed'],
    ['too much', { status: 200, body: 'x'.repeat(5_000_000) }, 503, 'crm_unavailable'],
  ] as const)(
    'that is %s becomes the corresponding error',
    async (_what, answer, status, error) => {
      world.crm.instead = () => answer;
      const told = await ask();
      expect([told.status, told.body.error]).toEqual([status, error]);
      expect(world.crm.requests).toHaveLength(1);
    },
  );

  test('loses undeclared fields, so that credentials cannot leak', async () => {
    const at = new Date().toISOString();
    const account = {
      id: tenant.id,
      ...inputs.email,
      from_name: null,
      port: 25,
      security: 'tls',
      is_active: true,
      has_credentials: true,
      created_at: at,
      updated_at: at,
    };
    world.crm.instead = () => ({ status: 200, body: { data: [account], meta } });
    const { status, text: told } = await ask();
    expect(status).toBe(502);
    expect(told).not.toContain('hidden');
  });

  test('for a name that is taken keeps its field error', async () => {
    const errors = { name: ['name is that of another account of the tenant'] };
    world.crm.instead = () => ({ status: 422, body: { message: 'No.', error: 'x', errors } });
    const path = '/api/email/accounts';
    const { status, body } = await world.identity.http.post(path).set(member).send(inputs.email);
    expect([status, body.errors]).toEqual([422, errors]);
  });

  test('that is too late is a 503', async () => {
    const hasty = await startTenantWorld({ CRM_TIMEOUT_MS: '50' });
    try {
      hasty.crm.instead = () => undefined;
      const own = await hasty.identity.people.tenant();
      const { status, body } = await hasty.ask('get', `/api/tenants/${own.id}/storage-usage`);
      expect([status, body.error]).toEqual([503, 'crm_unavailable']);
    } finally {
      await hasty.stop();
    }
  });
});

test('without a configured CRM, it is a 503 with its own code', async () => {
  const bare = await startTenantWorld({ CRM_URL: '', CRM_SYSTEM_TOKEN: '' });
  try {
    const own = await bare.identity.people.tenant();
    for (const path of ['email/accounts', 'sms/accounts', 'storage-usage']) {
      const { status, body } = await bare.ask('get', `/api/tenants/${own.id}/${path}`);
      expect([status, body.error]).toEqual([503, 'crm_not_configured']);
    }
  } finally {
    await bare.stop();
  }
});

test('storage-usage is what CRM reports for the tenant', async () => {
  const path = `/api/tenants/${tenant.id}/storage-usage`;
  const { body } = await world.ask('get', path).expect(200);
  expect(body.data).toMatchObject({ rows: 3, bytes: 8192, tables: [{ name: 'contacts' }] });
  expect(world.crm.requests[0]?.headers['x-tenant-id']).toBe(tenant.id);
  await world.identity.http.get(path).set(member).expect(403);
});
