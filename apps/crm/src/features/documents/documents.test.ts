import { createHash } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { collide } from '../../testing/collisions.ts';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, get, post, put, remove } = tenant;
const upload = documentUploader(tenant);
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

const create = async (content = 'hello', name = 'a.txt') =>
  (await upload({ content, name }).expect(201)).body.data.id as string;

const putContent = (id: string, content: string) =>
  put(`${documentsPath}/${id}/content`, null).set('content-type', 'text/plain').send(content);

/** What CRM keeps of the file with this content. */
const contents = async (content: string) =>
  (
    await crm().context.pool.query(
      'SELECT tenant_id, object_id, reference_count AS count FROM tenant_crm.file_contents WHERE sha256 = $1',
      [sha256(content)],
    )
  ).rows as { tenant_id: string; object_id: string; count: number }[];

test('Concurrent uploads of versions each return their own', async () => {
  const id = await create();
  const lock = {
    text: 'SELECT FROM tenant_crm.documents WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
    values: [tenant.tenant().id, id],
  };
  const blind = tenant.caller({ lacking: ['documents.view'] });
  const uploads = ['one', 'two', 'three'].map((content) => {
    return () =>
      post(`${documentsPath}/${id}/versions`, null, blind)
        .attach('file', Buffer.from(content), 'a.txt')
        .expect(201)
        .then(({ body }) => body.data.number as number);
  });
  expect(await collide(crm().context.pool, lock, uploads)).toEqual([2, 3, 4]);
});

test('The tags of a form are separated by commas, or a list in JSON', async () => {
  const tagsOf = async (tags: string) =>
    (await upload({ fields: { tags } }).expect(201)).body.data.tags;
  expect(await tagsOf('["a, b", "c"]')).toEqual(['a, b', 'c']);
  expect(await tagsOf(' offer,, 2026 ,OFFER,')).toEqual(['offer', '2026']);
  expect(await tagsOf('[draft')).toEqual(['[draft']);
  for (const tags of ['["a", 1]', '["a", "A"]', '.', 'a'.repeat(101), '[["a"]]']) {
    const { body } = await upload({ fields: { tags } }).expect(422);
    expect(Object.keys(body.errors)[0]).toMatch(/^tags/);
  }
});

test('Documents are found by a tag whatever its case', async () => {
  await upload({ fields: { tags: 'Offer' } }).expect(201);
  const { body } = await get('/api/crm/documents?tag=OFFER').expect(200);
  expect(body.meta.total).toBe(1);
});

test('A document is uploaded with its fields, listed, found by name and downloaded', async () => {
  const { body } = await upload({
    content: 'a,b\n1,2\n',
    name: 'Árlista.csv',
    type: 'text/csv',
    fields: { description: 'Prices', tags: 'prices, 2026, prices' },
  }).expect(201);
  expect(body.data).toMatchObject({
    name: 'Árlista.csv',
    folder_id: null,
    description: 'Prices',
    tags: ['prices', '2026'],
    current_version: 1,
    size: 8,
    type: 'text/csv',
    sha256: sha256('a,b\n1,2\n'),
    scan_status: 'not_scanned',
  });
  for (const query of ['search=arlista', 'tag=2026', 'type=text/csv', 'sort=-size']) {
    expect((await get(`${documentsPath}?${query}`)).body.data).toMatchObject([
      { id: body.data.id },
    ]);
  }
  expect((await get(`${documentsPath}?search=nothing`)).body.data).toEqual([]);
  const download = await get(`${documentsPath}/${body.data.id}/download`).expect(200);
  expect(download.text).toBe('a,b\n1,2\n');
});

test('Identical content is stored once and counted for each document', async () => {
  const content = crypto.randomUUID();
  const [first, second] = [await create(content), await create(content)];
  expect(await contents(content)).toMatchObject([{ count: 2 }]);
  for (const id of [first, second]) {
    expect((await get(`${documentsPath}/${id}/download`)).text).toBe(content);
  }
  await until(async () => {
    const { rows } = await crm().context.pool.query(
      'SELECT id FROM tenant_crm.pending_files WHERE abandoned',
    );
    return rows.length === 0;
  });
});

