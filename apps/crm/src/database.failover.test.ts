import { type FailoverPair, startFailoverPair, until } from '@tessera/local-stack';
import { startCrm, type TestCrm } from './testing/crm.ts';

const WRITERS = 4;

let servers: FailoverPair;
let crm: TestCrm;

beforeAll(async () => {
  servers = await startFailoverPair();
  crm = await startCrm({ DATABASE_URL: await servers.createDatabase('crm') });
});
afterAll(async () => {
  await crm?.stop();
  await servers?.stop();
});

test('After a failover, CRM has every contact whose creation it confirmed, and continues by itself', async () => {
  const headers = crm.caller();
  const confirmed = new Set<string>();
  const others = new Set<number>();
  let isStopping = false;
  const write = async (writer: number) => {
    for (let n = 0; !isStopping; n += 1) {
      const contact = { first_name: `${writer} ${n}` };
      const { status, body } = await crm.http.post('/api/crm/contacts').set(headers).send(contact);
      if (status === 201) confirmed.add(body.data.id);
      else others.add(status);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_none, n) => write(n));
  await until(() => confirmed.size >= 100);
  await servers.failOver();
  const before = confirmed.size;
  await until(() => confirmed.size >= before + 100);
  isStopping = true;
  await Promise.all(writers);

  // A creation whose commit the failover interrupted was answered with 503, and may exist.
  expect([...others].filter((status) => status !== 503)).toEqual([]);
  const { rows } = await crm.context.pool.query('SELECT id FROM tenant_crm.contacts');
  const stored = new Set(rows.map(({ id }) => id));
  expect([...confirmed].filter((id) => !stored.has(id))).toEqual([]);
  const { body } = await crm.http.get('/api/crm/contacts').set(headers).expect(200);
  expect(body.meta.total).toBe(stored.size);
});
