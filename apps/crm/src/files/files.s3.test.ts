import { randomBytes } from 'node:crypto';
import { type S3Server, startS3, until } from '@tessera/local-stack';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';

let s3: S3Server;
let crm: TestCrm;
let headers: Record<string, string>;
beforeAll(async () => {
  s3 = await startS3();
  crm = await startCrm({
    FILE_STORE: 's3',
    FILE_STORE_S3_BUCKET: s3.bucket,
    FILE_STORE_S3_ENDPOINT: s3.endpoint,
    FILE_STORE_S3_PREFIX: 'tessera/',
    FILE_STORE_S3_FORCE_PATH_STYLE: 'true',
    FILE_STORE_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    FILE_STORE_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
  });
  headers = crm.caller();
});
afterAll(async () => {
  await crm.stop();
  await s3.stop();
});

const upload = (content: Buffer) =>
  documentUploader({ post: (path) => crm.http.post(path).set(headers) })({
    content,
    name: 'a.bin',
  });
const download = (id: string, further = {}) =>
  crm.http
    .get(`${documentsPath}/${id}/download`)
    .set({ ...headers, ...further })
    .buffer(true);

/** How many objects the store has, unfinished ones included. */
const stored = async () => {
  const { fileStore } = crm.context;
  const pages = [fileStore.list({ limit: 100 }), fileStore.listUnfinished({ limit: 100 })];
  return (await Promise.all(pages)).flatMap(({ objects }) => objects).length;
};

const purge = async (id: string) => {
  await crm.http.delete(`${documentsPath}/${id}`).set(headers).expect(204);
  const { pool } = crm.context;
  await pool.query(
    "UPDATE tenant_crm.documents SET deleted_at = deleted_at - interval '30 days' WHERE id = $1",
    [id],
  );
  await pool.query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'document_purge' AND data->>'id' = $1",
    [id],
  );
};

test('A document in S3 is uploaded in parts, downloaded as a whole and in ranges, and deleted for good', async () => {
  const content = randomBytes(10_000_000);
  const { body } = await upload(content).expect(201);
  const whole = await download(body.data.id).expect(200);
  expect(content.equals(whole.body)).toBe(true);
  const part = await download(body.data.id, { range: 'bytes=9000000-9000009' }).expect(206);
  expect(content.subarray(9_000_000, 9_000_010).equals(part.body)).toBe(true);
  expect(await stored()).toBe(1);
  await purge(body.data.id);
  await until(async () => (await stored()) === 0);
});

test('While S3 is down, files are 503 and everything else works; afterwards nothing is lost or left over', async () => {
  const { body } = await upload(Buffer.from('kept')).expect(201);
  const { id } = body.data;
  await s3.kill();
  const failed = await upload(Buffer.from('lost')).expect(503);
  expect(failed.body.error).toBe('file_unavailable');
  await download(id).expect(503);
  await crm.http.get(`${documentsPath}/${id}`).set(headers).expect(200);
  await s3.restart();
  expect((await download(id).expect(200)).text).toBe('kept');
  await until(async () => {
    const { rows } = await crm.context.pool.query('SELECT FROM tenant_crm.pending_files');
    return rows.length === 0;
  });
  expect(await stored()).toBe(1);
  expect((await crm.http.get(documentsPath).set(headers)).body.meta.total).toBe(1);
});
