import { randomBytes } from 'node:crypto';
import { createVault, encryptionKeys, reseal } from '@tessera/vault';
import { credentialsPurpose } from '../features/messaging-accounts/accounts.rules.ts';
import { runAdmin } from '../testing/admin.ts';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { sealedColumns } from './sealed-columns.ts';

const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [older, newer] = [newKey('2025'), newKey('2026')];

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({ KEY_ENCRYPTION_KEYS: older });
});
afterAll(() => crm.stop());
beforeEach(async () => {
  await crm.context.pool.query('DELETE FROM tenant_crm.messaging_accounts');
  await crm.context.pool.query('DELETE FROM tenant_crm.webhook_endpoints');
});

/** How many values are resealed if these are the only ones. */
const only = (counts: Record<string, number>) => ({
  messaging_accounts: 0,
  webhook_endpoints: 0,
  file_contents: 0,
  upload_parts: 0,
  ...counts,
});

const admin = (keys: string, ...args: string[]) =>
  runAdmin(crm, args, { KEY_ENCRYPTION_KEYS: keys });

const create = async (name: string, credentials: object | null) => {
  const account = { name, provider: 'twilio', sender: 'Acme', credentials };
  const path = '/api/crm/system/sms/accounts';
  const { body } = await crm.http.post(path).set(crm.system()).send(account).expect(201);
  return body.data.id as string;
};

const opened = async (keys: readonly string[]) => {
  const vault = createVault(encryptionKeys(keys));
  const { rows } = await crm.context.pool.query(
    `SELECT id, sealed_credentials AS sealed FROM tenant_crm.messaging_accounts
     WHERE sealed_credentials IS NOT NULL ORDER BY name`,
  );
  return rows.map(({ id, sealed }) =>
    JSON.parse(String(vault.open(sealed, credentialsPurpose(id)))),
  );
};

test('crm-admin reseal makes an old key unnecessary for stored credentials, and does not change versions', async () => {
  const id = await create('Alerts', { token: 'first' });
  await create('Without', null);
  const endpoint = { url: 'https://example.com/hook', event_types: ['crm.contacts.*'] };
  await crm.http.post('/api/crm/webhook-endpoints').set(crm.caller()).send(endpoint).expect(201);
  expect(await admin(`${newer},${older}`, 'reseal')).toEqual({
    code: 0,
    output: only({ messaging_accounts: 1, webhook_endpoints: 1 }),
  });
  expect(await opened([newer])).toEqual([{ token: 'first' }]);
  expect(await admin(`${newer},${older}`, 'reseal')).toEqual({
    code: 0,
    output: only({}),
  });
  const path = `/api/crm/system/sms/accounts/${id}`;
  const { headers } = await crm.http.get(path).set(crm.system()).expect(200);
  expect(headers.etag).toBe('"1"');
});

test('it fails and names the missing key', async () => {
  await create('Alerts', { token: 'first' });
  expect(await admin(newer, 'reseal')).toEqual({
    code: 1,
    output: { error: expect.stringContaining('lacks the key "2025"') },
  });
  expect(await opened([older])).toEqual([{ token: 'first' }]);
});

test('a concurrent change of other fields keeps resealed values', async () => {
  const id = await create('Alerts', { token: 'first' });
  const vault = createVault(encryptionKeys([newer, older]));
  const change = crm.http
    .put(`/api/crm/system/sms/accounts/${id}`)
    .set(crm.system())
    .send({ sender: 'Other' });
  await Promise.all([change.expect(200), reseal(crm.context.pool, vault, sealedColumns)]);
  expect(await opened([newer])).toEqual([{ token: 'first' }]);
});

test('it processes more rows than fit into one batch', async () => {
  for (let n = 0; n < 5; n += 1) await create(`Alerts ${n}`, { token: `${n}` });
  const vault = createVault(encryptionKeys([newer, older]));
  const resealed = await reseal(crm.context.pool, vault, sealedColumns, 2);
  expect(resealed).toEqual(only({ messaging_accounts: 5 }));
  expect((await opened([newer])).map(({ token }) => token)).toEqual(['0', '1', '2', '3', '4']);
});

test('it covers every sealed column', async () => {
  const { rows } = await crm.context.pool.query(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = 'tenant_crm' AND column_name LIKE 'sealed%'`,
  );
  const covered = sealedColumns.map(({ table, column }) => ({ table, column }));
  expect(new Set(covered)).toEqual(new Set(rows));
});
