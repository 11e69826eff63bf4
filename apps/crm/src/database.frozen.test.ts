import {
  freezePostgres,
  type Postgres,
  startPostgres,
  throwawaySettings,
} from '@tessera/local-stack';
import { startCrm, type TestCrm } from './testing/crm.ts';

let postgres: Postgres;
let crm: TestCrm;

beforeAll(async () => {
  postgres = await startPostgres({ settings: throwawaySettings });
  crm = await startCrm({ DATABASE_URL: await postgres.createDatabase('crm') });
});
afterAll(async () => {
  await crm?.stop();
  await postgres?.stop();
});

test('Requests to CRM fail with 503 when PostgreSQL stops responding, and succeed once it continues', async () => {
  const headers = crm.caller();
  const list = () => crm.http.get('/api/crm/contacts').set(headers);
  const create = () => crm.http.post('/api/crm/contacts').set(headers).send({ first_name: 'Ada' });
  await list().expect(200);
  const unfreeze = await freezePostgres(postgres);
  try {
    // More requests than connections, so some wait for one.
    const requests = Array.from({ length: 6 }, (_none, n) => (n % 2 ? create() : list()));
    for (const { status, body } of await Promise.all(requests)) {
      expect([status, body.error]).toEqual([503, 'database_unavailable']);
    }
  } finally {
    unfreeze();
  }
  await create().expect(201);
  await list().expect(200);
});
