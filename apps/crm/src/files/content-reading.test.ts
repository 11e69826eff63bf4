import { createContentWorker } from '@tessera/content-worker';
import { inflatingTo, pdfPage } from '@tessera/content-worker/testing';
import { until } from '@tessera/local-stack';
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

/** Runs the job of a content as the given attempt, in a process with this time limit. */
const read = (payload: object, number: number, seconds: number): Promise<void> => {
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
    attempt: number,
    signal,
    stopping: signal,
    othersWait: async () => false,
    letOthersPass: async () => undefined,
  };
  return contentReadingHandler({ database, files, worker, logger }).handle(payload as never, run);
};

test('A file that crashes its process is tried three times, and then the next file is read', async () => {
  const { body } = await upload({ content: 'bold heron', name: 'a.txt' }).expect(201);
  const payload = await contentOf(body.data.id);
  for (const number of [1, 2]) {
    await expect(read(payload, number, 0.001)).rejects.toThrow('reached a limit');
  }
  await read(payload, 3, 0.001);
  await read(payload, 1, 30);
  expect((await get(`${documentsPath}?search=heron`)).body.data).toMatchObject([
    { id: body.data.id },
  ]);
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
  await read({ tenant_id, content_id: thumbnail }, 1, 30);
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
  // Its process has been ended once.
  await until(async () => (await jobsOf(contentId)).some(({ state }) => state === 'retry'));
  expect((await get(`${documentsPath}?search=bomb`)).body.data).toMatchObject([
    { id: body.data.id, name: 'bomb.pdf' },
  ]);
});
