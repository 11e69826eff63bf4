import type { ServerResponse } from 'node:http';
import {
  type CrmEventResource,
  type CrmPermission,
  crmEventResourceNames,
  crmPermissions,
} from '@tessera/contracts';
import { until } from '@tessera/local-stack';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { startReceiver, verifies, type WebhookReceiver } from '../../testing/webhook-receiver.ts';
import { eventPermissions } from './event-permissions.ts';
import { createWake } from './wake.ts';

const { crm, caller, get, post, put, remove } = tenantForEachTest(async () => ({
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
}));
const path = '/api/crm/webhook-endpoints';
const deliveriesPath = '/api/crm/webhook-deliveries';

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

/** Fails, and asks for a wait that no test is as long as. */
const failLater = (res: ServerResponse, status = 500) =>
  void res.writeHead(status, { 'retry-after': '3600' }).end();

const createEndpoint = async (more: object = {}) => {
  const input = { url: receiver.url, event_types: ['crm.contacts.*'], ...more };
  const { body } = await post(path, input).expect(201);
  return body.data as { id: string; secret: string };
};

const createContact = async (first_name = 'Ada') =>
  (await post('/api/crm/contacts', { first_name }).expect(201)).body.data as { id: string };

const deliveriesOf = async (endpointId: string, query = '') =>
  (await get(`${deliveriesPath}?endpoint_id=${endpointId}&sort=created_at${query}`).expect(200))
    .body.data;

const untilState = async (endpointId: string, state: string, number = 1) => {
  await until(async () => (await deliveriesOf(endpointId, `&state=${state}`)).length >= number);
  return deliveriesOf(endpointId, `&state=${state}`);
};

const query = (statement: string, values: unknown[]) => crm().context.pool.query(statement, values);

/** Makes what waits for its next attempt due now. */
const sendWaiting = async (endpointId: string) => {
  const { rows } = await query(
    `UPDATE tenant_crm.webhook_deliveries SET next_attempt_at = now()
     WHERE endpoint_id = $1 AND state = 'pending' RETURNING tenant_id`,
    [endpointId],
  );
  const { database, jobs } = crm().context;
  const db = database.forTenant(rows[0].tenant_id);
  await db.transaction((tx) => createWake(jobs)(tx, endpointId));
};

