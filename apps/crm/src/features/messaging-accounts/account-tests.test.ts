import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { until } from '@tessera/local-stack';
import type { Response } from 'supertest';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { keptLog } from '../../testing/log-lines.ts';
import {
  type MessagingServers,
  SMS_ID,
  SMTP_CREDENTIALS,
  startMessagingServers,
  TWILIO_CREDENTIALS,
} from '../../testing/messaging-servers.ts';

const { logger, lines } = keptLog();

let servers: MessagingServers;
let crm: TestCrm;
beforeAll(async () => {
  servers = await startMessagingServers();
  crm = await startCrm(servers.environment, { logger });
});
afterAll(async () => {
  await crm.stop();
  await servers.stop();
});
beforeEach(() => {
  servers.answerSms(null);
  servers.smtp.refuse(null);
});

const EMAIL = '/api/crm/system/email/accounts';
const SMS = '/api/crm/system/sms/accounts';
const to = (path: string) => (path.startsWith(EMAIL) ? 'ada@example.test' : '+3698765432');

const create = async (path: string, changes: object = {}): Promise<string> => {
  const body = { ...servers.account(path === EMAIL ? 'email' : 'sms'), ...changes };
  const created = await crm.http.post(path).set(crm.system()).send(body).expect(201);
  return `${path}/${created.body.data.id}`;
};

const tested = (account: string, headers: Record<string, string> = {}, of: TestCrm = crm) =>
  of.http
    .post(`${account}/test`)
    .set({ ...crm.system(), ...headers })
    .send({ to: to(account) });

test('A test mail is sent through the account, with its sender and its credentials', async () => {
  const account = await create(EMAIL, { name: 'Support', from_name: 'Acme', is_active: false });
  const { body } = await tested(account).expect(200);
  const mail = servers.smtp.received.at(-1);
  expect(body.data).toEqual({ sent: true, message_id: mail?.messageId });
  expect(mail).toMatchObject({
    from: { address: 'support@acme.test', name: 'Acme' },
    to: [{ address: 'ada@example.test' }],
    subject: 'Test message',
    text: expect.stringContaining('The email account "Support" can send messages.'),
  });
  const { rows } = await crm.context.pool.query(
    'SELECT action, actor_type, changes FROM tenant_crm.record_changes WHERE record_id = $1 ORDER BY changed_at DESC LIMIT 1',
    [account.split('/').at(-1)],
  );
  expect(rows).toEqual([{ action: 'test', actor_type: 'system', changes: {} }]);
});

test('A tenant whose mail servers do not answer leaves places for the tests of another tenant', async () => {
  const connections: Socket[] = [];
  const silent = createServer((connection) => connections.push(connection));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = silent.address() as AddressInfo;
    const accounts = [await create(EMAIL, { port }), await create(EMAIL, { port })];
    const waiting: Promise<unknown>[] = [];
    const refused: Response[] = [];
    for (const account of [...accounts, ...accounts]) {
      waiting.push(tested(account).then((answer) => answer.status === 503 && refused.push(answer)));
    }
    await until(async () => connections.length === 2 && refused.length === 2);
    expect(refused[0]?.body).toMatchObject({ error: 'not_ready', max_tests: 2 });
    const globex = crm.system('globex');
    const { body } = await crm.http.post(SMS).set(globex).send(servers.account('sms')).expect(201);
    await crm.http
      .post(`${SMS}/${body.data.id}/test`)
      .set(globex)
      .send({ to: to(SMS) })
      .expect(200);
    for (const connection of connections) connection.destroy();
    await Promise.all(waiting);
  } finally {
    for (const connection of connections) connection.destroy();
    silent.close();
  }
});

test('Tests of an account at the same time are all in its history', async () => {
  const account = await create(SMS);
  const id = account.split('/').at(-1);
  // As if the creation were in the future: the tests then follow within the same milliseconds.
  await crm.context.pool.query(
    `UPDATE tenant_crm.record_changes SET changed_at = '2999-01-01T00:00:00Z' WHERE record_id = $1`,
    [id],
  );
  const answers = await Promise.all([tested(account), tested(account)]);
  answers.push(await tested(account));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { rows } = await crm.context.pool.query(
    `SELECT action, changed_at FROM tenant_crm.record_changes WHERE record_id = $1 ORDER BY changed_at`,
    [id],
  );
  expect(rows.map(({ action }) => action)).toEqual(['create', 'test', 'test', 'test']);
  const start = Date.parse('2999-01-01T00:00:00Z');
  expect(rows.map(({ changed_at }) => changed_at.getTime() - start)).toEqual([0, 1, 2, 3]);
});

