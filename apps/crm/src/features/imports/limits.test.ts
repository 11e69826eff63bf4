import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { IdentityEvent } from '@tessera/contracts';
import { until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import { createRecords } from '../../records/records.ts';
import { callerIn } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { deleteExpiredFailures } from './failure-expiry.ts';
import { importKind } from './imports.kind.ts';
import { uploadExpiryHandler } from './run-import.ts';
import { UploadSenders } from './sender-access.ts';
import { createUpload } from './upload.ts';

const { caller, crm, get, post, remove } = tenantForEachTest();

const path = '/api/crm/imports';
const GIB = 1024 ** 3;

const send = (file: string, headers = caller()) =>
  crm()
    .http.post(path)
    .set(headers)
    .field('resource', 'contacts')
    .attach('file', Buffer.from(file), { filename: 'a.csv', contentType: 'text/csv' });

const ended = async (id: string) => {
  await until(async () =>
    ['completed', 'failed'].includes((await get(`${path}/${id}`)).body.data.status),
  );
  return `${path}/${id}`;
};

const tenantId = async (): Promise<string> => {
  const { body } = await post('/api/crm/contacts', { first_name: 'Ada' }).expect(201);
  const { rows } = await crm().context.pool.query(
    'SELECT tenant_id FROM tenant_crm.contacts WHERE id = $1',
    [body.data.id],
  );
  return rows[0].tenant_id;
};

/** Adds imports that wait, as if others were running for long. */
const addWaiting = async (count: number, bytes: number): Promise<void> => {
  await crm().context.pool.query(
    `INSERT INTO tenant_crm.imports (tenant_id, id, resource, status, encoding, delimiter, duplicates,
       dry_run, principal, file_size)
     SELECT $1, gen_random_uuid(), 'contacts', 'pending', 'utf-8', 'comma', 'skip', false, '{}', $3
     FROM generate_series(1, $2)`,
    [await tenantId(), count, bytes],
  );
};

test('A tenant has at most 20 imports that have not ended; another one is accepted once one has', async () => {
  await addWaiting(20, 10);
  const refused = await send('first_name\nAda\n').expect(409);
  expect(refused.body.message).toMatch(/20 imports have not ended/);
  const [one] = (await get(`${path}?status=pending`)).body.data;
  await post(`${path}/${one.id}/cancel`).expect(200);
  await send('first_name\nAda\n').expect(201);
});

test('The files of imports that have not ended are at most 1 GiB together', async () => {
  await addWaiting(1, GIB);
  const refused = await send('first_name\nAda\n').expect(409);
  expect(refused.body.message).toMatch(/1 GiB/);
});

const request = {
  resource: 'contacts',
  encoding: 'auto',
  delimiter: 'auto',
  duplicates: 'skip',
  blank_cells: 'keep',
  dry_run: false,
  file_name: null,
  announcedBytes: undefined,
} as const;

test('Of uploads at the same moment, no more are accepted than the limit allows', async () => {
  await addWaiting(18, 10);
  const { database } = crm().context;
  const imports = createRecords(importKind, database);
  // Nothing runs, so that no import ends meanwhile.
  const jobs = { enqueue: async () => undefined } as never;
  const upload = createUpload({ imports, database, jobs, senders: new UploadSenders() });
  const sender = callerIn(await tenantId());
  const uploads = await Promise.allSettled(
    Array.from({ length: 5 }, () =>
      upload(sender, request, Readable.from([Buffer.from('first_name\nAda\n')])),
    ),
  );
  const refusals = uploads.flatMap((one) => (one.status === 'rejected' ? [one.reason.status] : []));
  expect(refusals).toEqual([409, 409, 409]);
});

test('A file whose sender loses access while it is uploaded is not imported', async () => {
  const { database, jobs } = crm().context;
  const tenant_id = await tenantId();
  const sender = callerIn(tenant_id);
  const senders = new UploadSenders();
  const imports = createRecords(importKind, database);
  const upload = createUpload({ imports, database, jobs, senders });
  const data = { tenant_id, version: 1, user_ids: [sender.principal.id] };
  async function* content() {
    yield Buffer.from('first_name\n');
    senders.receive({ type: 'identity.policy.updated', data } as IdentityEvent);
    yield Buffer.from('Ada\n');
  }
  const stored = await upload(sender, request, content());
  await expect(stored.start()).rejects.toMatchObject({ status: 409 });
  await stored.fail();
  expect((await get(path)).body.data).toMatchObject([{ status: 'failed' }]);
  const again = await upload(sender, request, Readable.from([Buffer.from('first_name\nAda\n')]));
  expect((await again.start()).answer.status).toBe('pending');
});

test('An upload whose expiry cannot be planned leaves no import behind', async () => {
  const { database } = crm().context;
  const sender = callerIn(await tenantId());
  const enqueue = () => Promise.reject(new Error('the queue is away'));
  const imports = createRecords(importKind, database);
  const upload = createUpload({
    imports,
    database,
    jobs: { enqueue } as never,
    senders: new UploadSenders(),
  });
  const content = Readable.from([Buffer.from('first_name\nAda\n')]);
  await expect(upload(sender, request, content)).rejects.toThrow('the queue is away');
  expect((await get(path)).body.meta.total).toBe(0);
});

test('An error after the import has started does not end it', async () => {
  const { database, jobs } = crm().context;
  const ofTenant = await tenantId();
  const sender = callerIn(ofTenant);
  crm().identity.signIn({
    id: sender.principal.id,
    tenants: [{ ...newTenant('acme'), id: ofTenant }],
    policies: [{ action: '*', effect: 'allow' }],
  });
  const imports = createRecords(importKind, database);
  const upload = createUpload({ imports, database, jobs, senders: new UploadSenders() });
  const content = Readable.from([Buffer.from('first_name\nGrace\n')]);
  const stored = await upload(sender, request, content);
  const { id } = await stored.start();
  // The connection is lost while the response is sent.
  await stored.fail();
  await ended(id);
  expect((await get(`${path}/${id}`)).body.data).toMatchObject({
    status: 'completed',
    rows_created: 1,
  });
});

test('The file of an import that was cancelled during its upload is deleted if the process ends', async () => {
  const { database, jobs, pool } = crm().context;
  const sender = callerIn(await tenantId());
  const imports = createRecords(importKind, database);
  const upload = createUpload({ imports, database, jobs, senders: new UploadSenders() });
  const content = Readable.from([Buffer.from('first_name\nGrace\n')]);
  await upload(sender, request, content);
  const [{ id }] = (await get(path)).body.data;
  await pool.query("UPDATE tenant_crm.imports SET status = 'cancelled' WHERE id = $1", [id]);
  const { signal } = new AbortController();
  await uploadExpiryHandler({ database }).handle(
    { tenant_id: sender.tenantId, import_id: id } as never,
    {
      id: crypto.randomUUID(),
      attempt: 1,
      signal,
      stopping: signal,
      othersWait: async () => false,
    },
  );
  const { rows } = await pool.query(
    'SELECT count(*)::int AS parts FROM tenant_crm.import_chunks WHERE import_id = $1',
    [id],
  );
  expect(rows).toEqual([{ parts: 0 }]);
  expect((await get(`${path}/${id}`)).body.data.status).toBe('cancelled');
});

describe('Failed rows', () => {
  const failed = async () =>
    ended((await send('first_name,email\nAda,x\n').expect(201)).body.data.id);
  const count = async (found: string) => {
    const { rows } = await crm().context.pool.query(
      'SELECT count(*)::int AS count FROM tenant_crm.import_failures WHERE import_id = $1',
      [found.slice(path.length + 1)],
    );
    return rows[0].count;
  };

  test('are deleted with their import', async () => {
    const found = await failed();
    expect(await count(found)).toBe(1);
    await remove(found).expect(204);
    expect(await count(found)).toBe(0);
  });

  test('are deleted 30 days after the end of their import', async () => {
    const found = await failed();
    await deleteExpiredFailures(crm().context.database);
    expect(await count(found)).toBe(1);
    await crm().context.pool.query(
      "UPDATE tenant_crm.imports SET finished_at = now() - interval '31 days' WHERE id = $1",
      [found.slice(path.length + 1)],
    );
    await deleteExpiredFailures(crm().context.database);
    expect(await count(found)).toBe(0);
    await get(found).expect(200);
  });

  test('are downloaded at the same time as often as exports', async () => {
    const found = await failed();
    // More than the connections buffer for clients that do not read.
    await crm().context.pool.query(
      `INSERT INTO tenant_crm.import_failures (tenant_id, import_id, row_number, cells, errors)
       SELECT tenant_id, import_id, n, ARRAY[repeat('x', 900000)], '{}'
       FROM tenant_crm.import_failures, generate_series(3, 50) AS n WHERE import_id = $1`,
      [found.slice(path.length + 1)],
    );
    const headers = caller();
    const begin = async () => {
      const asked = httpGet(`${crm().url}${found}/failures`, { headers });
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(200);
      return asked;
    };
    const downloads = [await begin(), await begin()];
    const refused = await get(`${found}/failures`, headers).expect(429);
    expect(refused.body.error).toBe('rate_limited');
    for (const asked of downloads) asked.on('error', () => undefined).destroy();
    await until(async () => (await get(`${found}/failures`, headers)).status === 200);
  });

  test("are part of the tenant's storage usage", async () => {
    const id = await tenantId();
    await failed();
    const { body } = await crm()
      .http.get('/api/crm/system/storage-usage')
      .set({ ...crm().system(), 'x-tenant-id': id })
      .expect(200);
    expect(body.data.tables).toContainEqual({
      name: 'import_failures',
      rows: 1,
      bytes: expect.any(Number),
    });
  });
});
