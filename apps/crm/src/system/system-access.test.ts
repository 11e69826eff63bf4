import { randomUUID } from 'node:crypto';
import { type OpenApiDocument, operationsOf } from '@tessera/conformance';
import { document } from '../document.ts';
import { SYSTEM_TOKEN, startCrm, type TestCrm } from '../testing/crm.ts';

const PATHS = [
  '/api/crm/system/email/accounts',
  '/api/crm/system/sms/accounts',
  '/api/crm/system/storage-usage',
];

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());

const tenant = () => ({ 'x-tenant-id': crm.identity.acme.id });

describe('system routes', () => {
  test('are exactly those below /api/crm/system', () => {
    for (const { path, security } of operationsOf(document() as OpenApiDocument)) {
      const isSystem = JSON.stringify(security) === '[{"systemToken":[]}]';
      expect([path, isSystem]).toEqual([path, path.startsWith('/api/crm/system/')]);
    }
  });

  test.each(PATHS)('%s accepts X-System-Token and X-Tenant-Id', async (path) => {
    await crm.http.get(path).set(crm.system()).expect(200);
  });

  test.each([
    ['no token', () => ({})],
    ['an empty token', () => ({ 'x-system-token': '' })],
    ['a wrong token', () => ({ 'x-system-token': 'x'.repeat(SYSTEM_TOKEN.length) })],
    ['the beginning of the token', () => ({ 'x-system-token': SYSTEM_TOKEN.slice(0, -1) })],
    ['the token as a bearer', () => ({ authorization: `Bearer ${SYSTEM_TOKEN}` })],
    ['an administrator', () => crm.identity.signIn({ is_system_admin: true }).headers],
    ['a member with every permission', () => crm.caller()],
  ])('%s is 401', async (_who, headers) => {
    for (const path of PATHS) {
      const { status, body } = await crm.http.get(path).set({ ...tenant(), ...headers() });
      expect([status, body.error]).toEqual([401, 'unauthenticated']);
    }
  });

  test('do not ask identity', async () => {
    const before = crm.identity.count('/api/user');
    await crm.http.get('/api/crm/system/storage-usage').set(crm.system()).expect(200);
    expect(crm.identity.count('/api/user')).toBe(before);
  });

  test.each(['', 'acme', `${randomUUID()}, ${randomUUID()}`])(
    'with the tenant %j answer 422 and name the header',
    async (named) => {
      const headers = { 'x-system-token': SYSTEM_TOKEN, 'x-tenant-id': named };
      const { status, body } = await crm.http.get('/api/crm/system/storage-usage').set(headers);
      expect([status, Object.keys(body.errors)]).toEqual([422, ['X-Tenant-Id']]);
    },
  );

  test('do not share their token with other routes', async () => {
    const { status } = await crm.http.get('/api/crm/contacts').set(crm.system());
    expect(status).toBe(401);
  });

  test('accept both tokens during a rotation, and none if none is configured', async () => {
    const next = 'n'.repeat(40);
    const rotating = await startCrm({ SYSTEM_TOKENS: `${next},${SYSTEM_TOKEN}` });
    const closed = await startCrm({ SYSTEM_TOKENS: '' });
    try {
      for (const token of [next, SYSTEM_TOKEN]) {
        const headers = { ...tenant(), 'x-system-token': token };
        await rotating.http.get('/api/crm/system/storage-usage').set(headers).expect(200);
        await closed.http.get('/api/crm/system/storage-usage').set(headers).expect(401);
      }
      await closed.http.get('/api/crm/system/storage-usage').set(tenant()).expect(401);
    } finally {
      await rotating.stop();
      await closed.stop();
    }
  });

  test('are not accessible with fake authentication', async () => {
    const fake = await startCrm({ APP_ENV: 'local', CRM_FAKE_AUTH: 'true' });
    try {
      await fake.http.get('/api/crm/contacts').expect(200);
      await fake.http.get('/api/crm/system/storage-usage').set(tenant()).expect(401);
      await fake.http.get('/api/crm/system/storage-usage').set(fake.system()).expect(200);
    } finally {
      await fake.stop();
    }
  });
});