describe('a change is delivered', () => {
  test('with a signature that the package standardwebhooks verifies, and the record as the API shows it', async () => {
    const { id: endpointId, secret } = await createEndpoint();
    const { id } = await createContact();
    await untilState(endpointId, 'succeeded');
    const [request] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(request && verifies(request, secret)).toBe(true);
    expect(request?.json).toMatchObject({
      type: 'crm.contacts.created',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { id, version: 1, changed: [], actor: { type: 'user' } },
    });
    const shown = (await get(`/api/crm/contacts/${id}`)).body.data;
    expect(request?.json.data.record).toEqual(shown);
    await put(`/api/crm/contacts/${id}`, { notes: 'Called' }).expect(200);
    await untilState(endpointId, 'succeeded', 2);
    expect(receiver.received[1]?.json).toMatchObject({
      type: 'crm.contacts.updated',
      data: { id, version: 2, changed: ['notes'], record: { notes: 'Called' } },
    });
    await remove(`/api/crm/contacts/${id}`).expect(204);
    await untilState(endpointId, 'succeeded', 3);
    expect(receiver.received[2]?.json.data).not.toHaveProperty('record');
  });

  test('only if its type is selected, the endpoint is enabled, and it is of the same tenant', async () => {
    const of = async (more: object) => (await createEndpoint(more)).id;
    const exact = await of({ event_types: ['crm.contacts.updated'] });
    const everything = await of({ event_types: ['*'] });
    const disabled = await of({ is_enabled: false });
    const globex = crm().caller({ tenant: 'globex' });
    const input = { url: receiver.url, event_types: ['*'] };
    await post(path, input, globex).expect(201);
    await createContact();
    await untilState(everything, 'succeeded');
    expect(await deliveriesOf(exact)).toEqual([]);
    expect(await deliveriesOf(disabled)).toEqual([]);
    expect((await get(deliveriesPath, globex)).body.data).toEqual([]);
  });

  test('without contents, if not everybody may see the record', async () => {
    const { id: endpointId } = await createEndpoint({ event_types: ['*'] });
    const secretText = 'Not for everybody';
    const { body: project } = await post('/api/crm/projects', {
      name: secretText,
      key: 'SECRET',
      is_private: true,
    }).expect(201);
    const project_id = project.data.id;
    await post('/api/crm/tasks', { title: secretText, project_id }).expect(201);
    const { body: channel } = await post('/api/crm/channels', {
      name: secretText,
      kind: 'private',
    }).expect(201);
    const messages = `/api/crm/channels/${channel.data.id}/messages`;
    await post(messages, { body: secretText }).expect(201);
    await post('/api/crm/document-folders', { name: secretText }).expect(201);
    const types = (): string[] => receiver.received.map(({ json }) => json.type);
    // Deliveries about several records arrive in any order.
    const expected = [
      'crm.projects.created',
      'crm.tasks.created',
      'crm.chat.channels.created',
      'crm.chat.messages.created',
      'crm.document_folders.created',
    ];
    await until(() => expected.every((type) => types().includes(type)));
    for (const { body } of receiver.received) expect(body).not.toContain(secretText);
    await untilState(endpointId, 'succeeded', 5);
  });

  test('to the end, although another receiver is slow', async () => {
    const slow = await startReceiver();
    const held: (() => void)[] = [];
    slow.respond((res) => void held.push(() => res.writeHead(204).end()));
    const { id: slowId } = await createEndpoint({ url: slow.url });
    const { id: fastId } = await createEndpoint();
    for (let index = 0; index < 8; index += 1) await createContact(`Ada ${index}`);
    await untilState(fastId, 'succeeded', 8);
    // One endpoint gets a limited number of requests at the same time.
    await until(() => held.length === 5);
    expect(await deliveriesOf(slowId, '&state=succeeded')).toEqual([]);
    slow.respond((res) => void res.writeHead(204).end());
    for (const release of held) release();
    await untilState(slowId, 'succeeded', 8);
    await slow.stop();
  });
});

describe('a secret', () => {
  test('is replaced with an overlap, in which requests verify with both secrets', async () => {
    const { id, secret: first } = await createEndpoint();
    const rotate = (overlap_hours: number) =>
      post(`${path}/${id}/rotate-secret`, { overlap_hours });
    const { body: rotated } = await rotate(1).expect(200);
    const second = rotated.data.secret;
    expect(second).not.toBe(first);
    await createContact();
    await untilState(id, 'succeeded');
    const both = receiver.received[0] ?? fail();
    expect([first, second].map((secret) => verifies(both, secret))).toEqual([true, true]);
    const { body: last } = await rotate(0).expect(200);
    await createContact();
    await untilState(id, 'succeeded', 2);
    const one = receiver.received[1] ?? fail();
    const known = [first, second, last.data.secret];
    expect(known.map((secret) => verifies(one, secret))).toEqual([false, false, true]);
  });

  test('is shown once, stored encrypted, and is in no other response', async () => {
    const { id, secret } = await createEndpoint();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await createContact();
    const [delivery] = await untilState(id, 'succeeded');
    const answers = [
      await get(path),
      await get(`${path}/${id}`),
      await get(`${path}/${id}/history`),
      await get(`${path}/export?format=json`),
      await get(`${deliveriesPath}/${delivery.id}`),
      await get(`${deliveriesPath}/${delivery.id}/attempts`),
      await get(`${deliveriesPath}/${delivery.id}/payload`),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).not.toContain(secret.slice(6));
      expect(text).not.toContain('v1,');
    }
    for (const table of ['webhook_endpoints', 'webhook_deliveries', 'webhook_attempts']) {
      const { rows } = await query(`SELECT * FROM tenant_crm.${table}`, []);
      expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
    }
    const { rows } = await query(
      'SELECT sealed_secrets FROM tenant_crm.webhook_endpoints WHERE id = $1',
      [id],
    );
    expect(rows[0].sealed_secrets.includes(secret)).toBe(false);
  });
});

