import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type SmtpServer, startSmtp, until } from '@tessera/local-stack';
import { PublicHttp } from '@tessera/outbound-http';
import { newTenant } from '@tessera/resource-server/testing';
import { SYSTEM_TOKEN } from '../../testing/crm.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { startReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { attempt } from './attempt.ts';
import { reasonToDisable } from './delivery-run.ts';
import { newSigningSecret } from './endpoint-secrets.ts';
import { retryAfter, retryDelay } from './retry-schedule.ts';
import { createUrlCheck } from './url-check.ts';

const { crm, tenant, caller, get, post, put } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));
const path = '/api/crm/webhook-endpoints';
const HOUR = 3_600_000;

let receiver: WebhookReceiver;
let smtp: SmtpServer;
beforeEach(async () => {
  receiver = await startReceiver();
  smtp = await startSmtp();
});
afterEach(async () => {
  await receiver.stop();
  await smtp.stop();
});

const query = (statement: string, values: unknown[]) => crm().context.pool.query(statement, values);

/** An endpoint of a tenant with an email account. */
const createEndpoint = async (smtpPort = smtp.port, headers = {}) => {
  const contact_email = 'ops@acme.test';
  const event_types = ['crm.contacts.*'];
  const { body } = await post(
    path,
    {
      url: `${receiver.url}?key=hidden`,
      event_types,
      contact_email,
    },
    headers,
  ).expect(201);
  const { id } = body.data;
  const { rows } = await query('SELECT tenant_id FROM tenant_crm.webhook_endpoints WHERE id = $1', [
    id,
  ]);
  const account = {
    name: `Support ${id}`,
    from_address: 'support@acme.test',
    host: '127.0.0.1',
    port: smtpPort,
    security: 'none',
  };
  await crm()
    .http.post('/api/crm/system/email/accounts')
    .set({ 'x-system-token': SYSTEM_TOKEN, 'x-tenant-id': rows[0].tenant_id })
    .send(account)
    .expect(201);
  return id as string;
};

const endpoint = async (id: string) => (await get(`${path}/${id}`).expect(200)).body.data;

const untilDisabled = async (id: string, reason: string) => {
  await until(async () => !(await endpoint(id)).is_enabled);
  expect((await endpoint(id)).disabled_reason).toBe(reason);
  await until(() => smtp.received.length === 1);
  const [mail] = smtp.received;
  expect(smtp.recipients).toEqual(['ops@acme.test']);
  expect(mail?.subject).toBe('A webhook endpoint was disabled');
  expect(mail?.text).toContain(receiver.url);
  expect(mail?.text).not.toContain('hidden');
  const { body } = await get(`${path}/${id}/history`);
  expect(body.data[0]).toMatchObject({
    action: 'disable',
    actor_type: 'system',
    changes: { is_enabled: { from: true, to: false }, disabled_reason: { to: reason } },
  });
};

describe('an endpoint is disabled, with a mail and an entry in its history,', () => {
  test('if it responds with 410, and can be enabled again', async () => {
    receiver.respond((res) => void res.writeHead(410).end());
    const id = await createEndpoint();
    await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
    await untilDisabled(id, 'gone');
    const { body } = await put(`${path}/${id}`, { is_enabled: true }).expect(200);
    expect(body.data).toMatchObject({ disabled_reason: null, failing_since: null });
  });

  test('if all requests have failed for three days', async () => {
    receiver.respond((res) => void res.writeHead(500, { 'retry-after': '3600' }).end());
    const id = await createEndpoint();
    await query(
      `UPDATE tenant_crm.webhook_endpoints SET failing_since = now() - interval '73 hours' WHERE id = $1`,
      [id],
    );
    await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
    await untilDisabled(id, 'failing');
  });
});

