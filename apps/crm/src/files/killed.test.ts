import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testedProgram, until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import type { KilledWork } from '../testing/killed-files.ts';
import { sweepFiles } from './sweep.ts';

const program = testedProgram('apps/crm/src/testing/killed-files');

const uploads = [
  ['announced', 0, true],
  ['half written', 0, false],
  ['written', 0, true],
  ['written', 0, false],
  ['referred', 0, true],
  ['saved', 1, true],
] as const;

const deletions = [
  ['released', true],
  ['purged', true],
  ['purged', false],
  ['to be deleted', true],
  ['object deleted', true],
  ['forgotten', true],
] as const;

/** A tenant whose upload or deletion one process was killed at. */
interface Killed {
  readonly tenantId: string;
  readonly headers: Record<string, string>;
  readonly work: KilledWork;
  readonly withJobs: boolean;
}

let folder: string;
let crm: TestCrm;
let killedUploads: readonly Killed[];
let killedDeletions: readonly Killed[];

const query = async (statement: string, values: unknown[] = []) =>
  (await crm.context.pool.query(statement, values)).rows;

const killedUpload = (step: string, withJobs: boolean): Killed => {
  const tenant = newTenant('acme');
  return {
    tenantId: tenant.id,
    headers: crm.caller({ tenants: [tenant] }),
    work: { work: 'upload', step, tenantId: tenant.id },
    withJobs,
  };
};

/** A tenant with a document whose time in the trash is over. */
const killedDeletion = async (step: string, withJobs: boolean): Promise<Killed> => {
  const tenant = newTenant('acme');
  const headers = crm.caller({ tenants: [tenant] });
  const upload = documentUploader({ post: (path) => crm.http.post(path).set(headers) });
  const { body } = await upload({ content: randomUUID() }).expect(201);
  const id: string = body.data.id;
  const [content] = await query(
    'SELECT object_id FROM tenant_crm.file_contents WHERE tenant_id = $1',
    [tenant.id],
  );
  await crm.http.delete(`${documentsPath}/${id}`).set(headers).expect(204);
  await query(
    `UPDATE tenant_crm.documents SET deleted_at = deleted_at - interval '30 days'
     WHERE tenant_id = $1 AND id = $2`,
    [tenant.id, id],
  );
  return {
    tenantId: tenant.id,
    headers,
    work: { work: 'delete', step, tenantId: tenant.id, id, objectId: content.object_id },
    withJobs,
  };
};

/** Runs the script in a process of its own, which kills itself when each work is at its step. */
const kill = async (works: readonly KilledWork[]) => {
  const { config } = crm.context;
  const child = spawn(process.execPath, [...program, JSON.stringify(works)], {
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
  });
  const [errors, [, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([signal, errors]).toEqual(['SIGKILL', '']);
};

/** Lets the time pass until what was begun has expired; without jobs, the sweep alone has to find it. */
const timePasses = async (killed: readonly Killed[]) => {
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), yesterday, yesterday);
  }
  await query("UPDATE tenant_crm.pending_files SET expires_at = now() - interval '7 hours'");
  const tenants = (withJobs: boolean) =>
    killed.filter((one) => one.withJobs === withJobs).map(({ tenantId }) => tenantId);
  await query(
    `DELETE FROM crm_jobs.job WHERE name = 'file_removal' AND data->>'tenant_id' = ANY($1)`,
    [tenants(false)],
  );
  await query(
    `UPDATE crm_jobs.job SET start_after = now()
     WHERE name IN ('file_removal', 'document_purge') AND data->>'tenant_id' = ANY($1)`,
    [tenants(true)],
  );
};

/** Sweeps, and waits for what the jobs delete. */
const settle = async () => {
  const { database, fileStore, jobs, logger } = crm.context;
  const sweep = () => sweepFiles({ database, store: fileStore, jobs, logger, overdue: [] });
  const removed = () =>
    until(async () => {
      const waiting = await query(
        `SELECT FROM crm_jobs.job WHERE name = 'file_removal'
           AND state IN ('created', 'retry', 'active')`,
      );
      return waiting.length === 0;
    });
  const ids = killedDeletions.map(({ work }) => (work.work === 'delete' ? work.id : null));
  await until(async () => {
    const documents = await query('SELECT FROM tenant_crm.documents WHERE id = ANY($1)', [ids]);
    return documents.length === 0;
  });
  await removed();
  await sweep();
  await removed();
  expect(await sweep()).toMatchObject({ orphans: 0, missing: 0 });
  expect((await fileStore.listUnfinished({ limit: 10 })).objects).toEqual([]);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crm-killed-'));
  crm = await startCrm({ FILE_STORE_PATH: folder });
  killedUploads = uploads.map(([step, , withJobs]) => killedUpload(step, withJobs));
  killedDeletions = await Promise.all(
    deletions.map(([step, withJobs]) => killedDeletion(step, withJobs)),
  );
  const killed = [...killedUploads, ...killedDeletions];
  await kill(killed.map(({ work }) => work));
  await timePasses(killed);
  await settle();
});
afterAll(async () => {
  await crm.stop();
  await rm(folder, { recursive: true });
});

/** Checks that the store and the tables agree about a tenant; returns how many files there are. */
const filesOf = async ({ tenantId }: Killed): Promise<number> => {
  const ofTenant = async (table: string) =>
    query(`SELECT * FROM tenant_crm.${table} WHERE tenant_id = $1`, [tenantId]);
  expect(await ofTenant('pending_files')).toEqual([]);
  const contents = await ofTenant('file_contents');
  const stored = (await crm.context.fileStore.list({ limit: 1000 })).objects;
  expect(stored.filter((object) => object.tenantId === tenantId).map(({ id }) => id)).toEqual(
    contents.map(({ object_id }) => object_id),
  );
  const [usage] = await ofTenant('file_usage');
  const bytes = contents.reduce((sum, { size }) => sum + Number(size), 0);
  expect(Number(usage?.bytes ?? 0)).toBe(bytes);
  return contents.length;
};

test.each(uploads.map((upload, index) => [...upload, index] as const))(
  'A process that is killed when an upload is %s leaves %i files (with enqueued jobs: %s)',
  async (_step, files, _withJobs, index) => {
    const killed = killedUploads[index] as Killed;
    expect(await filesOf(killed)).toBe(files);
    const { body } = await crm.http.get(documentsPath).set(killed.headers).expect(200);
    expect(body.data).toHaveLength(files);
    for (const { id } of body.data) {
      await crm.http.get(`${documentsPath}/${id}/download`).set(killed.headers).expect(200);
    }
  },
);

test.each(deletions.map((deletion, index) => [...deletion, index] as const))(
  'A process that is killed when a deletion is at "%s" leaves no file in the end (with enqueued jobs: %s)',
  async (_step, _withJobs, index) => {
    expect(await filesOf(killedDeletions[index] as Killed)).toBe(0);
  },
);
