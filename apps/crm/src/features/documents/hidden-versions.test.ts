import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, get, post, put, remove } = tenantForEachTest();
const documents = '/api/crm/documents';
const folders = '/api/crm/document-folders';

const send = async (path: string, content: string): Promise<string> => {
  const sent = post(path, null).attach('file', Buffer.from(content), 'a.txt');
  return (await sent.expect(201)).body.data.id;
};

/** A document with two versions of its time in a private folder, which is then moved to the root. */
const movedOut = async () => {
  const { body } = await post(folders, { name: 'Private' }).expect(201);
  const folder = body.data.id;
  await post(`${folders}/${folder}/members`, { user_id: randomUUID(), access: 'read' }).expect(201);
  const id = await send(documents, 'secret');
  await put(`${documents}/${id}`, { folder_id: folder }).expect(200);
  await send(`${documents}/${id}/versions`, 'public');
  await put(`${documents}/${id}`, { folder_id: null }).expect(200);
  return { document: `${documents}/${id}`, folder };
};

test('Versions of the time in a private folder are hidden like the history of that time', async () => {
  const { document } = await movedOut();
  await send(`${document}/versions`, 'later');
  const other = caller();
  const { body } = await get(`${document}/versions`, other).expect(200);
  expect(body.data.map(({ number }: { number: number }) => number)).toEqual([3, 2]);
  expect(body.meta.total).toBe(2);
  await get(`${document}/versions/1`, other).expect(404);
  await get(`${document}/versions/1/download`, other).expect(404);
  await post(`${document}/versions/1/restore`, {}, other).expect(404);
  await remove(`${document}/versions/1`, other).expect(404);
  const link = await post(`${document}/links`, { version_number: 1 }, other).expect(422);
  expect(Object.keys(link.body.errors)).toEqual(['version_number']);
  expect((await get(`${document}/versions/2/download`, other).expect(200)).text).toBe('public');
  expect((await get(`${document}/download`, other).expect(200)).text).toBe('later');
});

test('Members of the private folder see and restore the versions of that time', async () => {
  const { document } = await movedOut();
  expect((await get(`${document}/versions`)).body.meta.total).toBe(2);
  expect((await get(`${document}/versions/1/download`).expect(200)).text).toBe('secret');
  await post(`${document}/versions/1/restore`).expect(200);
});

test('Former versions stay hidden when the one that the document left the private folder with is deleted', async () => {
  const { document } = await movedOut();
  await send(`${document}/versions`, 'later');
  const other = caller();
  await remove(`${document}/versions/2`, other).expect(204);
  const { body } = await get(`${document}/versions`, other).expect(200);
  expect(body.data.map(({ number }: { number: number }) => number)).toEqual([3]);
  await get(`${document}/versions/1/download`, other).expect(404);
});
