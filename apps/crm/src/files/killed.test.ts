import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import { sweepFiles } from './sweep.ts';

const script = fileURLToPath(new URL('../testing/killed-files.ts', import.meta.url));

let folder: string;
let crm: TestCrm;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crm-killed-'));
  crm = await startCrm({ FILE_STORE_PATH: folder });
});
afterAll(async () => {
  await crm.stop();
  await rm(folder, { recursive: true });
});

const query = async (statement: string, values: unknown[] = []) =>
  (await crm.context.pool.query(statement, values)).rows;

/** Runs the script in a process of its own, which kills itself at the step. */
const killAt = async (work: 'upload' | 'delete', step: string, ...args: string[]) => {
  const { config } = crm.context;
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', script, work, step, ...args],
    {
      env: {
        ...process.env,
        APP_ENV: 'test',
        LOG_LEVEL: 'silent',
        DATABASE_URL: config.database.url,
        DATABASE_ROW_SECURITY: `${config.database.rowSecurity}`,
        IDENTITY_URL: config.identity.url,
        FILE_STORE_PATH: folder,
        KEY_ENCRYPTION_KEYS: config.keyEncryptionKeys
          .map((key) => `${key.id}:${key.secret.toString('base64')}`)
          .join(','),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const [errors, [, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([signal, errors]).toEqual(['SIGKILL', '']);
};

/** A tenant with a document; returns what names it. */
const documentOf = async (
  tenant: ReturnType<typeof newTenant>,
  headers: Record<string, string>,
) => {
  const upload = documentUploader({ post: (path) => crm.http.post(path).set(headers) });
  const { body } = await upload({ content: randomUUID() }).expect(201);
  const [content] = await query(
    'SELECT object_id FROM tenant_crm.file_contents WHERE tenant_id = $1',
    [tenant.id],
  );
  return { id: body.data.id as string, objectId: content.object_id as string };
};

const jobsOf = (tenantId: string) =>
  query(
    `SELECT id FROM crm_jobs.job WHERE name = 'file_removal' AND data->>'tenant_id' = $1
       AND state IN ('created', 'retry', 'active')`,
    [tenantId],
  );

/** Lets the time pass until what was begun has expired; without jobs, the sweep alone has to find it. */
const timePasses = async (tenantId: string, withJobs: boolean) => {
  await query(
    "UPDATE tenant_crm.pending_files SET expires_at = now() - interval '7 hours' WHERE tenant_id = $1",
    [tenantId],
  );
  const about = "name IN ('file_removal', 'document_purge') AND data->>'tenant_id' = $1";
  await query(
    withJobs
      ? `UPDATE crm_jobs.job SET start_after = now() WHERE ${about}`
      : `DELETE FROM crm_jobs.job WHERE name = 'file_removal' AND data->>'tenant_id' = $1`,
    [tenantId],
  );
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), yesterday, yesterday);
  }
};

/** Waits for the jobs, sweeps, and checks that the store and the tables agree; returns how many files there are. */
const settled = async (tenantId: string): Promise<number> => {
  const { database, fileStore, jobs, logger } = crm.context;
  const sweep = () => sweepFiles({ database, store: fileStore, jobs, logger });
  await until(async () => (await jobsOf(tenantId)).length === 0);
  await sweep();
  await until(async () => (await jobsOf(tenantId)).length === 0);
  expect(await sweep()).toMatchObject({ orphans: 0, missing: 0 });
  const ofTenant = async (table: string) =>
    query(`SELECT * FROM tenant_crm.${table} WHERE tenant_id = $1`, [tenantId]);
  expect(await ofTenant('pending_files')).toEqual([]);
  const contents = await ofTenant('file_contents');
  const stored = (await fileStore.list({ limit: 1000 })).objects;
  expect(stored.filter((object) => object.tenantId === tenantId).map(({ id }) => id)).toEqual(
    contents.map(({ object_id }) => object_id),
  );
  expect((await fileStore.listUnfinished({ limit: 10 })).objects).toEqual([]);
  const [usage] = await ofTenant('file_usage');
  const bytes = contents.reduce((sum, { size }) => sum + Number(size), 0);
  expect(Number(usage?.bytes ?? 0)).toBe(bytes);
  return contents.length;
};

test.each([
  ['announced', 0, true],
  ['half written', 0, false],
  ['written', 0, true],
  ['written', 0, false],
  ['referred', 0, true],
  ['saved', 1, true],
] as const)(
  'A process that is killed when an upload is %s leaves %i files (with enqueued jobs: %s)',
  async (step, files, withJobs) => {
    const tenant = newTenant('acme');
    const headers = crm.caller({ tenants: [tenant] });
    await killAt('upload', step, tenant.id, randomUUID());
    await timePasses(tenant.id, withJobs);
    expect(await settled(tenant.id)).toBe(files);
    const { body } = await crm.http.get(documentsPath).set(headers).expect(200);
    expect(body.data).toHaveLength(files);
    for (const { id } of body.data) {
      await crm.http.get(`${documentsPath}/${id}/download`).set(headers).expect(200);
    }
  },
);

test.each([
  ['released', true],
  ['purged', true],
  ['purged', false],
  ['to be deleted', true],
  ['object deleted', true],
  ['forgotten', true],
] as const)(
  'A process that is killed when a deletion is at "%s" leaves no file in the end (with enqueued jobs: %s)',
  async (step, withJobs) => {
    const tenant = newTenant('acme');
    const headers = crm.caller({ tenants: [tenant] });
    const { id, objectId } = await documentOf(tenant, headers);
    await crm.http.delete(`${documentsPath}/${id}`).set(headers).expect(204);
    await query(
      "UPDATE tenant_crm.documents SET deleted_at = deleted_at - interval '30 days' WHERE id = $1",
      [id],
    );
    await killAt('delete', step, tenant.id, id, objectId);
    await timePasses(tenant.id, withJobs);
    await until(async () => {
      const documents = await query('SELECT FROM tenant_crm.documents WHERE id = $1', [id]);
      return documents.length === 0;
    });
    expect(await settled(tenant.id)).toBe(0);
  },
);
