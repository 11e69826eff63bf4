import { randomUUID } from 'node:crypto';
import { type PgBouncer, startPgBouncer, untilConnected } from '@tessera/local-stack';
import type { Response } from 'supertest';
import { crmDatabase, startCrm, type TestCrm } from './testing/crm.ts';

let bouncer: PgBouncer;
let crm: TestCrm;

beforeAll(async () => {
  const direct = await crmDatabase();
  bouncer = await startPgBouncer(direct);
  crm = await startCrm({
    DATABASE_URL: bouncer.url,
    DATABASE_DIRECT_URL: direct,
    DATABASE_POOLER: 'true',
    DATABASE_POOL_SIZE: '10',
  });
});
afterAll(async () => {
  await crm?.stop();
  await bouncer?.stop();
});

const answered = async (expected: number, send: () => PromiseLike<Response>): Promise<Response> => {
  const answer = await untilConnected(send);
  expect([answer.status, answer.body.error]).toEqual([expected, undefined]);
  return answer;
};

test('Behind PgBouncer, two tenants use contacts concurrently, and each sees only its own', async () => {
  const create = async (tenant: 'acme' | 'globex', n: number) => {
    const headers = crm.caller({ tenant });
    const get = (path = '') => crm.http.get(`/api/crm/contacts${path}`).set(headers);
    const contact = { first_name: `${tenant} ${n}`, tags: ['friend'] };
    const creating = { ...headers, 'Idempotency-Key': randomUUID() };
    const { body } = await answered(201, () =>
      crm.http.post('/api/crm/contacts').set(creating).send(contact),
    );
    await answered(200, () => get(`/${body.data.id}`));
    const found = await answered(200, () => get().query({ search: tenant }));
    return found.body.data.map(({ first_name }: { first_name: string }) => first_name);
  };
  const lists = await Promise.all(
    Array.from({ length: 20 }, (_none, n) => create(n % 2 ? 'acme' : 'globex', n)),
  );
  for (const [n, names] of lists.entries()) {
    const tenant = n % 2 ? 'acme' : 'globex';
    expect(names).toContain(`${tenant} ${n}`);
    expect(names.filter((name: string) => !name.startsWith(tenant))).toEqual([]);
  }
  const { body } = await crm.http.get('/api/crm/contacts').set(crm.caller()).expect(200);
  expect(body.meta.total).toBe(10);
});

test('Behind PgBouncer, no prepared statement and no tenant setting remains on a connection', async () => {
  const { rows } = await crm.context.pool.query(
    `SELECT (SELECT count(*) FROM pg_prepared_statements) AS prepared, current_user AS user,
       coalesce(current_setting('tessera.tenant_id', true), '') AS tenant`,
  );
  expect(rows).toEqual([{ prepared: 0, user: 'postgres', tenant: '' }]);
});
