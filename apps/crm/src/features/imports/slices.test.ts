import { until } from '@tessera/local-stack';
import { newTenant } from '@tessera/resource-server/testing';
import { startCrm, type TestCrm } from '../../testing/crm.ts';

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());

interface Found {
  readonly status: string;
  readonly rows_read: number;
  readonly rows_created: number;
  readonly finished_at: string | null;
}

/** A new tenant that imports contacts. */
const newImporter = () => {
  const headers = crm.caller({ tenants: [newTenant('acme')] });
  return {
    async send(count: number): Promise<string> {
      const rows = Array.from({ length: count }, (_, number) => `Ada ${number}`);
      const { body } = await crm.http
        .post('/api/crm/imports')
        .set(headers)
        .field('resource', 'contacts')
        .attach('file', Buffer.from(`first_name\n${rows.join('\n')}\n`), {
          filename: 'a.csv',
          contentType: 'text/csv',
        })
        .expect(201);
      return body.data.id;
    },
    async find(id: string): Promise<Found> {
      return (await crm.http.get(`/api/crm/imports/${id}`).set(headers).expect(200)).body.data;
    },
  };
};

test('A short import ends before long ones of three tenants, which lose no row and keep the order of each tenant', async () => {
  const noisy = [newImporter(), newImporter(), newImporter()];
  const rows = 12_000;
  const long: string[] = [];
  for (const { send } of noisy) long.push(await send(rows));
  const [first] = noisy;
  const next = (await first?.send(10)) ?? '';
  const states = () => Promise.all(noisy.map(({ find }, index) => find(long[index] ?? '')));
  await until(async () => (await states()).filter(({ rows_read: read }) => read > 0).length >= 2);

  const quiet = newImporter();
  const short = await quiet.send(200);
  await until(async () => (await quiet.find(short)).status === 'completed');
  const meanwhile = await states();
  expect(meanwhile.filter(({ status }) => status === 'completed').length).toBeLessThan(2);

  let ended = await states();
  while (!ended.every(({ status }) => status === 'completed')) {
    // Waits for some progress at a time, however slow the machine is.
    const before = JSON.stringify(ended);
    await until(async () => {
      ended = await states();
      return JSON.stringify(ended) !== before;
    });
  }
  expect(ended.map(({ rows_created: created }) => created)).toEqual([rows, rows, rows]);
  await until(async () => (await first?.find(next))?.status === 'completed');
  const afterwards = await first?.find(next);
  expect(Date.parse(afterwards?.finished_at ?? '')).toBeGreaterThanOrEqual(
    Date.parse(ended[0]?.finished_at ?? ''),
  );
  // The rests were jobs of their own.
  const { rows: found } = await crm.context.pool.query(
    `SELECT count(*)::int AS count FROM crm_jobs.job WHERE name = 'import' AND priority < -1000`,
  );
  expect(found[0].count).toBeGreaterThan(0);
});