test('A mail about an endpoint is sent while the mail server of another tenant does not answer', async () => {
  const sockets = new Set<Socket>();
  let connections = 0;
  const silent = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  try {
    receiver.respond((res) => void res.writeHead(410).end());
    for (let count = 0; count < 4; count += 1) {
      await createEndpoint((silent.address() as AddressInfo).port);
    }
    await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
    await until(() => sockets.size === 2);
    const other = caller({ tenants: [newTenant('other')] });
    await createEndpoint(smtp.port, other);
    await post('/api/crm/contacts', { first_name: 'Bob' }, other).expect(201);
    await until(() => smtp.received.length === 1);
    expect([sockets.size, connections]).toEqual([2, 2]);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test('A mail about an endpoint that is refused for good is not sent again', async () => {
  smtp.refuse({ code: 550, message: '5.1.1 no such user' });
  receiver.respond((res) => void res.writeHead(410).end());
  await createEndpoint();
  await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
  await until(() => smtp.refusals === 1);
  const unfinished = async () => {
    const { rows } = await query(
      `SELECT state FROM crm_jobs.job WHERE name = 'webhook_disabled_mail' AND data ->> 'tenant_id' = $1
         AND state <> 'completed'`,
      [tenant().id],
    );
    return rows.length;
  };
  await until(async () => (await unfinished()) === 0);
  expect(smtp.refusals).toBe(1);
});

test('An endpoint is disabled after three days, or after two if a delivery fails for good', () => {
  const now = Date.now();
  const after = (hours: number, state: 'pending' | 'failed') =>
    reasonToDisable(500, { state }, new Date(now - hours * HOUR), now);
  expect([after(71, 'pending'), after(72, 'pending')]).toEqual([undefined, 'failing']);
  expect([after(47, 'failed'), after(48, 'failed')]).toEqual([undefined, 'failing']);
});

test('Waits grow from 5 seconds to 6 hours with jitter, and are as long as the receiver asks', () => {
  const delays = [1, 2, 3, 20].map((failures) => retryDelay(failures, 0, () => 0.5));
  expect(delays).toEqual([5000, 15_000, 45_000, 6 * HOUR]);
  expect([0, 1].map((random) => retryDelay(1, 0, () => random))).toEqual([4000, 6000]);
  expect(retryDelay(1, HOUR)).toBe(HOUR);
  expect(retryDelay(1, 1000 * HOUR)).toBe(24 * HOUR);
  expect(retryAfter('120')).toBe(120_000);
  expect(retryAfter(new Date(90_000).toUTCString(), 30_000)).toBe(60_000);
  expect(retryAfter('soon')).toBe(0);
});

const NOTATIONS = [
  ['loopback', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['hexadecimal', '0x7f000001'],
  ['octal', '0177.0.0.1'],
  ['short', '127.1'],
  ['IPv6', '[::1]'],
  ['IPv4-mapped', '[::ffff:127.0.0.1]'],
  ['link-local', '169.254.1.1'],
  ['metadata', '169.254.169.254'],
  ['private', '10.0.0.1'],
] as const;

describe('no request reaches', () => {
  const request = (url: string) => ({
    id: 'event',
    url,
    payload: '{}',
    secrets: [newSigningSecret()],
  });

  test.each(NOTATIONS)('a private address in its %s notation', async (_, host) => {
    const http = new PublicHttp();
    const url = `https://${host}:${receiver.port}/`;
    expect(createUrlCheck(http, [])(url)).toMatch(/^url cannot be used/);
    const plain = `http://${host}:${receiver.port}/`;
    expect(createUrlCheck(http, [])(plain)).toBe('url must begin with https://');
    const { status, error } = await attempt(http, request(plain));
    expect([status, error]).toEqual([null, expect.stringContaining('not a public address')]);
    expect(receiver.received).toHaveLength(0);
    await http.close();
  });

  test('a name that resolves to a private address, also only for the second request', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    const http = new PublicHttp({
      allowedNetworks: ['127.0.0.1/32'],
      resolve: async () => [{ address: answers.shift() ?? '10.0.0.1', family: 4 }],
    });
    receiver.respond((res) => void res.writeHead(204, { connection: 'close' }).end());
    const url = `http://hook.test:${receiver.port}/`;
    expect((await attempt(http, request(url))).status).toBe(204);
    expect((await attempt(http, request(url))).error).toContain('not at a public address');
    expect(receiver.received).toHaveLength(1);
    await http.close();
  });

  test('the target of a redirect, which counts as a failure', async () => {
    const internal = await startReceiver();
    receiver.respond((res) => void res.writeHead(307, { location: internal.url }).end());
    const http = new PublicHttp({ allowedNetworks: ['127.0.0.1/32'] });
    const { status, error } = await attempt(http, request(receiver.url));
    expect([status, error]).toEqual([307, 'The receiver responded with 307.']);
    expect(internal.received).toHaveLength(0);
    await internal.stop();
    await http.close();
  });
});

test('An endpoint at a private address is refused with the field that is wrong', async () => {
  const input = { url: 'https://169.254.169.254/latest', event_types: ['*'] };
  const { body } = await post(path, input).expect(422);
  const problem = 'url cannot be used: 169.254.169.254 is not a public address';
  expect(body).toMatchObject({ message: `${problem}.`, errors: { url: [problem] } });
});

test('A huge response is cut off, and does not fail the delivery', async () => {
  receiver.respond((res) => void res.writeHead(200).end('x'.repeat(1_000_000)));
  const http = new PublicHttp({ allowedNetworks: ['127.0.0.1/32'] });
  const secrets = [newSigningSecret()];
  const result = await attempt(http, { id: 'event', url: receiver.url, payload: '{}', secrets });
  expect([result.error, result.responseBody?.length]).toEqual([null, 4096]);
  await http.close();
});
