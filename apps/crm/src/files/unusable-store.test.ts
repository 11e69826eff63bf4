import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startCrm, type TestCrm } from '../testing/crm.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';

let store: Server;
let isSilent = false;
let crm: TestCrm;
beforeAll(async () => {
  // A service that speaks S3, and has no room or never answers.
  store = createServer((req, res) => {
    req.resume().once('end', () => {
      if (!isSilent) res.writeHead(507).end();
    });
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const { port } = store.address() as AddressInfo;
  crm = await startCrm({
    FILE_STORE: 's3',
    FILE_STORE_S3_BUCKET: 'files',
    FILE_STORE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    FILE_STORE_S3_FORCE_PATH_STYLE: 'true',
    FILE_STORE_S3_TIMEOUT_MS: '2000',
    FILE_STORE_S3_ACCESS_KEY_ID: 'test',
    FILE_STORE_S3_SECRET_ACCESS_KEY: 'test',
  });
});
afterAll(async () => {
  await crm.stop();
  store.closeAllConnections();
  store.close();
});

test.each([
  { store: 'has no room', silent: false, status: 507, error: 'storage_full' },
  { store: 'does not answer', silent: true, status: 503, error: 'file_unavailable' },
])(
  'An upload while the store $store is $status, and creates nothing',
  async ({ silent, status, error }) => {
    isSilent = silent;
    const headers = crm.caller();
    const upload = documentUploader({ post: (path) => crm.http.post(path).set(headers) });
    const { body } = await upload({ content: 'hello' }).expect(status);
    expect(body.error).toBe(error);
    const { body: list } = await crm.http.get(documentsPath).set(headers).expect(200);
    expect(list.data).toEqual([]);
    const { rows } = await crm.context.pool.query('SELECT FROM tenant_crm.file_contents');
    expect(rows).toEqual([]);
  },
);
