import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ObjectId, objectPath } from '@tessera/file-store';
import { until } from '@tessera/local-stack';
import { runAdmin } from '../testing/admin.ts';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import { contentsByPath, objectColumns } from './sweep.repository.ts';
import { type SweepResult, sweepFiles } from './sweep.ts';

let folder: string;
let crm: TestCrm;
let headers: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crm-sweep-'));
  crm = await startCrm({ FILE_STORE_PATH: folder });
  headers = crm.caller();
});
afterAll(async () => {
  await crm.stop();
  await rm(folder, { recursive: true });
});

const pathOf = (object: ObjectId): string => join(folder, ...objectPath(object));
const DAY_MS = 24 * 3_600_000;
const age = (path: string) => utimes(path, new Date(), new Date(Date.now() - DAY_MS - 60_000));

const upload = documentUploader({ post: (path) => crm.http.post(path).set(headers) });
const create = async (content: string): Promise<string> =>
  (await upload({ content }).expect(201)).body.data.id;
const download = (id: string) => crm.http.get(`${documentsPath}/${id}/download`).set(headers);

const contentOf = async (documentId: string) => {
  const { rows } = await crm.context.pool.query(
    `SELECT content.* FROM tenant_crm.documents AS document
     JOIN tenant_crm.file_contents AS content USING (tenant_id)
     WHERE document.id = $1 AND content.id = document.content_id`,
    [documentId],
  );
  const [content] = rows;
  return { content, object: { tenantId: content.tenant_id, id: content.object_id } as ObjectId };
};

const sweep = (): Promise<SweepResult> => {
  const { database, fileStore, jobs, logger } = crm.context;
  return sweepFiles({ database, store: fileStore, jobs, logger, overdue: [] });
};

/** Stores an object that no row refers to. */
const orphan = async (tenantId: string): Promise<ObjectId> => {
  const object = { tenantId, id: randomUUID() };
  const content = async function* () {
    yield Buffer.from('orphan');
  };
  await crm.context.fileStore.put(object, content(), { maxBytes: 100 });
  return object;
};

test('Objects that no row refers to are deleted once they are a day old', async () => {
  const id = await create(randomUUID());
  const { object: used } = await contentOf(id);
  const [old, young] = [await orphan(used.tenantId), await orphan(used.tenantId)];
  const interrupted = { tenantId: used.tenantId, id: randomUUID() };
  const incoming = join(folder, '.incoming', `${interrupted.tenantId}.${interrupted.id}`);
  await writeFile(incoming, 'half');
  for (const path of [pathOf(old), pathOf(used), incoming]) await age(path);
  expect(await sweep()).toMatchObject({ orphans: 2, missing: 0 });
  const { fileStore, pool } = crm.context;
  await until(async () => {
    const pending = await pool.query('SELECT FROM tenant_crm.pending_files');
    return pending.rows.length === 0;
  });
  expect(await fileStore.has(old)).toBe(false);
  expect((await fileStore.listUnfinished({ limit: 10 })).objects).toEqual([]);
  expect(await fileStore.has(young)).toBe(true);
  await download(id).expect(200);
});

test('Objects of tenants that the database does not know are left alone: it may be the wrong one', async () => {
  const object = await orphan(randomUUID());
  await age(pathOf(object));
  expect(await sweep()).toMatchObject({ orphans: 0 });
  expect(await crm.context.fileStore.has(object)).toBe(true);
});

test('An old object that is being uploaded is not an orphan', async () => {
  const { object: known } = await contentOf(await create(randomUUID()));
  const object = await orphan(known.tenantId);
  await age(pathOf(object));
  const { pool } = crm.context;
  const { tenantId, id } = object;
  await pool.query(
    "INSERT INTO tenant_crm.pending_files VALUES ($1, $2, false, now() + interval '1 hour')",
    [tenantId, id],
  );
  expect(await sweep()).toMatchObject({ orphans: 0 });
  await pool.query('DELETE FROM tenant_crm.pending_files WHERE id = $1', [id]);
  await crm.context.fileStore.delete(object);
});

test('Files that are missing or damaged are marked and listed, until they are there again', async () => {
  const contents = [randomUUID(), randomUUID(), randomUUID()];
  const [lost = '', damaged = '', intact = ''] = await Promise.all(contents.map(create));
  const { fileStore } = crm.context;
  await fileStore.delete((await contentOf(lost)).object);
  await truncate(pathOf((await contentOf(damaged)).object), 7);
  expect(await sweep()).toMatchObject({ missing: 2 });
  const since = async (id: string) => (await contentOf(id)).content.missing_since;
  expect(await since(intact)).toBeNull();
  const first = await since(lost);
  expect([first, await since(damaged)]).toEqual([expect.any(Date), expect.any(Date)]);
  await download(damaged).expect(503);

  const { keyEncryptionKeys } = crm.context.config;
  const { code, output } = await runAdmin(crm, ['check-files'], {
    FILE_STORE_PATH: folder,
    KEY_ENCRYPTION_KEYS: keyEncryptionKeys
      .map((key) => `${key.id}:${key.secret.toString('base64')}`)
      .join(','),
  });
  expect(code).toBe(0);
  expect(output).toMatchObject({ missing_count: 2, orphan_count: 0 });
  const listed = output.missing.map((file: { content_id: string }) => file.content_id);
  expect(listed.sort()).toEqual(
    [(await contentOf(lost)).content.id, (await contentOf(damaged)).content.id].sort(),
  );

  await create(contents[0] ?? '');
  expect(await since(lost)).toBeNull();
  expect(await sweep()).toMatchObject({ missing: 1 });
  expect((await download(lost).expect(200)).text).toBe(contents[0]);
  await create(contents[1] ?? '');
  expect(await sweep()).toMatchObject({ missing: 0 });
});

