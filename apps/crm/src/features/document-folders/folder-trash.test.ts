import { until } from '@tessera/local-stack';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, caller, get, post, remove } = tenant;
const upload = documentUploader(tenant);
const trash = `${foldersPath}/trash`;

const query = async (statement: string, values: unknown[]) =>
  (await crm().context.pool.query(statement, values)).rows;

const folder = async (name: string, parent_id: string | null = null): Promise<string> =>
  (await post(foldersPath, { name, parent_id }).expect(201)).body.data.id;

const documentIn = async (folder_id: string): Promise<string> =>
  (await upload({ content: crypto.randomUUID(), fields: { folder_id } }).expect(201)).body.data.id;

const share = (id: string, user_id: string, access: 'read' | 'write' = 'read') =>
  post(`${foldersPath}/${id}/members`, { user_id, access }).expect(201);

const deleteFolder = (id: string) => remove(`${foldersPath}/${id}?force=true`).expect(204);

test('A folder in the trash is deleted for good at once, with everything that was in it', async () => {
  const top = await folder('Top');
  const [below, before] = [await folder('Below', top), await folder('Before', top)];
  const documents = [await documentIn(top), await documentIn(below), await documentIn(before)];
  await post(`${documentsPath}/${documents[0]}/links`, {}).expect(201);
  await share(below, crypto.randomUUID());
  // Deleted by themselves before the folder.
  const single = await documentIn(top);
  await remove(`${documentsPath}/${single}`).expect(204);
  await deleteFolder(before);
  await remove(`${trash}/${top}`).expect(404);
  await deleteFolder(top);
  const [{ tenant_id: tenantId }] = await query(
    'SELECT tenant_id FROM tenant_crm.document_folders WHERE id = $1',
    [top],
  );

  await remove(`${trash}/${top}`).expect(204);
  await remove(`${trash}/${top}`).expect(404);
  await post(`${foldersPath}/${top}/restore`).expect(404);
  await post(`${documentsPath}/${single}/restore`).expect(404);
  for (const list of [trash, `${documentsPath}/trash`]) {
    expect((await get(list)).body.meta.total).toBe(0);
  }
  const tables = ['documents', 'document_versions', 'document_links', 'document_folders'];
  for (const table of [...tables, 'document_folder_members']) {
    const left = await query(`SELECT FROM tenant_crm.${table} WHERE tenant_id = $1`, [tenantId]);
    expect([table, left]).toEqual([table, []]);
  }
  expect(
    await query('SELECT bytes::int FROM tenant_crm.file_usage WHERE tenant_id = $1', [tenantId]),
  ).toEqual([{ bytes: 0 }]);
  for (const id of [...documents, single, top, below, before]) {
    const history = await query(
      'SELECT action FROM tenant_crm.record_changes WHERE record_id = $1 ORDER BY version',
      [id],
    );
    expect(history.slice(-2)).toEqual([{ action: 'delete' }, { action: 'delete' }]);
  }
});

test('What was not in the folder stays in the trash', async () => {
  const [top, other] = [await folder('Top'), await folder('Other')];
  const id = await documentIn(other);
  await deleteFolder(other);
  await deleteFolder(top);
  await remove(`${trash}/${top}`).expect(204);
  await post(`${foldersPath}/${other}/restore`).expect(200);
  await get(`${documentsPath}/${id}`).expect(200);
});

test('A folder with very many documents is no longer restored, and the rest is deleted by a job', async () => {
  const top = await folder('Large');
  const id = await documentIn(await folder('Below', top));
  await query(
    `INSERT INTO tenant_crm.documents
       (tenant_id, id, folder_id, name, current_version, size, type, sha256, content_id)
     SELECT tenant_id, gen_random_uuid(), folder_id, name || n, 1, size, type, sha256, content_id
     FROM tenant_crm.documents, generate_series(1, 150) AS n WHERE id = $1`,
    [id],
  );
  await deleteFolder(top);
  await remove(`${trash}/${top}`).expect(204);
  await post(`${foldersPath}/${top}/restore`).expect(404);
  await until(
    async () =>
      (await query('SELECT FROM tenant_crm.document_folders WHERE id = $1', [top])).length === 0,
  );
});

test('Deleting for good needs both permissions, a folder that the caller sees, and write access to it', async () => {
  const reader = crypto.randomUUID();
  const top = await folder('Top');
  await share(top, reader);
  await deleteFolder(top);
  for (const lacking of ['document_folders.delete', 'documents.delete']) {
    const { body } = await remove(`${trash}/${top}`, caller({ lacking: [lacking] })).expect(403);
    expect(body.required_permission).toBe(`tenant.acme.crm.${lacking}`);
  }
  await remove(`${trash}/${top}`, caller({ id: crypto.randomUUID() })).expect(404);
  const { body } = await remove(`${trash}/${top}`, caller({ id: reader })).expect(403);
  expect(body.error).toBe('folder_access_denied');
  await remove(`${trash}/${top}`).expect(204);
});

test('Deleting for good needs write access to private folders in the folder, also deleted ones', async () => {
  const top = await folder('Top');
  const below = await folder('Private', top);
  await share(below, crypto.randomUUID());
  await deleteFolder(below);
  await deleteFolder(top);
  await remove(`${trash}/${top}`, caller({ id: crypto.randomUUID() })).expect(403);
  await remove(`${trash}/${top}`).expect(204);
});
