import { until } from '@tessera/local-stack';
import { createFiles } from '../../files/files.ts';
import { documentUploader, foldersPath } from '../../testing/documents.ts';
import { withMethods } from '../../testing/records.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';
import { purgeHandler } from './purge.ts';

const tenant = tenantForEachTest();
const { crm, post, remove } = tenant;
const upload = documentUploader(tenant);

const COPIES = 250;
const VERSIONS = 1200;

test('A large folder is deleted for good in several transactions, also after an interruption', async () => {
  const { pool, database } = crm().context;
  const query = async (statement: string, values: unknown[]) =>
    (await pool.query(statement, values)).rows;
  const folder = (await post(foldersPath, { name: 'Large' }).expect(201)).body.data.id;
  const { body } = await upload({ fields: { folder_id: folder } }).expect(201);
  const { id } = body.data;
  const [{ tenant_id: tenantId }] = await query(
    'SELECT tenant_id FROM tenant_crm.documents WHERE id = $1',
    [id],
  );
  await query(
    `INSERT INTO tenant_crm.documents
       (tenant_id, id, folder_id, name, current_version, size, type, sha256, content_id)
     SELECT tenant_id, gen_random_uuid(), folder_id, name || n, 1, size, type, sha256, content_id
     FROM tenant_crm.documents, generate_series(1, ${COPIES}) AS n WHERE id = $1`,
    [id],
  );
  await query(
    `INSERT INTO tenant_crm.document_versions
       (tenant_id, id, document_id, number, content_id, size, type, sha256)
     SELECT tenant_id, gen_random_uuid(), id, n, content_id, size, type, sha256
     FROM tenant_crm.documents, generate_series(1, ${VERSIONS}) AS n
     WHERE tenant_id = $1 AND (id = $2 AND n > 1 OR id <> $2 AND n = 1)`,
    [tenantId, id],
  );
  await query('UPDATE tenant_crm.documents SET current_version = $2 WHERE id = $1', [id, VERSIONS]);
  const references = COPIES + VERSIONS;
  await query('UPDATE tenant_crm.file_contents SET reference_count = $2 WHERE tenant_id = $1', [
    tenantId,
    references,
  ]);
  await query('UPDATE tenant_crm.file_usage SET bytes = 5 * $2 WHERE tenant_id = $1', [
    tenantId,
    references,
  ]);
  await remove(`${foldersPath}/${folder}?force=true`).expect(204);
  for (const table of ['documents', 'document_folders']) {
    await query(
      `UPDATE tenant_crm.${table} SET deleted_at = now() - interval '31 days' WHERE tenant_id = $1`,
      [tenantId],
    );
  }

  const state = async () => {
    const [found] = await query(
      `SELECT (SELECT count(*)::int FROM tenant_crm.document_versions WHERE tenant_id = $1) AS versions,
         (SELECT count(*)::int FROM tenant_crm.documents WHERE tenant_id = $1) AS documents,
         (SELECT count(*)::int FROM tenant_crm.documents AS document
          JOIN tenant_crm.document_versions AS version USING (tenant_id)
          WHERE tenant_id = $1 AND version.document_id = document.id
            AND version.number = document.current_version) AS restorable,
         (SELECT count(*)::int FROM tenant_crm.document_folders WHERE tenant_id = $1) AS folders,
         (SELECT count(*)::int FROM tenant_crm.file_contents WHERE tenant_id = $1) AS contents,
         (SELECT bytes::int FROM tenant_crm.file_usage WHERE tenant_id = $1) AS bytes`,
      [tenantId],
    );
    return found;
  };
  let slices = 0;
  const interrupted = {
    transaction: database.transaction,
    forTenant: (of: string) => {
      const db = database.forTenant(of);
      return withMethods(db, {
        transaction: (work) => {
          slices += 1;
          if (slices > 3) throw new Error('The process stops.');
          return db.transaction(work);
        },
      });
    },
  };
  const { fileStore: store, jobs } = crm().context;
  const files = createFiles({
    database,
    store,
    jobs,
    maxBytes: 1,
    defaultQuota: undefined,
    onNewContent: [],
  });
  const { handle } = purgeHandler({ database: interrupted, files });
  const { signal } = new AbortController();
  const run = { id: '', attempt: 1, signal, stopping: signal };
  const purge = handle as (payload: object, of: typeof run) => Promise<void>;
  await expect(purge({ tenant_id: tenantId, id: folder }, run)).rejects.toThrow('stops');
  // Whoever restored the folder now would get a part of it.
  await post(`${foldersPath}/${folder}/restore`).expect(404);
  // The first slice found no document that has the id of the folder.
  const versions = references - 1000;
  expect(await state()).toEqual({
    versions,
    documents: COPIES + 1,
    restorable: COPIES + 1,
    folders: 1,
    contents: 1,
    bytes: 5 * versions,
  });

  await query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'document_purge' AND data->>'id' = $1",
    [folder],
  );
  await until(async () => (await state()).folders === 0);
  expect(await state()).toEqual({
    versions: 0,
    documents: 0,
    restorable: 0,
    folders: 0,
    contents: 0,
    bytes: 0,
  });
});
