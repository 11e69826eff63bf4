import { randomUUID } from 'node:crypto';
import { type ServiceProcess, spawnService } from '@tessera/local-stack';
import { IdentityStandIn } from '@tessera/resource-server/testing';
import pg from 'pg';
import { crmDatabase, startCrm, type TestCrm, testEnvironment } from './testing/crm.ts';

const userId = randomUUID();
const tenantId = randomUUID();
const fake = {
  APP_ENV: 'local',
  CRM_FAKE_AUTH: 'true',
  CRM_FAKE_AUTH_USER_ID: userId,
  CRM_FAKE_AUTH_TENANT_ID: tenantId,
};

describe('fake authentication', () => {
  let crm: TestCrm;
  const ask = (headers: Record<string, string> = {}) =>
    crm.http.get('/api/crm/contacts').set(headers);

  beforeAll(async () => {
    // The service must not connect to a configured broker either, since it needs no events from identity.
    crm = await startCrm({ ...fake, KAFKA_BROKERS: '127.0.0.1:1' });
  });
  afterAll(() => crm.stop());

  test('treats every caller as the administrator of the configured tenant, without a token', async () => {
    const created = await crm.http.post('/api/crm/contacts').send({ first_name: 'Ágnes' });
    expect(created.status).toBe(201);
    const client = new pg.Client({ connectionString: crm.context.config.database.url });
    await client.connect();
    const { rows } = await client.query('SELECT tenant_id FROM tenant_crm.contacts');
    await client.end();
    expect(rows).toEqual([{ tenant_id: tenantId }]);
    expect((await ask()).body.data).toHaveLength(1);
  });

  test.each(['Bearer nonsense', 'Bearer a.b.c', 'Basic eDp5', ''])(
    'ignores tokens, such as %j',
    async (authorization) => {
      expect((await ask({ authorization })).status).toBe(200);
    },
  );

  test('accepts only the tenant "local"', async () => {
    expect((await ask({ 'x-tenant': 'local' })).status).toBe(200);
    const other = await ask({ 'x-tenant': 'acme' });
    expect([other.status, other.body.error]).toEqual([403, 'tenant_forbidden']);
  });

  test('sends no request to identity', () => {
    for (const path of ['/api/user', '/api/policies', '/.well-known/jwks.json']) {
      expect([path, crm.identity.count(path)]).toEqual([path, 0]);
    }
    expect(crm.identity.connections).toBe(0);
    expect(crm.context.access.stream()).toBe('none');
  });

  test('as a user who is not an administrator grants no permissions', async () => {
    const powerless = await startCrm({ ...fake, CRM_FAKE_AUTH_IS_ADMIN: 'false' });
    try {
      const answer = await powerless.http.get('/api/crm/contacts');
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        error: 'permission_denied',
        required_permission: 'tenant.local.crm.contacts.list',
        user_id: userId,
      });
      expect(powerless.identity.connections).toBe(0);
    } finally {
      await powerless.stop();
    }
  });
});

describe('as a process', () => {
  const identity = new IdentityStandIn();
  const running: ServiceProcess[] = [];
  const start = async (environment: Record<string, string>) => {
    const databaseUrl = await crmDatabase();
    const crm = spawnService('crm', {
      ...testEnvironment(databaseUrl, identity.url),
      LOG_LEVEL: 'info',
      ...environment,
    });
    running.push(crm);
    return { crm, url: await crm.ready() };
  };
  beforeAll(() => identity.start());
  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });
  afterAll(() => identity.stop());

  test('it needs no IDENTITY_URL, and the log warns that all requests come from one caller', async () => {
    const { crm, url } = await start({ ...fake, IDENTITY_URL: '' });
    expect((await fetch(`${url}/api/crm/contacts`)).status).toBe(200);
    expect(crm.logs()).toMatch(/"level":"warn".*fake authentication/);
  });

  test.each(['test', 'production', 'Local', 'local-cluster'])(
    'with APP_ENV=%s the flag is ignored, an error is logged, and tokens are required',
    async (APP_ENV) => {
      const { crm, url } = await start({ ...fake, APP_ENV, CRM_FAKE_AUTH_USER_ID: 'no uuid' });
      expect(crm.logs()).toMatch(/"level":"error".*CRM_FAKE_AUTH is ignored/);
      expect((await fetch(`${url}/api/crm/contacts`)).status).toBe(401);
      const { headers } = identity.signIn({ policies: [{ action: '*', effect: 'allow' }] });
      expect((await fetch(`${url}/api/crm/contacts`, { headers })).status).toBe(200);
    },
  );
});
