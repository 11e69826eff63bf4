import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';

let full: Server;
let crm: TestCrm;
beforeAll(async () => {
  // A service that speaks S3 and has no room.
  full = createServer((req, res) => {
    req.resume().once('end', () => res.writeHead(507).end());
  });
  await new Promise<void>((resolve) => full.listen(0, '127.0.0.1', resolve));
  const { port } = full.address() as AddressInfo;
  crm = await startCrm({
    FILE_STORE: 's3',
    FILE_STORE_S3_BUCKET: 'files',
    FILE_STORE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    FILE_STORE_S3_FORCE_PATH_STYLE: 'true',
    FILE_STORE_S3_ACCESS_KEY_ID: 'test',
    FILE_STORE_S3_SECRET_ACCESS_KEY: 'test',
  });
});
afterAll(async () => {
  await crm.stop();
  full.closeAllConnections();
  full.close();
});

test('An upload for which the store has no room is 507, and creates nothing', async () => {
  const headers = crm.caller();
  const upload = documentUploader({ post: (path) => crm.http.post(path).set(headers) });
  const { body } = await upload({ content: 'hello' }).expect(507);
  expect(body.error).toBe('storage_full');
  const { body: list } = await crm.http.get(documentsPath).set(headers).expect(200);
  expect(list.data).toEqual([]);
  const { rows } = await crm.context.pool.query('SELECT FROM tenant_crm.file_contents');
  expect(rows).toEqual([]);
});
