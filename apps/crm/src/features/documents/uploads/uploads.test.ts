import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { until } from '@tessera/local-stack';
import { Upload, type UploadOptions } from 'tus-js-client';
import { startCrm } from '../../../testing/crm.ts';
import { documentsPath, foldersPath } from '../../../testing/documents.ts';
import { tenantForEachTest } from '../../../testing/tenant.ts';

const { crm, tenant, caller, get, post, remove } = tenantForEachTest();
const uploadsPath = `${documentsPath}/uploads`;
const PART = 'application/offset+octet-stream';
const tus = { 'Tus-Resumable': '1.0.0' };

type Headers = Readonly<Record<string, string>>;

const metadataOf = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',');

const begin = (
  size: number | null,
  fields: Readonly<Record<string, string>> = { filename: 'a.txt' },
  { path = uploadsPath, headers = {} }: { path?: string; headers?: Headers } = {},
) =>
  post(path, null, {
    ...own,
    ...tus,
    ...(size === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': `${size}` }),
    ...(Object.keys(fields).length > 0 && { 'Upload-Metadata': metadataOf(fields) }),
    ...headers,
  });

/** Begins an upload and returns its address. */
const begun = async (...given: Parameters<typeof begin>): Promise<string> =>
  (await begin(...given).expect(201)).headers.location as string;

const patch = (url: string, offset: number, content: string | Buffer, headers: Headers = {}) =>
  crm()
    .http.patch(url)
    .set({ ...own, ...tus, 'Content-Type': PART, 'Upload-Offset': `${offset}`, ...headers })
    .send(content);

const head = (url: string, headers: Headers = {}) =>
  crm()
    .http.head(url)
    .set({ ...own, ...tus, ...headers });

const sql = (text: string, values: unknown[] = []) => crm().context.pool.query(text, values);

/** What the database and the store know of the parts of an upload. */
const partsOf = async (url: string) => {
  const { rows } = await sql(
    'SELECT tenant_id AS "tenantId", id FROM tenant_crm.upload_parts WHERE upload_id = $1 ORDER BY start',
    [url.split('/').at(-1)],
  );
  return rows as { tenantId: string; id: string }[];
};

/** The bytes of the tenant that has the upload. */
const usageWith = async (url: string): Promise<number> => {
  const { rows } = await sql(
    `SELECT usage.bytes::int AS bytes FROM tenant_crm.uploads AS upload
     JOIN tenant_crm.file_usage AS usage USING (tenant_id) WHERE upload.id = $1`,
    [url.split('/').at(-1)],
  );
  return rows[0]?.bytes ?? 0;
};

const textOf = async (id: string) =>
  (await get(`${documentsPath}/${id}/download`, own).expect(200)).text;

let own: Headers;
beforeEach(() => {
  own = caller();
});

/** Uploads with tus-js-client; returns the address and the document. */
const withClient = (
  content: Buffer,
  options: Partial<UploadOptions>,
  endpoint = `${crm().url}${uploadsPath}`,
): Promise<{ url: string; documentId: string }> =>
  new Promise((resolve, reject) => {
    const upload: Upload = new Upload(content, {
      endpoint,
      headers: own,
      retryDelays: [50, 50, 50, 50],
      onError: reject,
      onSuccess: ({ lastResponse }) =>
        resolve({ url: upload.url ?? '', documentId: lastResponse.getHeader('Document-Id') ?? '' }),
      ...options,
    });
    upload.start();
  });

test('A client uploads a file in many requests; it becomes a document with its metadata', async () => {
  const content = randomBytes(300_000);
  const folder = await post(foldersPath, { name: 'Contracts' }, own).expect(201);
  const { documentId } = await withClient(content, {
    chunkSize: 70_000,
    metadata: {
      filename: '../Ár.bin',
      folder_id: folder.body.data.id,
      description: 'A file',
      tags: 'offer, 2026',
    },
  });
  const { body } = await get(`${documentsPath}/${documentId}`, own).expect(200);
  expect(body.data).toMatchObject({
    name: '.._Ár.bin',
    folder_id: folder.body.data.id,
    description: 'A file',
    tags: ['offer', '2026'],
    size: content.length,
    current_version: 1,
  });
  const { body: received } = await get(`${documentsPath}/${documentId}/download`, own);
  expect(Buffer.compare(received, content)).toBe(0);
});

test('After its connection breaks, a client continues with the bytes that have not arrived', async () => {
  const content = randomBytes(3_000_000);
  const hasPart = async () => {
    const parts = await sql('SELECT FROM tenant_crm.upload_parts WHERE tenant_id = $1', [
      tenant().id,
    ]);
    return parts.rowCount === 1;
  };
  let isCut = false;
  const proxy = createServer((client) => {
    const server = connect(Number(new URL(crm().url).port), '127.0.0.1');
    let sent = 0;
    client.on('data', (chunk) => {
      sent += chunk.length;
      if (isCut || sent < 1_000_000) return void server.write(chunk);
      isCut = true;
      // CRM still gets what was sent. The client learns that the connection broke once that is stored.
      server.removeAllListeners('close').unpipe(client).resume().end();
      client.removeAllListeners('data').pause();
      until(hasPart).then(
        () => client.destroy(),
        (error) => client.destroy(error),
      );
    });
    server.pipe(client, { end: false });
    client.on('close', () => server.destroy()).on('error', () => undefined);
    server.on('close', () => client.destroy()).on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const offsets: number[] = [];
  const { documentId } = await withClient(
    content,
    {
      metadata: { filename: 'a.bin' },
      onBeforeRequest: (request) => {
        const offset = request.getHeader('Upload-Offset');
        if (offset) offsets.push(Number(offset));
      },
    },
    `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${uploadsPath}`,
  );
  proxy.close();
  const { body } = await get(`${documentsPath}/${documentId}/download`, own);
  expect(Buffer.compare(body, content)).toBe(0);
  expect(offsets.length).toBeGreaterThan(1);
  expect(offsets.at(-1)).toBeGreaterThan(0);
});

test('A repeated last request changes nothing, and the state names the document', async () => {
  const url = await begun(3);
  const { headers } = await patch(url, 0, 'abc').expect(204);
  await patch(url, 0, 'abc').expect(409);
  expect((await patch(url, 3, '').expect(204)).headers['upload-offset']).toBe('3');
  const state = await head(url).expect(200);
  expect(state.headers).toMatchObject({
    'upload-offset': '3',
    'upload-length': '3',
    'document-id': headers['document-id'],
    'tus-resumable': '1.0.0',
  });
  expect((await get(documentsPath, own)).body.meta.total).toBe(1);
  await remove(url, { ...own, ...tus }).expect(409);
});

test('One of several simultaneous requests with the same bytes is accepted, and the others are 409', async () => {
  const url = await begun(6);
  const sent = await Promise.all([1, 2, 3].map(() => patch(url, 0, 'abc')));
  expect(sent.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
  const { headers } = await patch(url, 3, 'def').expect(204);
  expect(await textOf(headers['document-id'] as string)).toBe('abcdef');
});

test('An upload becomes a version of a document, which needs documents.update', async () => {
  const id = (await patch(await begun(3), 0, 'one').expect(204)).headers['document-id'] as string;
  const path = `${documentsPath}/${id}/uploads`;
  await begin(3, {}, { path, headers: caller({ lacking: ['documents.update'] }) }).expect(403);
  await begin(3, { folder_id: randomUUID() }, { path }).expect(422);
  const url = await begun(3, { filename: 'b.txt' }, { path });
  await head(`${uploadsPath}/${url.split('/').at(-1)}`).expect(404);
  expect((await patch(url, 0, 'two').expect(204)).headers['document-id']).toBe(id);
  const { body } = await get(`${documentsPath}/${id}`, own).expect(200);
  expect(body.data.current_version).toBe(2);
  expect(await textOf(id)).toBe('two');
});

test('A client that does not know the size can send it with the last bytes', async () => {
  const url = await begun(null);
  await patch(url, 0, 'abc').expect(204);
  expect((await head(url)).headers['upload-defer-length']).toBe('1');
  const { headers } = await patch(url, 3, 'de', { 'Upload-Length': '5' }).expect(204);
  expect(await textOf(headers['document-id'] as string)).toBe('abcde');
  const other = await begun(null);
  await patch(other, 0, 'abc').expect(204);
  const ended = await patch(other, 3, '', { 'Upload-Length': '3' }).expect(204);
  expect(await textOf(ended.headers['document-id'] as string)).toBe('abc');
});

test('An empty file becomes a document when its upload is created', async () => {
  const url = await begun(0, { filename: 'empty.txt' });
  const { headers } = await head(url).expect(200);
  expect(await textOf(headers['document-id'] as string)).toBe('');
});

describe('An upload', () => {
  test('does not exist for other users of the tenant and for other tenants', async () => {
    const url = await begun(6);
    await patch(url, 0, 'abc').expect(204);
    const strangers = [caller(), crm().caller({ tenant: 'globex' })];
    for (const headers of strangers) {
      await head(url, headers).expect(404);
      await patch(url, 3, 'def', headers).expect(404);
      await remove(url, { ...headers, ...tus }).expect(404);
    }
    await patch(url, 3, 'def').expect(204);
  });

  test('cannot be completed by a caller who lost the permission or the access to the folder', async () => {
    const id = randomUUID();
    const account = { id, type: 'service_account', is_service_account: true } as const;
    const held = caller(account);
    const folder = await post(foldersPath, { name: 'Private' }, own).expect(201);
    const members = `${foldersPath}/${folder.body.data.id}/members`;
    await post(members, { user_id: id, access: 'write' }, own).expect(201);
    const fields = { filename: 'a.txt', folder_id: folder.body.data.id };
    const url = await begun(6, fields, { headers: held });
    await patch(url, 0, 'abc', held).expect(204);
    const denied = caller({ ...account, scopes: ['tenant.*.crm.documents.update'] });
    await patch(url, 3, 'def', denied).expect(403);
    await remove(`${members}/${id}`, own).expect(204);
    const { body } = await patch(url, 3, 'def', held).expect(403);
    expect(body.error).toBe('folder_access_denied');
    expect((await head(url, held)).headers['upload-offset']).toBe('3');
  });

  test('needs write access to the folder', async () => {
    const { body } = await begin(3, { folder_id: randomUUID() }).expect(403);
    expect(body.error).toBe('folder_access_denied');
  });
});

describe('An unfinished upload', () => {
  test('is deleted when the caller cancels it, and no longer counts towards the quota', async () => {
    const url = await begun(6);
    await patch(url, 0, 'abc').expect(204);
    expect(await usageWith(url)).toBe(3);
    const [part] = await partsOf(url);
    if (!part) throw new Error('There is no part.');
    expect(await crm().context.fileStore.has(part)).toBe(true);
    await remove(url, { ...own, ...tus }).expect(204);
    await head(url).expect(404);
    await patch(url, 3, 'def').expect(404);
    await until(async () => !(await crm().context.fileStore.has(part)));
    await until(async () => (await partsOf(url)).length === 0);
    expect(await usageWith(url)).toBe(0);
  });

  test('is 410 after 24 hours, and is deleted with its parts', async () => {
    const url = await begun(6);
    const id = url.split('/').at(-1);
    await patch(url, 0, 'abc').expect(204);
    const [part] = await partsOf(url);
    if (!part) throw new Error('There is no part.');
    await sql('UPDATE tenant_crm.uploads SET expires_at = now() WHERE id = $1', [id]);
    const { body } = await patch(url, 3, 'def').expect(410);
    expect(body.error).toBe('upload_expired');
    await head(url).expect(410);
    await sql(
      `UPDATE crm_jobs.job SET start_after = now() WHERE name = 'upload_removal' AND data ->> 'id' = $1`,
      [id],
    );
    await until(async () => !(await crm().context.fileStore.has(part)));
    await until(async () => (await head(url)).status === 404);
    await until(async () => (await partsOf(url)).length === 0);
  });

  test('leaves no parts in the store when it is completed', async () => {
    const url = await begun(6);
    await patch(url, 0, 'abc').expect(204);
    const [part] = await partsOf(url);
    if (!part) throw new Error('There is no part.');
    await patch(url, 3, 'def').expect(204);
    await until(async () => !(await crm().context.fileStore.has(part)));
    expect(await usageWith(url)).toBe(6);
  });
});

describe('An upload beyond the quota or the limit is 413', () => {
  const setQuota = async (quota: number) => {
    const { rows } = await sql('SELECT tenant_id FROM tenant_crm.uploads ORDER BY id DESC LIMIT 1');
    const system = { ...crm().system(), 'x-tenant-id': rows[0].tenant_id };
    const path = '/api/crm/system/storage-quota';
    await crm().http.put(path).set(system).send({ quota_bytes: quota }).expect(200);
  };

  test('when it is created, and while bytes arrive: its parts count towards the quota', async () => {
    const url = await begun(null);
    await setQuota(10);
    const { body } = await begin(11).expect(413);
    expect(body).toMatchObject({ error: 'storage_quota_exceeded', bytes_left: 10 });
    await patch(url, 0, '12345678').expect(204);
    const refused = await patch(url, 8, '123').expect(413);
    expect(refused.body).toMatchObject({ error: 'storage_quota_exceeded', bytes_left: 2 });
    await patch(url, 8, '12', { 'Upload-Length': '10' }).expect(204);
    expect(await usageWith(url)).toBe(10);
  });

  test('if it has more bytes than announced, or than a file may have', async () => {
    const { maxBytes } = crm().context.config.files;
    expect((await begin(maxBytes + 1).expect(413)).body.error).toBe('body_too_large');
    await patch(await begun(3), 0, 'abcd').expect(413);
    const chunked = patch(await begun(3), 0, '');
    chunked.write('abcd');
    expect((await chunked.expect(413)).body.error).toBe('body_too_large');
  });
});

test('A client that repeats the size of an interrupted upload continues it', async () => {
  const url = await begun(null);
  await patch(url, 0, 'ab').expect(204);
  // As after a request that was cut off.
  await sql('UPDATE tenant_crm.uploads SET size = 5 WHERE id = $1', [url.split('/').at(-1)]);
  const { headers } = await patch(url, 2, 'cde', { 'Upload-Length': '5' }).expect(204);
  expect(await textOf(headers['document-id'] ?? '')).toBe('abcde');
});

test('The type that a client declares may have parameters, and a long name is cut before its extension', async () => {
  const fields = { filename: `${'x'.repeat(300)}.csv`, filetype: 'text/csv; charset=utf-8' };
  const { headers } = await patch(await begun(4, fields), 0, 'a,b\n').expect(204);
  const { body } = await get(`${documentsPath}/${headers['document-id']}`, own).expect(200);
  expect(body.data).toMatchObject({ name: `${'x'.repeat(251)}.csv`, type: 'text/csv' });
});

describe('The tus protocol:', () => {
  test('OPTIONS names the version, the extensions and the largest size', async () => {
    const { headers } = await crm().http.options(uploadsPath).expect(204);
    expect(headers).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-defer-length,expiration,termination',
      'tus-max-size': `${crm().context.config.files.maxBytes}`,
    });
  });

  test('every response has Tus-Resumable; another version is 412 and names the supported one', async () => {
    const { headers } = await begin(3, {}, { headers: { 'Tus-Resumable': '0.2.2' } }).expect(412);
    expect(headers).toMatchObject({ 'tus-version': '1.0.0', 'tus-resumable': '1.0.0' });
    const denied = await crm().http.post(uploadsPath).expect(401);
    expect(denied.headers['tus-resumable']).toBe('1.0.0');
    const created = await begin(3).expect(201);
    expect(created.headers).toMatchObject({ 'upload-expires': expect.stringContaining('GMT') });
    expect(created.headers.location).toBe(`${uploadsPath}/${created.body.data.id}`);
  });

  test.each([
    ['Upload-Length', {}, { 'Upload-Length': 'many' }, 'upload-length'],
    ['Upload-Metadata', {}, { 'Upload-Metadata': 'name *' }, 'upload-metadata'],
    ['the folder', { folder_id: 'x' }, {}, 'folder_id'],
    ['the name', { name: 'a/b' }, {}, 'name'],
    ['an unknown field', { folder: 'x' }, {}, 'folder'],
    ['the tags', { tags: Array.from({ length: 51 }, (_, n) => n).join(',') }, {}, 'tags'],
  ])('an error of %s is 422 and names it', async (_what, fields, headers, field) => {
    const { body } = await begin(3, fields, { headers }).expect(422);
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  test('a request without the required headers is rejected', async () => {
    await post(uploadsPath, null, { ...own, ...tus }).expect(422);
    const url = await begun(3);
    await patch(url, 0, 'abc', { 'Content-Type': 'text/plain' }).expect(415);
    await crm()
      .http.patch(url)
      .set({ ...own, ...tus, 'Content-Type': PART })
      .send('abc')
      .expect(422);
  });
});

test('Browsers of other origins can read the headers that resumable uploads need', async () => {
  const origin = 'https://app.example';
  const other = await startCrm({ CORS_ORIGINS: origin });
  try {
    const { headers } = await other.http.post(uploadsPath).set({ origin }).expect(401);
    for (const name of ['Location', 'Upload-Offset', 'Upload-Length', 'Document-Id']) {
      expect(headers['access-control-expose-headers']).toContain(name);
    }
    const asked = await other.http.options(uploadsPath).set({
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'tus-resumable,upload-offset',
    });
    expect(asked.headers['access-control-allow-methods']).toContain('PATCH');
    expect(asked.headers['access-control-allow-headers']).toContain('upload-offset');
  } finally {
    await other.stop();
  }
});

test('A caller has at most 100 unfinished uploads, and a tenant 1,000', async () => {
  const refusal = (limit: string, maximum: number) => ({
    error: 'too_many_uploads',
    limit,
    max_uploads: maximum,
  });
  const copy = (url: string, count: number, owner: string) =>
    sql(
      `INSERT INTO tenant_crm.uploads (tenant_id, id, owner, metadata, size, expires_at)
       SELECT tenant_id, gen_random_uuid(), ${owner}, metadata, size, expires_at
       FROM tenant_crm.uploads, generate_series(1, $2) WHERE id = $1`,
      [url.split('/').at(-1), count],
    );
  const url = await begun(1);
  await copy(url, 99, 'owner');
  const { body, headers } = await begin(1).expect(429);
  expect([body, headers['retry-after']]).toMatchObject([refusal('caller', 100), '60']);
  await crm()
    .http.delete(url)
    .set({ ...own, ...tus })
    .expect(204);
  const last = await begun(1);
  await copy(last, 900, "owner || '-' || generate_series");
  const colleague = await begin(1, undefined, { headers: caller() }).expect(429);
  expect(colleague.body).toMatchObject(refusal('tenant', 1000));
  await patch(last, 0, 'a').expect(204);
});