test('A test SMS is sent in the format of the provider', async () => {
  const account = await create(SMS, { name: 'Alerts' });
  const { body } = await tested(account).expect(200);
  expect(body.data).toEqual({ sent: true, message_id: SMS_ID });
  const { account_sid, auth_token } = TWILIO_CREDENTIALS;
  expect(servers.smsRequests.at(-1)).toEqual({
    method: 'POST',
    path: `/2010-04-01/Accounts/${account_sid}/Messages.json`,
    authorization: `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
    type: 'application/x-www-form-urlencoded',
    form: {
      To: '+3698765432',
      From: '+3612345678',
      Body: 'This is a test message. The SMS account "Alerts" can send messages.',
    },
  });
});

test('A request that is repeated with its key sends nothing more', async () => {
  const account = await create(EMAIL);
  const key = { 'Idempotency-Key': randomUUID() };
  const first = await tested(account, key).expect(200);
  const sent = servers.smtp.received.length;
  const second = await tested(account, key).expect(200);
  expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
  expect(servers.smtp.received).toHaveLength(sent);
});

describe('A failure names its step', () => {
  const wrong = { credentials: { ...SMTP_CREDENTIALS, password: 'another-secret' } };
  test.each([
    ['wrong credentials', EMAIL, wrong, 422, 'authentication', 535],
    ['no TLS', EMAIL, { security: 'tls' }, 422, 'tls', null],
    ['a server in a private network', EMAIL, { host: '10.0.0.1' }, 422, 'address', null],
    ['loopback in decimal notation', EMAIL, { host: '2130706434' }, 422, 'address', null],
    ['the metadata service', EMAIL, { host: '169.254.169.254' }, 422, 'address', null],
    ['an unknown provider', SMS, { provider: 'other' }, 422, 'provider', null],
    ['missing credentials', SMS, { credentials: { token: 'a-secret' } }, 422, 'credentials', null],
    ['no credentials', SMS, { credentials: null }, 422, 'credentials', null],
  ] as const)('%s', async (_what, path, changes, status, step, reply_code) => {
    const { status: received, body } = await tested(await create(path, changes));
    expect([received, body]).toEqual([
      status,
      expect.objectContaining({ error: 'message_not_sent', step, reply_code }),
    ]);
  });

  test.each([
    [550, 422],
    [451, 502],
  ])('a recipient who is refused with %i', async (code, status) => {
    servers.smtp.refuse({ code, message: '5.1.1 no such user a-secret' });
    const { status: received, body, text } = await tested(await create(EMAIL));
    expect([received, body]).toEqual([
      status,
      expect.objectContaining({ step: 'recipient', reply_code: code, reply_detail: '5.1.1' }),
    ]);
    expect(text).not.toContain('a-secret');
  });

  test.each([
    [401, 20003, 422, 'authentication'],
    [400, 21211, 422, 'recipient'],
    [400, 21606, 422, 'sender'],
    [400, 21617, 422, 'message'],
    [429, 20429, 502, 'connection'],
    [503, undefined, 502, 'connection'],
  ] as const)('a provider that answers %i with code %s', async (answered, code, status, step) => {
    servers.answerSms({ status: answered, body: { code, message: 'a-secret', status: answered } });
    const { status: received, body, text } = await tested(await create(SMS));
    const reply_detail = code === undefined ? null : `${code}`;
    expect([received, body]).toEqual([
      status,
      expect.objectContaining({ step, reply_code: answered, reply_detail }),
    ]);
    expect(text).not.toContain('a-secret');
  });

  test('and neither the response nor the log contains a secret', async () => {
    await tested(await create(EMAIL, wrong)).expect(422);
    const log = lines.join('');
    expect(log).toContain('a test message was not accepted');
    for (const secret of ['a-secret', 'another-secret', 'ada@example.test']) {
      expect(log).not.toContain(secret);
    }
  });
});

test('No private address is reached unless the settings allow it', async () => {
  const closed = await startCrm({
    DATABASE_URL: crm.context.config.database.url,
    IDENTITY_URL: crm.identity.url,
    KEY_ENCRYPTION_KEYS: crm.context.config.keyEncryptionKeys
      .map(({ id, secret }) => `${id}:${secret.toString('base64')}`)
      .join(),
    TWILIO_URL: servers.environment.TWILIO_URL ?? '',
  });
  try {
    const [mails, texts] = [servers.smtp.received.length, servers.smsRequests.length];
    for (const path of [EMAIL, SMS]) {
      const { status, body } = await tested(await create(path), {}, closed);
      expect([status, body.step]).toEqual([422, 'address']);
    }
    expect([servers.smtp.received.length, servers.smsRequests.length]).toEqual([mails, texts]);
  } finally {
    await closed.stop();
  }
});

test('Credentials that were sealed with a key that is no longer configured are a 503, and the log says which', async () => {
  const rekeyed = await startCrm(
    {
      ...servers.environment,
      DATABASE_URL: crm.context.config.database.url,
      IDENTITY_URL: crm.identity.url,
      KEY_ENCRYPTION_KEYS: `another:${randomBytes(32).toString('base64')}`,
    },
    { logger },
  );
  try {
    for (const path of [EMAIL, SMS]) {
      const account = await create(path);
      const { body } = await tested(account, {}, rekeyed).expect(503);
      expect(body).toMatchObject({
        error: 'not_ready',
        message: expect.stringContaining('The credentials cannot be decrypted.'),
      });
    }
    expect(lines.join('')).toContain('KEY_ENCRYPTION_KEYS lacks the key');
  } finally {
    await rekeyed.stop();
  }
});

test('An account is tested at most five times per minute, and each on its own', async () => {
  const [one, other] = [await create(SMS), await create(SMS)];
  for (let sent = 0; sent < 5; sent += 1) await tested(one).expect(200);
  const { body, headers } = await tested(one).expect(429);
  expect([body.error, Number(headers['retry-after']) > 0]).toEqual(['rate_limited', true]);
  await tested(other).expect(200);
});

test.each([
  [EMAIL, 'ada@example.test, eve@example.test'],
  [EMAIL, 'ada@example.test\r\nBcc: eve@example.test'],
  [SMS, '0612345678'],
])('A test of %s is not sent to %j', async (path, recipient) => {
  const account = await create(path);
  const { status, body } = await crm.http
    .post(`${account}/test`)
    .set(crm.system())
    .send({ to: recipient });
  expect([status, Object.keys(body.errors)]).toEqual([422, ['to']]);
});

test('An account of another tenant or channel is a 404', async () => {
  const account = await create(EMAIL);
  await tested(account, crm.system('globex')).expect(404);
  const other = account.replace('/email/', '/sms/');
  await crm.http.post(`${other}/test`).set(crm.system()).send({ to: '+3698765432' }).expect(404);
});