test('Every upload makes a version; earlier ones are downloaded and restored', async () => {
  const id = await create('one');
  expect((await putContent(id, 'two').expect(200)).body.data).toMatchObject({ current_version: 2 });
  await post(`${documentsPath}/${id}/versions`, null)
    .attach('file', Buffer.from('three'), 'x.txt')
    .expect(201);
  const { body } = await get(`${documentsPath}/${id}/versions`).expect(200);
  expect(body.data.map(({ number }: { number: number }) => number)).toEqual([3, 2, 1]);
  expect((await get(`${documentsPath}/${id}/versions/1/download`)).text).toBe('one');
  await get(`${documentsPath}/${id}/versions/4/download`).expect(404);
  const restored = await post(`${documentsPath}/${id}/versions/1/restore`).expect(200);
  expect(restored.body.data).toMatchObject({ current_version: 4, sha256: sha256('one') });
  expect((await get(`${documentsPath}/${id}/download`)).text).toBe('one');
  expect(await contents('one')).toEqual(
    expect.arrayContaining([expect.objectContaining({ count: 2 })]),
  );
});

test('A former version is deleted for good, but neither the current one nor one that a link serves', async () => {
  const content = crypto.randomUUID();
  const id = await create(content);
  await putContent(id, 'two').expect(200);
  await putContent(id, 'three').expect(200);
  const versions = `${documentsPath}/${id}/versions`;
  const link = await post(`${documentsPath}/${id}/links`, { version_number: 1 }).expect(201);
  await remove(`${versions}/1`).expect(409);
  await remove(`${documentsPath}/${id}/links/${link.body.data.id}`).expect(204);
  const lacking = tenant.caller({ lacking: ['documents.delete'] });
  await remove(`${versions}/1`, lacking).expect(403);
  await remove(`${versions}/3`).expect(409);
  await remove(`${versions}/4`).expect(404);
  const [stored] = await contents(content);
  const object = { tenantId: stored?.tenant_id ?? '', id: stored?.object_id ?? '' };
  await remove(`${versions}/1`).expect(204);
  await remove(`${versions}/1`).expect(404);
  const { body } = await get(versions).expect(200);
  expect(body.data.map(({ number }: { number: number }) => number)).toEqual([3, 2]);
  await until(async () => !(await crm().context.fileStore.has(object)));
  const { rows } = await crm().context.pool.query(
    'SELECT bytes::int FROM tenant_crm.file_usage WHERE tenant_id = $1',
    [object.tenantId],
  );
  expect(rows).toEqual([{ bytes: 'two'.length + 'three'.length }]);
  expect((await get(`${documentsPath}/${id}/download`)).text).toBe('three');
});

test('A version is deleted only with write access to the folder of its document', async () => {
  const reader = crypto.randomUUID();
  const folder: string = (await post(foldersPath, { name: 'Top' }).expect(201)).body.data.id;
  const { body } = await upload({ fields: { folder_id: folder } }).expect(201);
  const version = `${documentsPath}/${body.data.id}/versions/1`;
  await putContent(body.data.id, 'two').expect(200);
  await post(`${foldersPath}/${folder}/members`, { user_id: reader }).expect(201);
  await remove(version, tenant.caller({ id: crypto.randomUUID() })).expect(404);
  await remove(version, tenant.caller({ id: reader })).expect(403);
  await remove(version).expect(204);
});

test('Content is replaced only in a version that the caller has seen', async () => {
  const id = await create('one');
  await putContent(id, 'two').set('If-Match', '"2"').expect(412);
  await putContent(id, 'two').set('If-Match', '"1"').expect(200);
});

test('Downloads have ranges, conditional requests, and headers that keep browsers from running anything', async () => {
  const id = await create('0123456789');
  const path = `${documentsPath}/${id}/download`;
  const whole = await get(path).expect(200);
  const etag = `"${sha256('0123456789')}"`;
  expect(whole.headers).toMatchObject({
    etag,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  });
  const part = await get(path, { range: 'bytes=2-4' }).expect(206);
  expect([part.text, part.headers['content-range']]).toEqual(['234', 'bytes 2-4/10']);
  expect((await get(path, { range: 'bytes=-3' }).expect(206)).text).toBe('789');
  await get(path, { range: 'bytes=10-' }).expect(416);
  await get(path, { 'if-none-match': etag }).expect(304);
  await get(path, { 'if-range': '"x"', range: 'bytes=0-0' }).expect(200);
  await get(path, { 'if-range': etag, range: 'bytes=0-0' }).expect(206);
});

test.each([
  ['<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'],
  ['<!doctype html><script>alert(1)</script>', 'text/html'],
])('%s is never shown by a browser on our origin', async (content, type) => {
  const { body } = await upload({ content, type, name: 'x.svg' }).expect(201);
  const { headers } = await get(`${documentsPath}/${body.data.id}/download`).expect(200);
  expect(headers['content-disposition']).toMatch(/^attachment/);
  expect(headers['content-security-policy']).toContain('sandbox');
  expect(headers['content-type']).not.toContain('html');
});

