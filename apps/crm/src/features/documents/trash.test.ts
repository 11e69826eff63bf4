import { until } from '@tessera/local-stack';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, caller, get, post, put, remove } = tenant;
const upload = documentUploader(tenant);
const trash = `${documentsPath}/trash`;

const query = async (statement: string, values: unknown[]) =>
  (await crm().context.pool.query(statement, values)).rows;

const create = async (content: string, fields = {}) =>
  (await upload({ content, fields }).expect(201)).body.data.id as string;

test('A document in the trash is deleted for good at once, with its versions, links and files', async () => {
  const content = crypto.randomUUID();
  const id = await create(content);
  await put(`${documentsPath}/${id}/content`, null)
    .set('content-type', 'text/plain')
    .send('two')
    .expect(200);
  const objects = await query(
    `SELECT tenant_id AS "tenantId", object_id AS id FROM tenant_crm.file_contents
     WHERE tenant_id = (SELECT tenant_id FROM tenant_crm.documents WHERE id = $1)`,
    [id],
  );
  await post(`${documentsPath}/${id}/links`, {}).expect(201);
  await remove(`${trash}/${id}`).expect(404);
  await remove(`${documentsPath}/${id}`).expect(204);
  await remove(`${trash}/${id}`).expect(204);
  await remove(`${trash}/${id}`).expect(404);
  await post(`${documentsPath}/${id}/restore`).expect(404);
  expect((await get(trash)).body.meta.total).toBe(0);
  for (const table of ['document_versions', 'document_links']) {
    expect(await query(`SELECT FROM tenant_crm.${table} WHERE document_id = $1`, [id])).toEqual([]);
  }
  const [{ tenantId }] = objects;
  expect(
    await query('SELECT bytes::int FROM tenant_crm.file_usage WHERE tenant_id = $1', [tenantId]),
  ).toEqual([{ bytes: 0 }]);
  const { fileStore } = crm().context;
  await until(async () => {
    const left = await Promise.all(objects.map((object) => fileStore.has(object)));
    return !left.includes(true);
  });
  const history = await query(
    'SELECT action FROM tenant_crm.record_changes WHERE record_id = $1 ORDER BY version',
    [id],
  );
  expect(history.slice(-2)).toEqual([{ action: 'delete' }, { action: 'delete' }]);
});

test('A document with very many versions is no longer restored, and the rest is deleted by a job', async () => {
  const id = await create('one');
  await query(
    `INSERT INTO tenant_crm.document_versions
       (tenant_id, id, document_id, number, content_id, size, type, sha256)
     SELECT tenant_id, gen_random_uuid(), id, n, content_id, size, type, sha256
     FROM tenant_crm.documents, generate_series(2, 600) AS n WHERE id = $1`,
    [id],
  );
  await query('UPDATE tenant_crm.documents SET current_version = 600 WHERE id = $1', [id]);
  await query(
    `UPDATE tenant_crm.file_contents SET reference_count = 600
     WHERE id = (SELECT content_id FROM tenant_crm.documents WHERE id = $1)`,
    [id],
  );
  await remove(`${documentsPath}/${id}`).expect(204);
  await remove(`${trash}/${id}`).expect(204);
  await post(`${documentsPath}/${id}/restore`).expect(404);
  await until(
    async () => (await query('SELECT FROM tenant_crm.documents WHERE id = $1', [id])).length === 0,
  );
});

test('Deleting for good needs the permission, a folder that the caller sees, and write access to it', async () => {
  const reader = crypto.randomUUID();
  const folder: string = (await post(foldersPath, { name: 'Top' }).expect(201)).body.data.id;
  const id = await create('one', { folder_id: folder });
  await post(`${foldersPath}/${folder}/members`, { user_id: reader }).expect(201);
  await remove(`${documentsPath}/${id}`).expect(204);
  const { body } = await remove(`${trash}/${id}`, caller({ lacking: ['documents.delete'] }));
  expect(body.required_permission).toBe('tenant.acme.crm.documents.delete');
  await remove(`${trash}/${id}`, caller({ id: crypto.randomUUID() })).expect(404);
  const denied = await remove(`${trash}/${id}`, caller({ id: reader })).expect(403);
  expect(denied.body.error).toBe('folder_access_denied');
  // Also after its folder has been deleted.
  await remove(`${foldersPath}/${folder}`).expect(204);
  await remove(`${trash}/${id}`, caller({ id: reader })).expect(403);
  await remove(`${trash}/${id}`).expect(204);
});
