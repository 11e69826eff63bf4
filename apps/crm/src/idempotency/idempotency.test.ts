import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { tenantForEachTest } from '../testing/tenant.ts';
import { deleteExpiredKeys } from './expired-keys.ts';

const { caller, crm, get, post, tenant } = tenantForEachTest();
const path = '/api/crm/contacts';
const ada = { first_name: 'Ada' };

const total = async (): Promise<number> => (await get(path)).body.meta.total;
const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });

describe('A second request with the same Idempotency-Key', () => {
  test('creates nothing and gets the response of the first, with its headers and a sign of it', async () => {
    const key = keyed();
    const first = await post(path, ada, key).expect(201);
    const second = await post(path, ada, key).expect(201);
    expect(second.text).toBe(first.text);
    for (const header of ['etag', 'location', 'content-type']) {
      expect(second.headers[header]).toBe(first.headers[header]);
    }
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(await total()).toBe(1);
  });

  test('may quote the key, as a string of structured fields', async () => {
    const first = await post(path, ada, keyed('a-1')).expect(201);
    expect((await post(path, ada, keyed('"a-1"'))).text).toBe(first.text);
  });

  test.each([
    ['another body', path, { first_name: 'Eve' }],
    ['another path', '/api/crm/companies', { name: 'Engines' }],
  ])('with %s is 422', async (_what, address, body) => {
    const key = keyed();
    await post(path, ada, key).expect(201);
    const refused = await post(address, body, key);
    expect([refused.status, refused.body.error]).toEqual([422, 'idempotency_key_reused']);
    expect(await total()).toBe(1);
  });

  test('of another caller is a request of its own', async () => {
    const key = keyed();
    await post(path, ada, key).expect(201);
    const other = await post(path, ada, { ...caller(), ...key }).expect(201);
    expect(other.headers['idempotent-replayed']).toBeUndefined();
    expect(await total()).toBe(2);
  });

  test('of a user in another app is a request of its own', async () => {
    const id = randomUUID();
    const key = keyed();
    const first = await post(path, ada, { ...caller({ id, client_id: 'app-1' }), ...key });
    const second = await post(path, ada, { ...caller({ id, client_id: 'app-2' }), ...key });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect(await total()).toBe(2);
  });

  test('still needs the permission', async () => {
    const id = randomUUID();
    const key = keyed();
    const account = { id, type: 'service_account', is_service_account: true } as const;
    await post(path, ada, { ...caller(account), ...key }).expect(201);
    const denied = caller({ ...account, scopes: ['tenant.*.crm.contacts.view'] });
    await post(path, ada, { ...denied, ...key }).expect(403);
  });

  test('creates the record if the first one was refused', async () => {
    const key = keyed();
    await post(path, { ...ada, company_id: randomUUID() }, key).expect(422);
    const { headers } = await post(path, ada, key).expect(201);
    expect(headers['idempotent-replayed']).toBeUndefined();
    expect(await total()).toBe(1);
  });

  test('creates the record if its 24 hours are over', async () => {
    const key = keyed();
    await post(path, ada, key).expect(201);
    await crm().context.pool.query('UPDATE tenant_crm.idempotency_keys SET expires_at = now()');
    const { headers } = await post(path, { first_name: 'Eve' }, key).expect(201);
    expect(headers['idempotent-replayed']).toBeUndefined();
    expect(await total()).toBe(2);
  });
});

test('One of several simultaneous requests with one key creates the record; the others get its response or 409', async () => {
  const key = keyed();
  const responses = await Promise.all(Array.from({ length: 10 }, () => post(path, ada, key)));
  const created = responses.filter(({ status }) => status === 201);
  expect(new Set(created.map(({ text }) => text)).size).toBe(1);
  for (const { status, body } of responses) {
    if (status !== 201) expect([status, body.error]).toEqual([409, 'idempotency_key_in_use']);
  }
  expect(await total()).toBe(1);
});

