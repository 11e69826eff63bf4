import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { bodyOf, crmClient, identityClient, statuses } from './clients.ts';
import { signIn } from './people.ts';
import { callUntil } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';
import { asForm, systemToken } from './tokens.ts';

let stack: TestStack;

const environment = { LOG_LEVEL: 'info' };
beforeAll(async () => {
  stack = await startTestStack({ environment });
});
afterAll(() => stack?.remove(), 30_000);

const listContacts = (token: string, tenant?: string) =>
  crmClient(stack, token, tenant).GET('/api/crm/contacts');
const createContact = (token: string) =>
  crmClient(stack, token).POST('/api/crm/contacts', {
    body: { first_name: 'Ágnes', last_name: 'Kővári' },
  });
const changeRole = (token: string, role: string) => {
  const { tenant_id: tenantId, user_id: userId } = stack.system.viewer;
  return identityClient(stack, token).PUT('/api/tenants/{tenantId}/members/{userId}', {
    params: { path: { tenantId, userId } },
    body: { role },
  });
};

describe('one command starts everything', () => {
  test('the accounts are written to a file for scripts that only its owner can read', async () => {
    const file = path.join(stack.directory, 'local.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(stack.system);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('the file names the broker, from which other programs consume events', () => {
    expect(stack.system.kafka_brokers).toBe(`127.0.0.1:${stack.broker.port}`);
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
    const login = await identityClient(stack).POST('/api/auth/login', {
      body: { email, password },
    });
    expect(login.response.headers.getSetCookie().join()).toMatch(/HttpOnly; .*SameSite=Lax/i);
    const { token } = bodyOf(login).data;

    const identity = identityClient(stack, token);
    const me = bodyOf(await identity.GET('/api/me'));
    expect(me.data).toMatchObject({ id: user_id, tenant_id, email });
    const user = bodyOf(await identity.GET('/api/user'));
    expect(user.data).toMatchObject({ id: user_id, tenants: [{ slug: tenant_slug }] });
    const policies = bodyOf(await identity.GET('/api/policies'));
    expect(policies.data).toEqual([{ action: '*', effect: 'allow' }]);
    expect((await listContacts(token)).response.status).toBe(200);

    expect((await identity.POST('/api/auth/logout')).response.status).toBe(200);
    expect((await identity.GET('/api/me')).response.status).toBe(401);
    const seen = await callUntil(
      () => listContacts(token),
      ({ response }) => response.status === 401,
    );
    const last = seen.at(-1);
    expect(last?.response.status).toBe(401);
    expect(last?.error).toMatchObject({ error: 'unauthenticated' });
  });

  test('a member who may only view gets the name of the missing permission', async () => {
    const token = await signIn(stack, 'viewer');
    expect((await listContacts(token)).response.status).toBe(200);
    const { response, error } = await createContact(token);
    expect(response.status).toBe(403);
    expect(error).toMatchObject({
      message: expect.any(String),
      error: 'permission_denied',
      required_permission: `tenant.${stack.system.viewer.tenant_slug}.crm.contacts.create`,
      resource_type: expect.any(String),
      resource_id: null,
      user_id: stack.system.viewer.user_id,
    });
  });

  test('gains and loses a permission while signed in, without a restart', async () => {
    const owner = await signIn(stack, 'owner');
    const viewer = await signIn(stack, 'viewer');
    expect((await createContact(viewer)).response.status).toBe(403);
    for (const [role, status] of [
      ['member', 201],
      ['viewer', 403],
      ['member', 201],
      ['viewer', 403],
    ] as const) {
      expect((await changeRole(owner, role)).response.status).toBe(200);
      const seen = await callUntil(
        () => createContact(viewer),
        ({ response }) => response.status === status,
      );
      expect([201, 403]).toEqual(expect.arrayContaining(statuses(seen)));
    }
  });

  test('sees no data of another tenant', async () => {
    const created = await createContact(await signIn(stack, 'owner'));
    const { id } = bodyOf(created, 201).data;
    const token = await signIn(stack, 'other_owner');
    const crm = crmClient(stack, token);
    const params = { path: { id } };
    expect((await crm.GET('/api/crm/contacts/{id}', { params })).response.status).toBe(404);
    expect((await crm.DELETE('/api/crm/contacts/{id}', { params })).response.status).toBe(404);
    expect(bodyOf(await listContacts(token)).meta).toMatchObject({ total: 0 });
  });
});

describe('a system application', () => {
  test.each<[string, Partial<typeof asForm>]>([
    ['form', asForm],
    ['JSON', {}],
  ])('gets, introspects and revokes a token by %s', async (_encoding, options) => {
    const identity = identityClient(stack);
    const { client_id, client_secret, scope } = stack.system.system_application;
    const granted = await identity.POST('/api/oauth/token', {
      ...options,
      body: { grant_type: 'client_credentials', client_id, client_secret },
    });
    const { access_token: token, token_type, expires_in } = bodyOf(granted);
    expect({ token_type, expires_in }).toEqual({ token_type: 'Bearer', expires_in: 3600 });
    expect(Buffer.from(token, 'base64url')).toHaveLength(48);

    const body = { token, client_id, client_secret };
    const introspect = async () =>
      bodyOf(await identity.POST('/api/oauth/introspect', { ...options, body }));
    expect(await introspect()).toMatchObject({ active: true, scope });
    const { tenant_slug } = stack.system.owner;
    expect((await listContacts(token, tenant_slug)).response.status).toBe(200);

    const revoked = await identity.POST('/api/oauth/revoke', { ...options, body });
    expect(bodyOf(revoked)).toEqual({ success: true });
    expect(await introspect()).toEqual({ active: false });
    const seen = await callUntil(
      () => listContacts(token, tenant_slug),
      ({ response }) => response.status === 401,
    );
    expect(seen.at(-1)?.response.status).toBe(401);
  });
});

test('no token, secret or password is in a database or a log in plain text', async () => {
  const token = await signIn(stack, 'owner');
  const { system_application, clients, owner, viewer } = stack.system;
  const granted = await systemToken(stack);
  await listContacts(token);
  const secrets = {
    token,
    'system token': granted,
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
  const addresses = { identity_url: '', crm_url: '', kafka_brokers: '' };
  expect({ ...stack.system, ...addresses }).toEqual({ ...before, ...addresses });
  const crm = crmClient(stack, await signIn(stack, 'owner'));
  const { id } = bodyOf(created, 201).data;
  const shown = await crm.GET('/api/crm/contacts/{id}', { params: { path: { id } } });
  expect(shown.response.status).toBe(200);
});
