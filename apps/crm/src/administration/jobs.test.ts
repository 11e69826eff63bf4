import { runAdmin } from '../testing/admin.ts';
import { startCrm, type TestCrm } from '../testing/crm.ts';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm({}, { enqueueOnly: true });
});
afterAll(() => crm.stop());

test('crm-admin counts the jobs of every kind that CRM runs, and lists dead jobs', async () => {
  const headers = crm.caller();
  const form = crm.http.post('/api/crm/imports').set(headers).field('resource', 'contacts');
  await form.attach('file', Buffer.from('first_name\nAda\n'), 'contacts.csv').expect(201);
  const { rows } = await crm.context.pool.query(
    "SELECT name FROM crm_jobs.job WHERE name IN ('import', 'import_upload_expiry') ORDER BY name",
  );
  expect(rows).toEqual([{ name: 'import' }, { name: 'import_upload_expiry' }]);
  const { code, output } = await runAdmin(crm, ['jobs', 'status']);
  expect(code).toBe(0);
  const kinds = output.map(({ job }: { job: string }) => job);
  expect(kinds).toEqual(kinds.toSorted());
  expect(kinds).toEqual(
    expect.arrayContaining(['document_purge', 'file_scan', 'import', 'import_upload_expiry']),
  );
  expect(kinds.join()).not.toContain('dead');
  expect(await runAdmin(crm, ['jobs', 'dead'])).toEqual({ code: 0, output: [] });
  expect((await runAdmin(crm, ['jobs', 'retry', 'unknown'])).code).toBe(1);
});
