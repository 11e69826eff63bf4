import { until } from '@tessera/local-stack';
import { sweepFiles } from '../../files/sweep.ts';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { overdueDeletions } from './overdue-deletions.ts';

const tenant = tenantForEachTest();
const { crm, post, remove } = tenant;
const upload = documentUploader(tenant);

const query = async (statement: string, values: unknown[]) =>
  (await crm().context.pool.query(statement, values)).rows;

const sweep = () => {
  const { database, fileStore: store, jobs, logger } = crm().context;
  return sweepFiles({ database, store, jobs, logger, overdue: overdueDeletions });
};

/** As if the job of a row had failed in all its attempts. */
const loseJobs = (id: string) => query("DELETE FROM crm_jobs.job WHERE data ->> 'id' = $1", [id]);

const jobsOf = async (id: string) =>
  (await query("SELECT FROM crm_jobs.job WHERE data ->> 'id' = $1", [id])).length;

test('An upload whose removal has failed is removed hours after it has expired', async () => {
  const headers = { ...tenant.caller(), 'Tus-Resumable': '1.0.0' };
  const created = await post(`${documentsPath}/uploads`, null, headers)
    .set('Upload-Length', '6')
    .expect(201);
  const url: string = created.headers.location ?? '';
  const id = url.split('/').at(-1) ?? '';
  await crm()
    .http.patch(url)
    .set(headers)
    .set({ 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' })
    .send('abc')
    .expect(204);
  const [part] = await query(
    'SELECT tenant_id AS "tenantId", id FROM tenant_crm.upload_parts WHERE upload_id = $1',
    [id],
  );
  await loseJobs(id);
  const expire = (hours: number) =>
    query(
      'UPDATE tenant_crm.uploads SET expires_at = now() - make_interval(hours => $2) WHERE id = $1',
      [id, hours],
    );
  await expire(5);
  await sweep();
  expect(await jobsOf(id)).toBe(0);
  await expire(7);
  await sweep();
  await until(
    async () => (await query('SELECT FROM tenant_crm.uploads WHERE id = $1', [id])).length === 0,
  );
  expect(await crm().context.fileStore.has(part)).toBe(false);
});

test('Documents and folders whose final deletion has failed are deleted hours after it was due', async () => {
  const folder: string = (await post(foldersPath, { name: 'A' }).expect(201)).body.data.id;
  const inside: string = (await upload({ fields: { folder_id: folder } }).expect(201)).body.data.id;
  const single: string = (await upload().expect(201)).body.data.id;
  await remove(`${foldersPath}/${folder}?force=true`).expect(204);
  await remove(`${documentsPath}/${single}`).expect(204);
  for (const id of [folder, single]) await loseJobs(id);
  const age = async (hours: number) => {
    for (const table of ['documents', 'document_folders']) {
      await query(
        `UPDATE tenant_crm.${table} SET deleted_at = now() - make_interval(days => 30, hours => $2)
         WHERE id = ANY ($1)`,
        [[folder, inside, single], hours],
      );
    }
  };
  await age(5);
  await sweep();
  for (const id of [folder, inside, single]) expect(await jobsOf(id)).toBe(0);
  await age(7);
  await sweep();
  const left = () =>
    query(
      `SELECT id FROM tenant_crm.documents WHERE id = ANY ($1)
       UNION ALL SELECT id FROM tenant_crm.document_folders WHERE id = ANY ($1)`,
      [[folder, inside, single]],
    );
  await until(async () => (await left()).length === 0);
});

test('The sweep goes on to other tenants however many deletions of one wait', () => {
  for (const { job } of overdueDeletions) expect(job.options.maxWaiting).toBe(Infinity);
});
