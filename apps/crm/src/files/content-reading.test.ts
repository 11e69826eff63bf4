import { createContentWorker } from '@tessera/content-worker';
import { inflatingTo, pdfPage, pdfWithEmptyPages } from '@tessera/content-worker/testing';
import { until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import sharp from 'sharp';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import { tenantForEachTest } from '../testing/tenant.ts';
import { contentReadingHandler } from './content-reading.ts';
import { createFiles } from './files.ts';

const tenant = tenantForEachTest();
const { crm, get } = tenant;
const upload = documentUploader(tenant);

/** The jobs of a content, with their state. */
const jobsOf = async (contentId: string) =>
  (
    await crm().context.pool.query(
      "SELECT state FROM crm_jobs.job WHERE name LIKE 'content_reading%' AND data->>'content_id' = $1",
      [contentId],
    )
  ).rows;

/** The content of a document. */
const contentOf = async (documentId: string) =>
  (
    await crm().context.pool.query(
      'SELECT tenant_id, content_id FROM tenant_crm.documents WHERE id = $1',
      [documentId],
    )
  ).rows[0] as { tenant_id: string; content_id: string };

/** Runs the job of a content, in a process with this time limit. */
const read = (
  payload: object,
  seconds: number,
  enqueue: (...given: never) => Promise<string> = () => Promise.reject(new Error('not enqueued')),
): Promise<void> => {
  const { database, fileStore: store, jobs, logger } = crm().context;
  const files = createFiles({
    database,
    store,
    jobs,
    maxBytes: 1000,
    defaultQuota: undefined,
    onNewContent: [],
  });
  const worker = createContentWorker({ seconds });
  const { signal } = new AbortController();
  const run = {
    id: crypto.randomUUID(),
    attempt: 1,
    signal,
    stopping: signal,
    othersWait: async () => false,
  };
  const handler = contentReadingHandler({ database, files, worker, jobs: { enqueue }, logger });
  return handler.handle(payload as never, run);
};

test('A file that makes its process reach a limit is read once more, later, and then given up', async () => {
  const { body } = await upload({ content: 'bold heron', name: 'a.txt' }).expect(201);
  const payload = await contentOf(body.data.id);
  const enqueued: unknown[] = [];
  const startedAt = Date.now();
  await read({ ...payload, is_last: false }, 0.001, async (...[, , again, options]: unknown[]) => {
    enqueued.push(again, options);
    return '';
  });
  expect(enqueued).toEqual([{ ...payload, is_last: true }, { runAt: expect.any(Date) }]);
  expect(+(enqueued[1] as { runAt: Date }).runAt).toBeGreaterThanOrEqual(startedAt + 10 * 60_000);
  // Neither enqueued again nor failed.
  await read({ ...payload, is_last: true }, 0.001);
  await read({ ...payload, is_last: false }, 60);
  expect((await get(`${documentsPath}?search=heron`)).body.data).toMatchObject([
    { id: body.data.id },
  ]);
});

test('PDFs with very many pages of one tenant keep neither the words nor the thumbnails of another one waiting', async () => {
  for (const word of ['first', 'second']) {
    const content = pdfWithEmptyPages(`heron ${word}`, 60_000);
    await upload({ content, name: 'noise.pdf' }).expect(201);
  }
  const quiet = crm().caller({ tenants: [newTenant('globex')] });
  const image = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
  const sent = await upload({ content: image, name: 'a.png', headers: quiet }).expect(201);
  await upload({ content: 'quiet egret', name: 'b.txt', headers: quiet }).expect(201);
  const thumbnail = `${documentsPath}/${sent.body.data.id}/thumbnail`;
  await until(async () => (await get(thumbnail, quiet)).status === 200);
  await until(
    async () => (await get(`${documentsPath}?search=egret`, quiet)).body.meta.total === 1,
  );
  // The words of the first pages are found, after one attempt for each file.
  for (const word of ['first', 'second']) {
    await until(
      async () => (await get(`${documentsPath}?search=heron+${word}`)).body.meta.total > 0,
    );
  }
  const { rows } = await crm().context.pool.query(
    "SELECT state FROM crm_jobs.job WHERE name = 'content_reading' AND (retry_count > 0 OR data->>'is_last' = 'true')",
  );
  expect(rows).toEqual([]);
});

test('No thumbnail is made of a thumbnail, also if it is scanned later', async () => {
  const image = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'navy' } })
    .png()
    .toBuffer();
  const { body } = await upload({ content: image, name: 'a.png' }).expect(201);
  const { tenant_id, content_id } = await contentOf(body.data.id);
  const thumbnailOf = async (id: string) => {
    const { rows } = await crm().context.pool.query(
      'SELECT thumbnail_id FROM tenant_crm.file_contents WHERE id = $1',
      [id],
    );
    return rows[0].thumbnail_id as string | null;
  };
  await until(async () => (await thumbnailOf(content_id)) !== null);
  const thumbnail = (await thumbnailOf(content_id)) ?? '';
  await read({ tenant_id, content_id: thumbnail, is_last: false }, 60);
  expect(await thumbnailOf(thumbnail)).toBeNull();
});

test('Files that get neither words nor a thumbnail are not read', async () => {
  const zip = Buffer.from('PK\u0003\u0004 an archive');
  const { body } = await upload({ content: zip, type: 'application/zip' }).expect(201);
  const empty = await upload({ content: '', name: 'empty.txt' }).expect(201);
  for (const id of [body.data.id, empty.body.data.id]) {
    expect(await jobsOf((await contentOf(id)).content_id)).toEqual([]);
  }
});

test('CRM answers while it reads a PDF that unpacks to gigabytes', async () => {
  const content = pdfPage({ dictionary: '/Filter /FlateDecode', stream: inflatingTo(3000) });
  const { body } = await upload({ content, name: 'bomb.pdf' }).expect(201);
  const { content_id: contentId } = await contentOf(body.data.id);
  await until(async () => (await jobsOf(contentId)).some(({ state }) => state !== 'created'));
  await get(`${documentsPath}/${body.data.id}`).expect(200);
  // Its process has been ended, and is to run once more.
  await until(async () => (await jobsOf(contentId)).length > 1);
  expect((await get(`${documentsPath}?search=bomb`)).body.data).toMatchObject([
    { id: body.data.id, name: 'bomb.pdf' },
  ]);
});
