import type { TestCrm } from './crm.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Creates a record of a kind of content (`kb-articles`) that has a cover, and switches public reading on. */
const withCover = async (crm: TestCrm, tenant: 'acme' | 'globex', path: string) => {
  const caller = crm.caller({ tenant });
  const send = (method: 'post' | 'put', to: string, body: object) =>
    crm.http[method](`/api/crm/${to}`).set(caller).send(body);
  await send('put', 'settings', { public_reading: true });
  const { body: cover } = await crm.http
    .post('/api/crm/documents')
    .set(caller)
    .attach('file', PNG, { filename: 'cover.png' });
  const title = `Sample ${crypto.randomUUID()}`;
  const { body } = await send('post', path, { title, cover_document_id: cover.data.id });
  return { send, record: body.data as { readonly id: string; readonly slug: string } };
};

/** The parameters of the path of a published record with a cover. */
export const publishedContent = async (
  crm: TestCrm,
  tenant: 'acme' | 'globex',
  path: string,
): Promise<{ readonly tenant: string; readonly slug: string }> => {
  const { record } = await withCover(crm, tenant, path);
  await crm.context.pool.query(
    `UPDATE tenant_crm.${path.replace('-', '_')} SET status = 'published', published_at = now()
     WHERE tenant_id = $1 AND id = $2`,
    [crm.identity[tenant].id, record.id],
  );
  return { tenant, slug: record.slug };
};

/** The token of a preview of a draft with a cover. */
export const previewToken = async (crm: TestCrm, tenant: 'acme' | 'globex'): Promise<string> => {
  const { send, record } = await withCover(crm, tenant, 'pages');
  return (await send('post', `pages/${record.id}/previews`, {})).body.data.token;
};