const fail = (): never => {
  throw new Error('There was no request.');
};

describe('a failed delivery', () => {
  test('is tried again, not before the receiver allows it, and every attempt is logged', async () => {
    receiver.respond((res) =>
      res
        .writeHead(503, { 'retry-after': '3600', 'set-cookie': 'session=secret', 'x-kind': 'busy' })
        .end('Come back later'),
    );
    const { id } = await createEndpoint();
    await createContact();
    await until(async () => (await deliveriesOf(id))[0]?.attempts === 1);
    const [waiting] = await deliveriesOf(id);
    expect(waiting).toMatchObject({
      state: 'pending',
      response_status: 503,
      error: 'The receiver responded with 503.',
    });
    const wait = Date.parse(waiting.next_attempt_at) - Date.parse(waiting.last_attempt_at);
    expect(wait).toBeGreaterThanOrEqual(3_599_000);
    expect((await get(`${path}/${id}`)).body.data.failing_since).not.toBeNull();
    receiver.respond((res) => void res.writeHead(200).end('Thanks'));
    await sendWaiting(id);
    await untilState(id, 'succeeded');
    const { body: log } = await get(`${deliveriesPath}/${waiting.id}/attempts`).expect(200);
    expect(log.data).toMatchObject([
      {
        number: 1,
        url: receiver.url,
        request_headers: { 'webhook-id': waiting.event_id },
        response_status: 503,
        response_headers: { 'x-kind': 'busy' },
        response_body: 'Come back later',
      },
      { number: 2, response_status: 200, response_body: 'Thanks', error: null },
    ]);
    expect(JSON.stringify(log)).not.toMatch(/session=secret|webhook-signature/);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    expect((await get(`${path}/${id}`)).body.data.failing_since).toBeNull();
  });

  test('shows what the receiver returned to callers who may see the record, without secrets', async () => {
    const { id, secret } = await createEndpoint();
    const key = secret.replace('whsec_', '');
    receiver.respond((res, { headers, body }) => {
      const signature = headers['webhook-signature'];
      const echo = { signature, key, escaped: key.replaceAll('/', '\\/'), body };
      res.writeHead(500, { 'x-echo': `${signature}`, 'x-kind': 'echo' }).end(JSON.stringify(echo));
    });
    await createContact('Countess');
    await until(async () => (await deliveriesOf(id))[0]?.attempts === 1);
    const [delivery] = await deliveriesOf(id);
    const attempts = `${deliveriesPath}/${delivery.id}/attempts`;
    const seen = async (...permissions: readonly CrmPermission[]) => {
      const by = caller({ permissions: ['webhooks.view', ...permissions] });
      const { body } = await get(attempts, by).expect(200);
      const { body: one } = await get(`${attempts}/${body.data[0].id}`, by).expect(200);
      expect(one.data).toEqual(body.data[0]);
      return one.data;
    };
    expect(await seen('tasks.view')).toMatchObject({
      response_status: 500,
      response_headers: null,
      response_body: null,
    });
    const shown = await seen('contacts.view');
    expect(shown.response_body).toContain('Countess');
    expect(shown.response_headers).toMatchObject({ 'x-echo': 'v1,[removed]', 'x-kind': 'echo' });
    const [signature = ''] = `${receiver.received[0]?.headers['webhook-signature']}`.split(' ');
    const text = JSON.stringify(shown).replaceAll('\\', '');
    for (const removed of [key, signature.replace('v1,', '')]) expect(text).not.toContain(removed);
  });

  test('fails for good after three days, and can be replayed singly or by period', async () => {
    receiver.respond((res) => failLater(res));
    const { id } = await createEndpoint();
    for (const name of ['Ada', 'Bob']) await createContact(name);
    const attempted = async () =>
      (await deliveriesOf(id)).filter((one: { attempts: number }) => one.attempts === 1).length;
    await until(async () => (await attempted()) === 2);
    await query(
      'UPDATE tenant_crm.webhook_deliveries SET expires_at = now() WHERE endpoint_id = $1',
      [id],
    );
    await sendWaiting(id);
    const failed = await untilState(id, 'failed', 2);
    expect(failed[0]).toMatchObject({ next_attempt_at: null, attempts: 2 });
    receiver.respond((res) => void res.writeHead(204).end());
    await post(`${deliveriesPath}/${failed[0].id}/replay`).expect(202);
    await untilState(id, 'succeeded');
    const range = { from: failed[0].created_at, to: failed[1].created_at };
    const { body } = await post(`${path}/${id}/replay`, range).expect(202);
    expect(body.data).toEqual({ replayed: 1 });
    await untilState(id, 'succeeded', 2);
    expect(receiver.received).toHaveLength(6);
    const late = { from: '2090-01-01T00:00:00.000Z', to: '2091-01-01T00:00:00.000Z' };
    expect((await post(`${path}/${id}/replay`, late)).body.data).toEqual({ replayed: 0 });
  });

  test('holds back later events of the same record only, if the endpoint is ordered', async () => {
    const { id } = await createEndpoint({ is_ordered: true });
    const ada = await createContact('Ada');
    await untilState(id, 'succeeded');
    receiver.respond((res, { json }) => {
      if (json.data.id === ada.id) failLater(res);
      else res.writeHead(204).end();
    });
    await put(`/api/crm/contacts/${ada.id}`, { notes: 'first' }).expect(200);
    await until(() => receiver.received.length === 2);
    await put(`/api/crm/contacts/${ada.id}`, { notes: 'second' }).expect(200);
    await createContact('Bob');
    await untilState(id, 'succeeded', 2);
    await until(async () => (await deliveriesOf(id, '&state=pending')).length === 2);
    const versions = () =>
      receiver.received
        .filter(({ json }) => json.data.id === ada.id)
        .map(({ json }) => json.data.version);
    expect(versions()).toEqual([1, 2]);
    receiver.respond((res) => void res.writeHead(204).end());
    await sendWaiting(id);
    await untilState(id, 'succeeded', 4);
    expect(versions()).toEqual([1, 2, 2, 3]);
  });
});

