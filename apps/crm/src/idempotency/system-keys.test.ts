import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { SYSTEM_TOKEN, startCrm, type TestCrm } from '../testing/crm.ts';

const OTHER_TOKEN = randomBytes(32).toString('base64url');
const path = '/api/crm/system/sms/accounts';
const account = {
  provider: 'twilio',
  sender: '+3612345678',
  credentials: { account_sid: 'AC1', auth_token: 'weak' },
};

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({ SYSTEM_TOKENS: `${SYSTEM_TOKEN},${OTHER_TOKEN}` });
});
afterAll(() => crm.stop());

const create = (key: string, name: string, token = SYSTEM_TOKEN) =>
  crm.http
    .post(path)
    .set({ ...crm.system(), 'x-system-token': token, 'Idempotency-Key': key })
    .send({ ...account, name });

test('A service can repeat a request by its key; services with different tokens do not share keys', async () => {
  const key = randomUUID();
  const first = await create(key, 'Alerts').expect(201);
  expect((await create(key, 'Alerts').expect(201)).text).toBe(first.text);
  const other = await create(key, 'Codes', OTHER_TOKEN).expect(201);
  expect(other.body.data.id).not.toBe(first.body.data.id);
});

test('Neither the token nor credentials in a request can be guessed from what is stored of it', async () => {
  const key = randomUUID();
  await create(key, 'Reminders').expect(201);
  const { rows } = await crm.context.pool.query(
    'SELECT caller, fingerprint FROM tenant_crm.idempotency_keys WHERE key = $1',
    [key],
  );
  const unkeyed = createHash('sha256')
    .update(JSON.stringify(['POST', path, { ...account, name: 'Reminders' }]))
    .digest();
  expect(rows).toHaveLength(1);
  expect(rows[0].fingerprint).toHaveLength(32);
  expect(rows[0].fingerprint.equals(unkeyed)).toBe(false);
  expect(SYSTEM_TOKEN).not.toContain(rows[0].caller.slice('system:'.length));
});
