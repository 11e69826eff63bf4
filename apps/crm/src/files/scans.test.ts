import { randomUUID } from 'node:crypto';
import { type ClamdStandIn, eicar, startClamdStandIn } from '@tessera/clamd/testing';
import { until } from '@tessera/local-stack';
import { runAdmin } from '../testing/admin.ts';
import { documentsPath, documentUploader } from '../testing/documents.ts';
import { tenantForEachTest } from '../testing/tenant.ts';

const MAX_BYTES = 100_000;

let clamd: ClamdStandIn;
const tenant = tenantForEachTest(async () => {
  clamd = await startClamdStandIn(new Map([['Eicar-Test', eicar]]), { maxBytes: MAX_BYTES });
  return { CLAMD_URL: clamd.url };
});
const { crm, get, put, post } = tenant;
const upload = documentUploader(tenant);
afterEach(() => clamd.reply(undefined));
afterAll(() => clamd.stop());

const create = async (content: string | Buffer) =>
  (await upload({ content }).expect(201)).body.data as { id: string; scan_status: string };

const read = async (id: string) => (await get(`${documentsPath}/${id}`).expect(200)).body.data;

const download = (id: string, version?: number) =>
  get(`${documentsPath}/${id}/${version ? `versions/${version}/` : ''}download`);

const refusal = async (id: string, version?: number): Promise<string> =>
  (await download(id, version).expect(409)).body.error;

const scannedAs = (id: string, status: string): Promise<void> =>
  until(async () => (await read(id)).scan_status === status);

const hasFailedScan = async (): Promise<boolean> => {
  const { rows } = await crm().context.pool.query(
    `SELECT FROM crm_jobs.job WHERE name = 'file_scan' AND state = 'retry'`,
  );
  return rows.length > 0;
};

/** Makes scans that failed run again at once. */
const retryNow = async (): Promise<void> => {
  await until(async () => {
    const { rowCount } = await crm().context.pool.query(
      `UPDATE crm_jobs.job SET start_after = now() WHERE name = 'file_scan' AND state = 'retry'`,
    );
    return rowCount !== 0;
  });
};

test('A file is not served before its scan, which changes the ETag and is in the history', async () => {
  await clamd.kill();
  const content = randomUUID();
  const created = await upload({ content }).expect(201);
  const { id } = created.body.data;
  expect(created.body.data.scan_status).toBe('pending');
  expect(await refusal(id)).toBe('scan_pending');
  expect(await refusal(id, 1)).toBe('scan_pending');
  await until(hasFailedScan);
  expect(await refusal(id)).toBe('scan_pending');
  await clamd.restart();
  await retryNow();
  await scannedAs(id, 'clean');
  expect((await download(id).expect(200)).text).toBe(content);
  const current = await get(`${documentsPath}/${id}`);
  expect(current.headers.etag).not.toBe(created.headers.etag);
  const history = await get(`${documentsPath}/${id}/history`).expect(200);
  expect(history.body.data[0]).toMatchObject({
    action: 'scan',
    actor_type: 'system',
    changes: { scan_status: { from: 'pending', to: 'clean' } },
  });
});

test('An infected file is served to nobody, and identical bytes have the same verdict at once', async () => {
  const first = await create(eicar);
  await scannedAs(first.id, 'infected');
  expect(await refusal(first.id)).toBe('file_quarantined');
  const scans = clamd.scanned.length;
  const second = await create(eicar);
  expect(second.scan_status).toBe('infected');
  expect(await refusal(second.id)).toBe('file_quarantined');
  expect(clamd.scanned).toHaveLength(scans);
  expect((await get(`${documentsPath}?scan_status=infected`)).body.data).toHaveLength(2);
  const { rows } = await crm().context.pool.query(
    `SELECT DISTINCT content.scan_finding, content.scanned_at IS NOT NULL AS is_timed
     FROM tenant_crm.documents AS document
     JOIN tenant_crm.file_contents AS content USING (tenant_id)
     WHERE document.id = ANY($1) AND content.id = document.content_id`,
    [[first.id, second.id]],
  );
  expect(rows).toEqual([{ scan_finding: 'Eicar-Test', is_timed: true }]);
  const metrics = await crm().context.metrics.registry.getSingleMetricAsString('file_scans_total');
  expect(metrics).toContain('file_scans_total{result="infected"}');
});

test('Each version is served, or not, by the scan of its own content', async () => {
  const { id } = await create(randomUUID());
  await scannedAs(id, 'clean');
  await put(`${documentsPath}/${id}/content`, null)
    .type('text/plain')
    .send(eicar.toString())
    .expect(200);
  await scannedAs(id, 'infected');
  expect(await refusal(id)).toBe('file_quarantined');
  await download(id, 1).expect(200);
  const restored = await post(`${documentsPath}/${id}/versions/1/restore`).expect(200);
  expect(restored.body.data.scan_status).toBe('clean');
  await download(id).expect(200);
  expect(await refusal(id, 2)).toBe('file_quarantined');
});

test('A scan updates all documents that have the content, including deleted ones', async () => {
  clamd.reply('Can not create temporary file. ERROR');
  const content = randomUUID();
  const [first, second] = [await create(content), await create(content)];
  await tenant.remove(`${documentsPath}/${second.id}`).expect(204);
  await until(hasFailedScan);
  clamd.reply(undefined);
  await retryNow();
  await scannedAs(first.id, 'clean');
  const restored = await post(`${documentsPath}/${second.id}/restore`).expect(200);
  expect(restored.body.data.scan_status).toBe('clean');
});

test('A file that is too large for clamd is not served', async () => {
  const { id } = await create(Buffer.alloc(3 * MAX_BYTES, 'a'));
  await scannedAs(id, 'unscannable');
  expect(await refusal(id)).toBe('file_unscannable');
});

test('crm-admin scans files that were stored while scanning was off, and with --all the others again', async () => {
  const [clean, infected] = [
    await create(randomUUID()),
    await create(Buffer.concat([eicar, eicar])),
  ];
  for (const { id } of [clean, infected]) await scannedAs(id, 'clean');
  const unscanned = await create(randomUUID());
  await scannedAs(unscanned.id, 'clean');
  for (const table of ['documents', 'file_contents']) {
    await crm().context.pool.query(
      `UPDATE tenant_crm.${table} SET scan_status = 'not_scanned'
       WHERE tenant_id = (SELECT tenant_id FROM tenant_crm.documents WHERE id = $1) AND ${
         table === 'documents' ? 'id' : 'sha256'
       } = $2`,
      [unscanned.id, table === 'documents' ? unscanned.id : (await read(unscanned.id)).sha256],
    );
  }
  await download(unscanned.id).expect(200);
  expect(await runAdmin(crm(), ['scan-files'])).toMatchObject({ code: 1 });
  const environment = { CLAMD_URL: clamd.url };
  expect(await runAdmin(crm(), ['scan-files'], environment)).toEqual({
    code: 0,
    output: { enqueued: 1 },
  });
  await scannedAs(unscanned.id, 'clean');
  // New signatures find malware in a file that seemed clean.
  clamd.reply('stream: New-Signature FOUND');
  expect(await runAdmin(crm(), ['scan-files', '--all'], environment)).toMatchObject({ code: 0 });
  await scannedAs(infected.id, 'infected');
  expect(await refusal(infected.id)).toBe('file_quarantined');
});