test.each([
  ['../../etc/passwd', /^[^/\\]+$/],
  ['..\\..\\windows\\win.ini', /^[^/\\]+$/],
  ['/etc/passwd', /^[^/\\]+$/],
  ['C:\\Users\\x', /^[^/\\]+$/],
  ['..', /^file$/],
  ['%2e%2e%2fetc%2fpasswd', /^[^/\\]+$/],
  ['%252e%252e%252fetc', /^[^/\\]+$/],
  ['a\u202efdp.exe', /^[^/\\]+$/],
])('An uploaded file called %j gets a name without directories', async (name, safe) => {
  const { body } = await upload({ name }).expect(201);
  expect(body.data.name).toMatch(safe);
  const { headers, text } = await get(`${documentsPath}/${body.data.id}/download`).expect(200);
  expect(text).toBe('hello');
  expect(headers['content-disposition']).not.toMatch(/[\\/]|\u202e/);
});

test('A file name in overlong UTF-8 or with NUL does not become a path', async () => {
  const id = crypto.randomUUID();
  const form = Buffer.concat([
    Buffer.from(`--${id}\r\nContent-Disposition: form-data; name="file"; filename="`),
    Buffer.from([0xc0, 0xae, 0xc0, 0xae, 0xc0, 0xaf, 0x78, 0x00]),
    Buffer.from(`"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--${id}--\r\n`),
  ]);
  const { body, status } = await post(documentsPath, null)
    .set('content-type', `multipart/form-data; boundary=${id}`)
    .send(form as never);
  expect([201, 400, 422]).toContain(status);
  if (status === 201) expect(body.data.name).not.toMatch(/[/\\\0]|\.\./);
});

test.each(['../x', 'a/b', 'a\\b', '..', 'a\u0001b'])(
  'A document cannot be called %j',
  async (name) => {
    await upload({ fields: { name } }).expect(422);
    await put(`${documentsPath}/${await create()}`, { name }).expect(422);
  },
);

test.each(['Ajánlat „v2”.txt', '見積書.txt', 'Ünnep & 50% "off";x.txt', "it's.txt"])(
  'A document called %j is downloaded under this name',
  async (name) => {
    const { body } = await upload({ fields: { name } }).expect(201);
    const { headers } = await get(`${documentsPath}/${body.data.id}/download`);
    const disposition = headers['content-disposition'] ?? '';
    const extended = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1];
    const quoted = /filename="?((?:[^"\\]|\\.)*)"?$/
      .exec(disposition)?.[1]
      ?.replace(/\\(.)/g, '$1');
    expect(extended ? decodeURIComponent(extended) : quoted).toBe(name);
  },
);

test('A file name of more than 255 characters is cut before its extension, also in downloads', async () => {
  const { body } = await upload({ content: 'x', name: `${'é'.repeat(300)}.tar.gz` }).expect(201);
  const name = `${'é'.repeat(248)}.tar.gz`;
  expect(body.data.name).toBe(name);
  const { headers } = await get(`${documentsPath}/${body.data.id}/download`).expect(200);
  expect(headers['content-disposition']).toContain(`filename*=UTF-8''${encodeURIComponent(name)}`);
});

test('A file beyond the quota is a 413 that says what is left, and takes no room', async () => {
  const { pool } = crm().context;
  const find = 'SELECT tenant_id FROM tenant_crm.documents WHERE id = $1';
  const { tenant_id: tenantId } = (await pool.query(find, [await create()])).rows[0];
  const system = { ...crm().system(), 'x-tenant-id': tenantId };
  const usage = async () =>
    (await crm().http.get('/api/crm/system/storage-usage').set(system).expect(200)).body.data.files;
  expect(await usage()).toEqual({ bytes: 5, quota_bytes: null });
  await crm()
    .http.put('/api/crm/system/storage-quota')
    .set(system)
    .send({ quota_bytes: 12 })
    .expect(200);
  const { body } = await upload({ content: '12345678' }).expect(413);
  expect(body).toMatchObject({ error: 'storage_quota_exceeded', bytes_left: 7 });
  await upload({ content: '1234567' }).expect(201);
  // The same bytes are stored once, but need room for each document.
  await upload({ content: '1' }).expect(413);
  await upload({ content: '' }).expect(201);
  expect(await usage()).toEqual({ bytes: 12, quota_bytes: 12 });
  expect((await get(documentsPath)).body.meta.total).toBe(3);
});