test('An object that is restored from a backup is no longer marked as missing', async () => {
  const id = await create(randomUUID());
  const { content } = await contentOf(id);
  const { pool } = crm.context;
  await pool.query('UPDATE tenant_crm.file_contents SET missing_since = now() WHERE id = $1', [
    content.id,
  ]);
  expect(await sweep()).toMatchObject({ missing: 0 });
  expect((await contentOf(id)).content.missing_since).toBeNull();
});

test('An object that is restored during the comparison is no longer marked as missing', async () => {
  const id = await create(randomUUID());
  const { content } = await contentOf(id);
  const { database, fileStore, jobs, logger, pool } = crm.context;
  await pool.query('UPDATE tenant_crm.file_contents SET missing_since = now() WHERE id = $1', [
    content.id,
  ]);
  // As after the list of the store was read.
  const list = async () => ({ objects: [], next: undefined });
  await sweepFiles({ database, store: { ...fileStore, list }, jobs, logger, overdue: [] });
  expect((await contentOf(id)).content.missing_since).toBeNull();
});

test('Every replica reports the files that any sweep has found missing, until they are repaired', async () => {
  const { pool, metrics } = crm.context;
  const missing = async () => {
    const metric = await metrics.registry.getSingleMetric('file_sweep_found')?.get();
    return metric?.values.find(({ labels }) => labels.kind === 'missing')?.value;
  };
  const { content } = await contentOf(await create(randomUUID()));
  const mark = (since: string) =>
    pool.query(`UPDATE tenant_crm.file_contents SET missing_since = ${since} WHERE id = $1`, [
      content.id,
    ]);
  await mark('now()');
  await until(async () => (await missing()) === 1);
  await mark('NULL');
  await until(async () => (await missing()) === 0);
});

test('A file that has not decrypted stays marked until it does', async () => {
  const id = await create(randomUUID());
  const { content, object } = await contentOf(id);
  const stored = await readFile(pathOf(object));
  const changed = Buffer.from(stored);
  changed.writeUInt8(changed.readUInt8(0) ^ 1, 0);
  await writeFile(pathOf(object), changed);
  const { pool } = crm.context;
  await pool.query('UPDATE tenant_crm.file_contents SET missing_since = now() WHERE id = $1', [
    content.id,
  ]);
  expect(await sweep()).toMatchObject({ missing: 1 });
  expect((await contentOf(id)).content.missing_since).not.toBeNull();
  await writeFile(pathOf(object), stored);
  expect(await sweep()).toMatchObject({ missing: 0 });
  expect((await contentOf(id)).content.missing_since).toBeNull();
});

test('A deletion whose job is dead is tried again', async () => {
  const { object: known } = await contentOf(await create(randomUUID()));
  const object = await orphan(known.tenantId);
  const { pool, fileStore } = crm.context;
  await pool.query(
    "INSERT INTO tenant_crm.pending_files VALUES ($1, $2, true, now() - interval '7 hours')",
    [object.tenantId, object.id],
  );
  await sweep();
  await until(async () => !(await fileStore.has(object)));
});

test('Contents are read in the order in which the store lists objects, whatever the size of pages', async () => {
  for (let n = 0; n < 5; n += 1) await create(randomUUID());
  const paths = async (limit: number): Promise<string[]> => {
    const found: string[] = [];
    for await (const { tenant_id: tenantId, object_id: id } of contentsByPath(
      crm.context.pool,
      limit,
    )) {
      found.push(objectPath({ tenantId, id }).join('/'));
    }
    return found;
  };
  const all = await paths(1000);
  expect(all.length).toBeGreaterThanOrEqual(5);
  expect(all).toEqual([...all].sort());
  for (const limit of [1, 2, 5]) expect(await paths(limit)).toEqual(all);
});

test('The sweep knows every table that refers to encrypted objects', async () => {
  const { rows } = await crm.context.pool.query(
    `SELECT DISTINCT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'tenant_crm' AND column_name = 'sealed_key'`,
  );
  const known = objectColumns.map(({ table }) => table);
  expect(known).toEqual(expect.arrayContaining(rows.map(({ name }) => name)));
});