test('While the first request is running, a second one with the same key is 409', async () => {
  const { pool } = crm().context;
  const holder = await pool.connect();
  try {
    const key = keyed();
    await holder.query('BEGIN; LOCK TABLE tenant_crm.contacts IN EXCLUSIVE MODE');
    const first = post(path, ada, key).then((response) => response);
    const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await until(async () => (await pool.query(waits)).rowCount === 1);
    const second = await post(path, ada, key);
    expect([second.status, second.body.error]).toEqual([409, 'idempotency_key_in_use']);
    await holder.query('COMMIT');
    expect((await first).status).toBe(201);
  } finally {
    holder.release();
  }
});

test('A process that dies before it commits leaves neither a record nor a key', async () => {
  const { pool } = crm().context;
  const holder = await pool.connect();
  const key = keyed();
  try {
    await holder.query('BEGIN; LOCK TABLE tenant_crm.idempotency_keys IN EXCLUSIVE MODE');
    const first = post(path, ada, key).then((response) => response);
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND datname = current_database() AND query LIKE '%INSERT INTO tenant_crm.idempotency_keys%'`;
    await until(async () => (await pool.query(waiting)).rowCount === 1);
    await pool.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS waiting`);
    expect((await first).status).toBe(503);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  expect(await total()).toBe(0);
  await post(path, ada, key).expect(201);
  expect(await total()).toBe(1);
});

test.each(['', 'two words', 'x'.repeat(256), '"', '"a'])('The key %j is 422', async (key) => {
  const { status, body } = await post(path, ada, keyed(key));
  expect([status, Object.keys(body.errors ?? {})]).toEqual([422, ['Idempotency-Key']]);
});

test('Expired keys are deleted, and no others', async () => {
  const { pool } = crm().context;
  await deleteExpiredKeys(pool);
  await post(path, ada, keyed()).expect(201);
  await pool.query('UPDATE tenant_crm.idempotency_keys SET expires_at = now()');
  await post(path, ada, keyed('kept')).expect(201);
  await deleteExpiredKeys(pool);
  const { rows } = await pool.query('SELECT key FROM tenant_crm.idempotency_keys');
  expect(rows).toEqual([{ key: 'kept' }]);
});

test('More expired keys than one statement deletes are deleted', async () => {
  const { pool } = crm().context;
  await deleteExpiredKeys(pool);
  await pool.query(
    `INSERT INTO tenant_crm.idempotency_keys (tenant_id, caller, key, fingerprint, status, headers, expires_at)
     SELECT $1, 'user', number::text, '', 201, '{}', now() - interval '1 hour' FROM generate_series(1, 5001) AS number`,
    [tenant().id],
  );
  const { rows } = await pool.query(
    'SELECT tenant_crm.delete_expired_idempotency_keys()::int AS deleted',
  );
  expect(rows).toEqual([{ deleted: 5000 }]);
  expect(await deleteExpiredKeys(pool)).toBe(1);
  expect(await deleteExpiredKeys(pool)).toBe(0);
});

/** A response with a secret must not be stored, and a repeated beginning of an upload has no effect. */
const without = [
  'createBlogPostPreview',
  'createBot',
  'createDocumentLink',
  'createDocumentUpload',
  'createKbArticlePreview',
  'createPagePreview',
  'createVersionUpload',
  'createWebhookEndpoint',
];

test('Every operation that creates something takes the header, except for those with a secret and the beginnings of uploads', async () => {
  const { body: document } = await crm().http.get('/docs/api.json').expect(200);
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  const creating = Object.values(paths).flatMap(({ post: operation }) =>
    operation?.responses[201] && !without.includes(operation.operationId) ? [operation] : [],
  );
  expect(creating.length).toBeGreaterThan(3);
  for (const { operationId, parameters = [] } of creating) {
    expect([operationId, parameters.map(({ $ref }) => $ref)]).toEqual([
      operationId,
      expect.arrayContaining(['#/components/parameters/Idempotency-Key']),
    ]);
  }
});

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<number, object>>;
  readonly parameters?: readonly { readonly $ref?: string }[];
}
