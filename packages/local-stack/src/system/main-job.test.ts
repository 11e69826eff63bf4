import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { type ApiResponse, call, callUntil, signIn, statuses } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;

const environment = { LOG_LEVEL: 'info' };
beforeAll(async () => {
  stack = await startTestStack({ environment });
}, 120_000);
afterAll(() => stack?.remove(), 30_000);

const identity = (
  method: string,
  at: string,
  options?: Parameters<typeof call>[2],
): Promise<ApiResponse> => call(method, stack.identity.url + at, options);
const crm = (
  method: string,
  at: string,
  options?: Parameters<typeof call>[2],
): Promise<ApiResponse> => call(method, `${stack.crm.url}/api/crm${at}`, options);
const createContact = (token: string): Promise<ApiResponse> =>
  crm('POST', '/contacts', { token, body: { first_name: 'Ágnes', last_name: 'Kővári' } });
const changeRole = (token: string, role: string): Promise<ApiResponse> => {
  const { tenant_id, user_id } = stack.system.viewer;
  return identity('PUT', `/api/tenants/${tenant_id}/members/${user_id}`, { token, body: { role } });
};

describe('one command starts everything', () => {
  test('the accounts are written to a file for scripts that only its owner can read', async () => {
    const file = path.join(stack.directory, 'local.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(stack.system);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('all accounts can sign in', async () => {
    for (const who of ['administrator', 'owner', 'viewer', 'person', 'other_owner'] as const) {
      expect(await signIn(stack, who)).toEqual(expect.any(String));
    }
  });
});

describe('a person', () => {
  test('signs in, is accepted by both services, and signs out of both', async () => {
    const { email, password, user_id, tenant_id, tenant_slug } = stack.system.owner;
    const login = await identity('POST', '/api/auth/login', { body: { email, password } });
    expect(login.headers.getSetCookie().join()).toMatch(/HttpOnly; .*SameSite=Lax/i);
    const token = login.body.data.token;

    const me = await identity('GET', '/api/me', { token });
    expect(me.body.data).toMatchObject({ id: user_id, tenant_id, email });
    const user = await identity('GET', '/api/user', { token });
    expect(user.body.data).toMatchObject({ id: user_id, tenants: [{ slug: tenant_slug }] });
    const policies = await identity('GET', '/api/policies', { token });
    expect(policies.body.data).toEqual([{ action: '*', effect: 'allow' }]);
    expect((await crm('GET', '/contacts', { token })).status).toBe(200);

    expect((await identity('POST', '/api/auth/logout', { token })).status).toBe(200);
    expect((await identity('GET', '/api/me', { token })).status).toBe(401);
    const seen = await callUntil(
      () => crm('GET', '/contacts', { token }),
      ({ status }) => status !== 200,
    );
    expect(seen.at(-1)).toMatchObject({ status: 401, body: { error: 'unauthenticated' } });
  });

  test('a member who may only view gets the name of the missing permission', async () => {
    const token = await signIn(stack, 'viewer');
    expect((await crm('GET', '/contacts', { token })).status).toBe(200);
    expect(await createContact(token)).toMatchObject({
      status: 403,
      body: {
        message: expect.any(String),
        error: 'permission_denied',
        required_permission: `tenant.${stack.system.viewer.tenant_slug}.crm.contacts.create`,
        resource_type: expect.any(String),
        resource_id: null,
        user_id: stack.system.viewer.user_id,
      },
    });
  });

  test('gains and loses a permission while signed in, without a restart', async () => {
    const owner = await signIn(stack, 'owner');
    const viewer = await signIn(stack, 'viewer');
    expect((await createContact(viewer)).status).toBe(403);
    for (const [role, status] of [
      ['member', 201],
      ['viewer', 403],
      ['member', 201],
      ['viewer', 403],
    ] as const) {
      expect((await changeRole(owner, role)).status).toBe(200);
      const seen = await callUntil(
        () => createContact(viewer),
        (answer) => answer.status === status,
      );
      expect([201, 403]).toEqual(expect.arrayContaining(statuses(seen)));
    }
  });

  test('sees no data of another tenant', async () => {
    const created = await createContact(await signIn(stack, 'owner'));
    const token = await signIn(stack, 'other_owner');
    const at = `/contacts/${created.body.data.id}`;
    for (const method of ['GET', 'DELETE']) {
      expect((await crm(method, at, { token })).status).toBe(404);
    }
    expect((await crm('GET', '/contacts', { token })).body).toMatchObject({ meta: { total: 0 } });
  });
});

describe('a system application', () => {
  const credentials = () => {
    const { client_id, client_secret } = stack.system.system_application;
    return { client_id, client_secret };
  };

  test.each(['form', 'JSON'])('gets, introspects and revokes a token by %s', async (as) => {
    const post = (at: string, fields: Record<string, string>) =>
      call('POST', `${stack.identity.url}/api/oauth/${at}`, {
        body: as === 'form' ? new URLSearchParams(fields) : fields,
        headers: {
          'content-type': as === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
        },
      });
    const granted = await post('token', { grant_type: 'client_credentials', ...credentials() });
    expect(granted.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    const token = granted.body.access_token;
    expect(Buffer.from(token, 'base64url')).toHaveLength(48);

    const alive = await post('introspect', { token, ...credentials() });
    expect(alive.body).toMatchObject({
      active: true,
      scope: stack.system.system_application.scope,
    });
    const tenant = { 'x-tenant': stack.system.owner.tenant_slug };
    expect((await crm('GET', '/contacts', { token, headers: tenant })).status).toBe(200);

    expect((await post('revoke', { token, ...credentials() })).body).toEqual({ success: true });
    expect((await post('introspect', { token, ...credentials() })).body).toEqual({ active: false });
    const seen = await callUntil(
      () => crm('GET', '/contacts', { token, headers: tenant }),
      ({ status }) => status !== 200,
    );
    expect(seen.at(-1)?.status).toBe(401);
  });
});

test('no token, secret or password is in a database or a log in plain text', async () => {
  const token = await signIn(stack, 'owner');
  const { system_application, clients, owner, viewer } = stack.system;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: system_application.client_id,
    client_secret: system_application.client_secret,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const granted = await identity('POST', '/api/oauth/token', { body: form, headers });
  await crm('GET', '/contacts', { token });
  const secrets = {
    token,
    'system token': granted.body.access_token,
    'application secret': system_application.client_secret,
    'client secret': clients.tenant.client_secret ?? '',
    'owner password': owner.password,
    'viewer password': viewer.password,
  };
  const stored = (await Promise.all([contentsOf('identity'), contentsOf('crm')])).join('\n');
  const logged =
    (await readFile(stack.identity.log, 'utf8')) + (await readFile(stack.crm.log, 'utf8'));
  expect(stored).toContain(owner.email);
  expect(logged).toContain('"operation":"login"');
  for (const [name, secret] of Object.entries(secrets)) {
    const hex = Buffer.from(secret).toString('hex');
    const found = [stored, logged].map((text) => text.includes(secret) || text.includes(hex));
    expect({ name, found }).toEqual({ name, found: [false, false] });
  }
});

/** Every row of every table, as text. */
const contentsOf = async (database: string): Promise<string> => {
  const client = new pg.Client({ connectionString: stack.postgres.url(database) });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const contents: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      contents.push(...rows.map(({ row }) => row));
    }
    return contents.join('\n');
  } finally {
    await client.end();
  }
};

test('a stopped system has its data after a restart', async () => {
  const before = stack.system;
  const created = await createContact(await signIn(stack, 'owner'));
  await stack.stop();
  stack = await startTestStack({ environment, directory: stack.directory });
  expect({ ...stack.system, identity_url: '', crm_url: '' }).toEqual({
    ...before,
    identity_url: '',
    crm_url: '',
  });
  const token = await signIn(stack, 'owner');
  expect((await crm('GET', `/contacts/${created.body.data.id}`, { token })).status).toBe(200);
});