describe('an endpoint', () => {
  test('gets a test event, which is refused while it is disabled', async () => {
    const { id } = await createEndpoint({ event_types: ['crm.tasks.*'] });
    const { body } = await post(`${path}/${id}/test`).expect(202);
    expect(body.data).toMatchObject({ event_type: 'webhook.test', record_id: null });
    await untilState(id, 'succeeded');
    expect(receiver.received[0]?.json).toMatchObject({
      type: 'webhook.test',
      data: { endpoint_id: id },
    });
    await put(`${path}/${id}`, { is_enabled: false }).expect(200);
    await post(`${path}/${id}/test`).expect(409);
    await post(`${deliveriesPath}/${body.data.id}/replay`).expect(409);
  });

  test('that is disabled ends the deliveries that wait', async () => {
    receiver.respond((res) => failLater(res));
    const { id } = await createEndpoint();
    await createContact();
    await until(async () => (await deliveriesOf(id))[0]?.attempts === 1);
    await put(`${path}/${id}`, { is_enabled: false }).expect(200);
    expect(await deliveriesOf(id)).toMatchObject([
      { state: 'failed', error: 'The endpoint was disabled.' },
    ]);
  });

  test('takes only known types of events, and only those of records that its creator may see', async () => {
    const input = { url: receiver.url, event_types: ['crm.contacts.exploded'] };
    const { body } = await post(path, input).expect(422);
    expect(Object.keys(body.errors)).toEqual(['event_types.0']);
    const limited = caller({ permissions: ['webhooks.create', 'contacts.view'] });
    const create = (event_types: string[]) =>
      post(path, { url: receiver.url, event_types }, limited);
    await create(['crm.contacts.created']).expect(201);
    for (const selector of ['*', 'crm.tasks.*']) {
      const { body: denied } = await create([selector]).expect(403);
      expect(denied.error).toBe('permission_denied');
    }
  });

  test('cannot be redirected, enabled, restored or replayed by somebody who may not see its records', async () => {
    const { id } = await createEndpoint();
    await createContact();
    const [delivery] = await untilState(id, 'succeeded');
    const all = ['webhooks.view', 'webhooks.update', 'webhooks.delete', 'webhooks.list'] as const;
    const limited = caller({ permissions: [...all, 'tasks.view'] });
    const seeing = caller({ permissions: [...all, 'contacts.view'] });
    const own = { url: `${receiver.url}/elsewhere` };
    const refused = async (one: Promise<{ status: number; body: { error?: string } }>) => {
      const { status, body } = await one;
      expect([status, body.error]).toEqual([403, 'permission_denied']);
    };
    await refused(put(`${path}/${id}`, own, limited));
    await refused(post(`${path}/${id}/rotate-secret`, {}, limited));
    await refused(post(`${deliveriesPath}/${delivery.id}/replay`, {}, limited));
    await refused(get(`${deliveriesPath}/${delivery.id}/payload`, limited));
    const range = { from: delivery.created_at, state: 'succeeded' };
    await refused(post(`${path}/${id}/replay`, range, limited));
    await put(`${path}/${id}`, { is_enabled: false }, limited).expect(200);
    await refused(put(`${path}/${id}`, { is_enabled: true }, limited));
    await put(`${path}/${id}`, { is_enabled: true }, seeing).expect(200);
    await get(`${deliveriesPath}/${delivery.id}/payload`, seeing).expect(200);
    // A delivery that waits, although its type is no longer selected.
    receiver.respond((res) => failLater(res, 503));
    await createContact('Bob');
    await until(async () => (await deliveriesOf(id, '&state=pending'))[0]?.attempts === 1);
    await put(`${path}/${id}`, { event_types: ['crm.tasks.*'] }, limited).expect(200);
    await refused(put(`${path}/${id}`, own, limited));
    await put(`${path}/${id}`, { event_types: ['crm.contacts.*'] }, seeing).expect(200);
    await remove(`${path}/${id}`, limited).expect(204);
    await refused(post(`${path}/${id}/restore`, {}, limited));
    await post(`${path}/${id}/restore`, {}, seeing).expect(200);
  });

  test('gets no replay of a type that it does not select any more: its URL may have changed since', async () => {
    const { id } = await createEndpoint();
    await createContact();
    const [delivery] = await untilState(id, 'succeeded');
    const limited = caller({ permissions: ['webhooks.update', 'tasks.view'] });
    await put(`${path}/${id}`, { event_types: ['crm.tasks.*'] }, limited).expect(200);
    await put(`${path}/${id}`, { url: `${receiver.url}/elsewhere` }, limited).expect(200);
    const { body } = await post(`${deliveriesPath}/${delivery.id}/replay`).expect(409);
    expect(body.message).toContain('does not select');
    const test = (await post(`${path}/${id}/test`).expect(202)).body.data;
    await untilState(id, 'succeeded', 2);
    await post(`${deliveriesPath}/${test.id}/replay`).expect(202);
  });
});

test('The events of each resource need permissions, those of the chat also the access to it', () => {
  expect([...eventPermissions.keys()]).toEqual(crmEventResourceNames);
  for (const needed of eventPermissions.values()) {
    expect(needed.length).toBeGreaterThan(0);
    for (const permission of needed) expect(crmPermissions).toHaveProperty([permission]);
  }
  const of = (name: CrmEventResource) => eventPermissions.get(name);
  expect(of('chat.channel_bots')).toEqual(['chat.access', 'chat.bots.view']);
  expect(of('messaging_accounts')).toEqual(['settings.view']);
  expect(of('kb_articles.comments')).toEqual(['kb_articles.view']);
});