test('A deleted document is restored with its versions, or deleted for good after 30 days', async () => {
  const content = crypto.randomUUID();
  const id = await create(content);
  await remove(`${documentsPath}/${id}`).expect(204);
  await get(`${documentsPath}/${id}/download`).expect(404);
  await post(`${documentsPath}/${id}/restore`).expect(200);
  expect((await get(`${documentsPath}/${id}/download`)).text).toBe(content);
  await remove(`${documentsPath}/${id}`).expect(204);

  const { pool, fileStore } = crm().context;
  const [stored] = await contents(content);
  const object = { tenantId: stored?.tenant_id ?? '', id: stored?.object_id ?? '' };
  expect(await fileStore.has(object)).toBe(true);
  await pool.query(
    "UPDATE tenant_crm.documents SET deleted_at = now() - interval '31 days' WHERE id = $1",
    [id],
  );
  // Also before the job has run.
  await post(`${documentsPath}/${id}/restore`).expect(404);
  await pool.query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'document_purge' AND data->>'id' = $1",
    [id],
  );
  await until(async () => (await contents(content)).length === 0);
  await until(async () => !(await fileStore.has(object)));
  await post(`${documentsPath}/${id}/restore`).expect(404);
});

describe('An upload repeated with its Idempotency-Key', () => {
  const key = () => ({ 'Idempotency-Key': crypto.randomUUID() });
  const abandoned = async () =>
    (await crm().context.pool.query('SELECT id FROM tenant_crm.pending_files WHERE abandoned'))
      .rowCount;

  test('creates one document, and leaves no second file', async () => {
    const headers = key();
    const first = await upload({ content: 'one', headers }).expect(201);
    const second = await upload({ content: 'one', headers }).expect(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await get(documentsPath)).body.meta.total).toBe(1);
    await upload({ content: 'two', headers }).expect(422);
    await until(async () => (await abandoned()) === 0);
  });

  test('makes one version of a document, sent as a form or as bytes', async () => {
    const id = await create('one');
    const replace = () =>
      put(`${documentsPath}/${id}/content`, null, { 'Content-Type': 'text/plain', ...bytes });
    const [bytes, form] = [key(), key()];
    for (const _time of [1, 2]) await replace().send('two').expect(200);
    const versions = `${documentsPath}/${id}/versions`;
    for (const _time of [1, 2]) {
      await post(versions, null, form).attach('file', Buffer.from('three'), 'x.txt').expect(201);
    }
    expect((await get(versions)).body.meta.total).toBe(3);
  });

  test('of simultaneous requests, one creates the document; the others get its response or 409', async () => {
    const headers = key();
    const sent = await Promise.all([1, 2, 3].map(() => upload({ content: 'one', headers })));
    expect(sent.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    for (const { status } of sent) expect([201, 409]).toContain(status);
    expect((await get(documentsPath)).body.meta.total).toBe(1);
    await until(async () => (await abandoned()) === 0);
  });
});

test('An upload whose If-Match no longer holds is 412 before its file is stored', async () => {
  const id = await create('one');
  await put(`${documentsPath}/${id}/content`, null, {
    'If-Match': '"7"',
    'Content-Type': 'text/plain',
  })
    .send('two')
    .expect(412);
  expect((await get(`${documentsPath}/${id}`)).body.data.current_version).toBe(1);
});

test('A description has as many characters in a form as in JSON, in any script', async () => {
  const longest = '\u4e2d'.repeat(10_000);
  const { body } = await upload({ fields: { description: longest } }).expect(201);
  expect(body.data.description).toBe(longest);
  const description = `${longest}\u4e2d`;
  const inJson = await put(`${documentsPath}/${body.data.id}`, { description }).expect(422);
  const inForm = await upload({ fields: { description } }).expect(422);
  expect(inForm.body.errors).toEqual(inJson.body.errors);
});

test('Too many tags are 422 in a form as they are in JSON', async () => {
  const tags = Array.from({ length: 51 }, (_, number) => `t${number}`).join(',');
  const { body } = await upload({ fields: { tags } }).expect(422);
  expect(body.errors).toEqual({ tags: [expect.any(String)] });
  await upload({ fields: { tags: 'x'.repeat(101) } }).expect(422);
});

test('Restoring a version needs room in the quota', async () => {
  const { pool } = crm().context;
  const id = await create('12345678');
  await putContent(id, '1').expect(200);
  const find = 'SELECT tenant_id FROM tenant_crm.documents WHERE id = $1';
  const { tenant_id: tenantId } = (await pool.query(find, [id])).rows[0];
  await crm()
    .http.put('/api/crm/system/storage-quota')
    .set({ ...crm().system(), 'x-tenant-id': tenantId })
    .send({ quota_bytes: 16 })
    .expect(200);
  const { body } = await post(`${documentsPath}/${id}/versions/1/restore`).expect(413);
  expect(body).toMatchObject({ error: 'storage_quota_exceeded', bytes_left: 7 });
});
