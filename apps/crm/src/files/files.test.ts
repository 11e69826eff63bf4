import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileStore, createFolderStore, objectPath } from '@tessera/file-store';
import { until } from '@tessera/local-stack';
import { createVault, encryptionKeys } from '@tessera/vault';
import { runAdmin } from '../testing/admin.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import { tenantForEachTest } from '../testing/tenant.ts';
import { createFiles } from './files.ts';

const tenant = tenantForEachTest();
const { crm, get } = tenant;
const upload = documentUploader(tenant);

const create = async (content: string): Promise<string> =>
  (await upload({ content }).expect(201)).body.data.id;

const download = (id: string) => get(`${documentsPath}/${id}/download`);

/** The stored content of a document. */
const contentOf = async (documentId: string) => {
  const { rows } = await crm().context.pool.query(
    `SELECT content.* FROM tenant_crm.documents AS document
     JOIN tenant_crm.file_contents AS content USING (tenant_id)
     WHERE document.id = $1 AND content.id = document.content_id`,
    [documentId],
  );
  return rows[0];
};

/** The object in the store that has the content of a document. */
const objectOf = async (documentId: string) => {
  const { tenant_id: tenantId, object_id: id } = await contentOf(documentId);
  return { tenantId, id };
};

test('A content keeps its media type, and has not been scanned', async () => {
  const content = await contentOf(await create(randomUUID()));
  expect(content).toMatchObject({ type: 'text/plain', scan_status: 'not_scanned' });
  expect(content.id).not.toBe(content.object_id);
});

test('Uploading the bytes of a lost file again repairs every document that has them', async () => {
  const content = randomUUID();
  const first = await create(content);
  const lost = await objectOf(first);
  const { fileStore } = crm().context;
  await fileStore.delete(lost);
  await download(first).expect(503);
  const second = await create(content);
  for (const id of [first, second]) expect((await download(id).expect(200)).text).toBe(content);
  expect(await contentOf(first)).toMatchObject({ reference_count: 2 });
  expect(await objectOf(first)).not.toEqual(lost);
});

test('Uploading the bytes of a file that does not decrypt again repairs it, once a download has shown that', async () => {
  const content = randomBytes(100_000).toString('hex');
  const id = await create(content);
  const path = join(crm().context.config.files.path, ...objectPath(await objectOf(id)));
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(150_000) ^ 1, 150_000);
  await writeFile(path, bytes);
  // The response breaks off.
  await expect(download(id)).rejects.toThrow();
  await until(async () => (await contentOf(id)).missing_since !== null);
  await create(content);
  expect((await download(id).expect(200)).text).toBe(content);
  expect((await contentOf(id)).missing_since).toBeNull();
});

test('Uploading the bytes of a file whose key does not decrypt again repairs it', async () => {
  const content = randomUUID();
  const [id, other] = [await create(content), await create(randomUUID())];
  const { pool } = crm().context;
  await pool.query('UPDATE tenant_crm.file_contents SET sealed_key = $2 WHERE id = $1', [
    (await contentOf(id)).id,
    (await contentOf(other)).sealed_key,
  ]);
  await create(content);
  expect((await download(id).expect(200)).text).toBe(content);
});

test('Uploading the bytes of an unencrypted file again encrypts it and deletes the unencrypted object', async () => {
  const content = randomUUID();
  const id = await create(content);
  const { context } = crm();
  const object = await objectOf(id);
  // As a release without keys has stored it.
  const plain = createFileStore(createFolderStore(context.config.files.path), undefined);
  await plain.delete(object);
  await plain.put(
    object,
    (async function* () {
      yield Buffer.from(content);
    })(),
    { maxBytes: 100 },
  );
  await context.pool.query(
    'UPDATE tenant_crm.file_contents SET sealed_key = NULL WHERE object_id = $1',
    [object.id],
  );
  expect((await download(id).expect(200)).text).toBe(content);
  await create(content);
  expect((await contentOf(id)).sealed_key).not.toBeNull();
  expect((await download(id).expect(200)).text).toBe(content);
  await until(async () => !(await context.fileStore.has(object)));
});

test('crm-admin reseal also reseals the key of a file that was uploaded again', async () => {
  const content = randomUUID();
  const id = await create(content);
  const { context } = crm();
  await context.fileStore.delete(await objectOf(id));
  await create(content);
  const newKey = `new:${randomBytes(32).toString('base64')}`;
  const former = context.config.keyEncryptionKeys.map(
    (key) => `${key.id}:${key.secret.toString('base64')}`,
  );
  const { code } = await runAdmin(crm(), ['reseal'], {
    KEY_ENCRYPTION_KEYS: [newKey, ...former].join(','),
  });
  expect(code).toBe(0);
  const { tenant_id: tenantId, object_id, size, sealed_key: sealedKey } = await contentOf(id);
  const store = createFileStore(
    createFolderStore(context.config.files.path),
    createVault(encryptionKeys([newKey])),
  );
  const file = { tenantId, id: object_id, size: Number(size), sealedKey };
  const chunks = await (await store.get(file)).toArray();
  expect(String(Buffer.concat(chunks))).toBe(content);
});

test('References that concurrent transactions end in different orders do not deadlock', async () => {
  const { pool, database, fileStore: store, jobs } = crm().context;
  const files = createFiles({
    database,
    store,
    jobs,
    maxBytes: 1,
    defaultQuota: undefined,
    onNewContent: [],
  });
  // The thumbnail of an image is also the content of a document, and another content has two references.
  const contents = [];
  for (let n = 0; n < 3; n += 1) contents.push(await contentOf(await create(randomUUID())));
  const [thumbnail, image, shared] = contents.map(({ id }) => id as string);
  if (!thumbnail || !image || !shared) throw new Error('There are not three contents.');
  const tenantId: string = contents[0].tenant_id;
  for (const table of ['document_versions', 'documents']) {
    await pool.query(`DELETE FROM tenant_crm.${table} WHERE tenant_id = $1`, [tenantId]);
  }
  await pool.query(
    `UPDATE tenant_crm.file_contents SET reference_count = 1 + (id <> $2)::int,
       thumbnail_id = CASE WHEN id = $2 THEN $3::uuid END WHERE tenant_id = $1`,
    [tenantId, image, thumbnail],
  );
  await pool.query('UPDATE tenant_crm.file_usage SET bytes = 5 * 36 WHERE tenant_id = $1', [
    tenantId,
  ]);
  const release = (...ids: string[]) =>
    database.forTenant(tenantId).transaction((db) => files.release(db, ids));

  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM tenant_crm.file_contents WHERE id = $1 FOR UPDATE', [shared]);
    const released = Promise.all([release(image, shared), release(shared, thumbnail)]);
    await until(async () => {
      const { rows } = await pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database()
           AND wait_event_type = 'Lock' AND query LIKE '%file_contents%FOR UPDATE'`,
      );
      return rows.length === 2;
    });
    await holder.query('COMMIT');
    await released;
  } finally {
    holder.release();
  }
  const { rows } = await pool.query(
    `SELECT bytes, (SELECT count(*)::int FROM tenant_crm.file_contents WHERE tenant_id = $1) AS contents
     FROM tenant_crm.file_usage WHERE tenant_id = $1`,
    [tenantId],
  );
  expect(rows).toEqual([{ bytes: 0, contents: 0 }]);
});
