import { randomBytes, randomUUID } from 'node:crypto';
import { createFileStore, createFolderStore } from '@tessera/file-store';
import { until } from '@tessera/local-stack';
import { createVault, encryptionKeys } from '@tessera/vault';
import { runAdmin } from '../testing/admin.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import { tenantForEachTest } from '../testing/tenant.ts';

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
