import { docx, pdf } from '@tessera/content-worker/testing';
import { until } from '@tessera/local-stack';
import { documentsPath, documentUploader, foldersPath } from '../../testing/documents.ts';
import { tenantForEachTest } from '../../testing/tenant.ts';

const tenant = tenantForEachTest();
const { crm, caller, get, post, put, remove } = tenant;
const upload = documentUploader(tenant);

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const create = async (content: string | Buffer, type: string, name = 'document') =>
  (await upload({ content, type, name }).expect(201)).body.data.id as string;

const found = async (term: string, headers?: Record<string, string>): Promise<string[]> => {
  const { body } = await get(`${documentsPath}?search=${encodeURIComponent(term)}`, headers).expect(
    200,
  );
  return body.data.map(({ id }: { id: string }) => id).sort();
};

/** Waits until all jobs that read contents are done. */
const allRead = () =>
  until(async () => {
    const { rows } = await crm().context.pool.query(
      "SELECT FROM crm_jobs.job WHERE name = 'content_reading' AND state < 'completed'",
    );
    return rows.length === 0;
  });

test('Documents are found by the words of their text, in any case and without diacritics', async () => {
  const word = await create(await docx(['Szállítási határidő']), DOCX);
  const page = await create(pdf('Delivery in May, price 4200 EUR'), 'application/pdf');
  const table = await create('name;price\nÁrvíztűrő tükörfúró;4200\n', 'text/csv');
  await allRead();
  const sorted = (...ids: string[]) => ids.sort();
  expect(await found('hatarido')).toEqual([word]);
  expect(await found('SZÁLLÍTÁSI')).toEqual([word]);
  expect(await found('4200')).toEqual(sorted(page, table));
  // All words, in any order, by their beginnings.
  expect(await found('price deliv')).toEqual([page]);
  expect(await found('tükör arviz')).toEqual([table]);
  expect(await found('price missing')).toEqual([]);
  // A short word is not the beginning of another one.
  expect(await found('in')).toEqual([page]);
  expect(await found('eu')).toEqual([]);
  expect(await found(`o'r & !x | "y':*\\`)).toEqual([]);
});

test('A search finds a document by its name or its text, and returns it once', async () => {
  const byName = await create('nothing', 'text/plain', 'quarterly report.txt');
  const byText = await create('The quarterly numbers', 'text/plain', 'a.txt');
  const both = await create('quarterly!', 'text/plain', 'quarterly.txt');
  await allRead();
  expect(await found('quarterly')).toEqual([byName, byText, both].sort());
  expect((await get(`${documentsPath}?search=quarterly&sort=size`)).body.meta.total).toBe(3);
  const { text } = await get(`${documentsPath}/export?format=json&search=quarterly`).expect(200);
  expect(JSON.parse(text).data).toHaveLength(3);
});

test('Only the text of the current version is searched, also after another version is restored', async () => {
  const id = await create('albatross', 'text/plain');
  await put(`${documentsPath}/${id}/content`, null)
    .set('content-type', 'text/plain')
    .send('pelican')
    .expect(200);
  await allRead();
  expect([await found('albatross'), await found('pelican')]).toEqual([[], [id]]);
  await post(`${documentsPath}/${id}/versions/1/restore`).expect(200);
  expect([await found('albatross'), await found('pelican')]).toEqual([[id], []]);
  await remove(`${documentsPath}/${id}`).expect(204);
  expect(await found('albatross')).toEqual([]);
});

test('The text of documents in a hidden folder and of other tenants is not searched', async () => {
  const content = 'a confidential cormorant';
  const { body } = await post(foldersPath, { name: 'Board' }).expect(201);
  const folder = body.data.id as string;
  await upload({ content, fields: { folder_id: folder } }).expect(201);
  await post(`${foldersPath}/${folder}/members`, {
    user_id: crypto.randomUUID(),
    access: 'read',
  }).expect(201);
  const open = await create(`open ${content}`, 'text/plain');
  await allRead();
  expect(await found('cormorant', caller())).toEqual([open]);
  const { identity } = crm();
  expect(await found('cormorant', crm().caller({ tenants: [identity.acme] }))).toEqual([]);
});

test('A file that cannot be read is found by its name, and other files by their text', async () => {
  const broken = await create(pdf('cassowary').subarray(0, 300), 'application/pdf', 'broken.pdf');
  const bomb = await create(Buffer.from('%PDF-1.7 bomb'), 'application/pdf', 'bomb.pdf');
  const good = await create('cassowary', 'text/plain');
  await allRead();
  expect(await found('broken')).toEqual([broken]);
  expect(await found('bomb')).toEqual([bomb]);
  expect(await found('cassowary')).toContain(good);
  await get(`${documentsPath}/${broken}/download`).expect(200);
  expect((await crm().context.jobs.dead.list('content_reading')).length).toBe(0);
});
