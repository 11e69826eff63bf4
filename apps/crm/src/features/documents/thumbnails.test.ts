import { until } from '@tessera/local-stack';
import sharp from 'sharp';
import { sweepFiles } from '../../files/sweep.ts';
import { documentsPath, documentUploader } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, caller, get, remove } = tenant;
const upload = documentUploader(tenant);

let colour = 0;
/** A PNG that no other test has. */
const picture = (): Promise<Buffer> => {
  colour += 1;
  const background = { r: colour, g: 0, b: 0 };
  return sharp({ create: { width: 900, height: 600, channels: 3, background } })
    .png()
    .toBuffer();
};

const create = async (content: string | Buffer, type: string, name: string) =>
  (await upload({ content, type, name }).expect(201)).body.data.id as string;

const thumbnailPath = (id: string): string => `${documentsPath}/${id}/thumbnail`;

const thumbnailOf = async (id: string) => {
  await until(async () => (await get(thumbnailPath(id))).status === 200);
  return get(thumbnailPath(id)).expect(200);
};

const files = async (document: string) => {
  const { rows } = await crm().context.pool.query(
    `SELECT content.tenant_id, content.object_id AS id, usage.bytes::int,
       content.id <> own.id AS is_thumbnail
     FROM tenant_crm.documents AS document
     JOIN tenant_crm.file_contents AS own ON own.tenant_id = document.tenant_id AND own.id = document.content_id
     JOIN tenant_crm.file_contents AS content ON content.tenant_id = own.tenant_id
       AND content.id IN (own.id, own.thumbnail_id)
     JOIN tenant_crm.file_usage AS usage ON usage.tenant_id = own.tenant_id
     WHERE document.id = $1`,
    [document],
  );
  return rows as { tenant_id: string; id: string; bytes: number; is_thumbnail: boolean }[];
};

test('An image has a small thumbnail, with the headers of a download', async () => {
  const id = await create(await picture(), 'image/png', 'photo.png');
  const { body, headers } = await thumbnailOf(id);
  expect(await sharp(body).metadata()).toMatchObject({ format: 'webp', width: 512, height: 341 });
  expect(headers).toMatchObject({
    'content-type': 'image/webp',
    'content-disposition': 'inline; filename=photo.png.webp',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  });
  await get(thumbnailPath(id), { 'if-none-match': headers.etag as string }).expect(304);
});

test('A thumbnail whose file is lost is made again, and counted once', async () => {
  const { database, fileStore, jobs, logger } = crm().context;
  const id = await create(await picture(), 'image/png', 'a.png');
  const { headers } = await thumbnailOf(id);
  const stored = await files(id);
  const [lost] = stored.filter(({ is_thumbnail }) => is_thumbnail);
  await fileStore.delete({ tenantId: lost?.tenant_id ?? '', id: lost?.id ?? '' });
  await get(thumbnailPath(id)).expect(503);
  const sweeping = sweepFiles({ database, store: fileStore, jobs, logger, overdue: [] });
  expect(await sweeping).toMatchObject({ missing: 1 });
  expect((await thumbnailOf(id)).headers.etag).toBe(headers.etag);
  expect((await files(id)).map(({ bytes }) => bytes)).toEqual(stored.map(({ bytes }) => bytes));
});

test('Two documents with the same image share its thumbnail', async () => {
  const image = await picture();
  const first = await create(image, 'image/png', 'a.png');
  const { headers } = await thumbnailOf(first);
  const second = await create(image, 'image/png', 'b.png');
  expect((await get(thumbnailPath(second)).expect(200)).headers.etag).toBe(headers.etag);
});

test('Text, SVG and broken images have no thumbnail', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  const broken = (await picture()).subarray(0, 60);
  const ids = [
    await create('hello', 'text/plain', 'a.txt'),
    await create(svg, 'image/svg+xml', 'a.svg'),
    await create(broken, 'image/png', 'a.png'),
  ];
  // Images are read in the order of their uploads.
  await thumbnailOf(await create(await picture(), 'image/png', 'b.png'));
  for (const id of ids) await get(thumbnailPath(id)).expect(404);
});

test('A thumbnail needs the permission to view documents, and a file that may be served', async () => {
  const id = await create(await picture(), 'image/png', 'a.png');
  await thumbnailOf(id);
  await get(thumbnailPath(id), caller({ lacking: ['documents.view'] })).expect(403);
  for (const [status, error] of [
    ['pending', 'scan_pending'],
    ['infected', 'file_quarantined'],
  ]) {
    await crm().context.pool.query(
      'UPDATE tenant_crm.documents SET scan_status = $2 WHERE id = $1',
      [id, status],
    );
    expect((await get(thumbnailPath(id)).expect(409)).body.error).toBe(error);
  }
});

test('A thumbnail is deleted with the last document that has the image', async () => {
  const { pool, fileStore } = crm().context;
  const id = await create(await picture(), 'image/png', 'a.png');
  await thumbnailOf(id);
  const stored = await files(id);
  expect(stored).toHaveLength(2);
  await remove(`${documentsPath}/${id}`).expect(204);
  await pool.query(
    "UPDATE tenant_crm.documents SET deleted_at = now() - interval '31 days' WHERE id = $1",
    [id],
  );
  await pool.query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'document_purge' AND data->>'id' = $1",
    [id],
  );
  const remaining = async () => {
    const all = stored.map(({ tenant_id: tenantId, id: object }) =>
      fileStore.has({ tenantId, id: object }),
    );
    return (await Promise.all(all)).filter(Boolean).length;
  };
  await until(async () => (await remaining()) === 0);
  const { rows } = await pool.query(
    'SELECT bytes::int FROM tenant_crm.file_usage WHERE tenant_id = $1',
    [stored[0]?.tenant_id],
  );
  expect(rows).toEqual([{ bytes: 0 }]);
});
