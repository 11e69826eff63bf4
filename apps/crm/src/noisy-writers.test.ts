import { newTenant } from '@tessera/resource-server/testing';
import { startCrm, type TestCrm } from './testing/crm.ts';

type Headers = Readonly<Record<string, string>>;

/** More than the ten connections of the pool. */
const WRITERS = 14;
const CONTACTS = '/api/crm/contacts';

let crm: TestCrm;
let noisy: ReturnType<typeof newTenant>;
let quiet: Headers;
let idle: number;

beforeAll(async () => {
  crm = await startCrm({ DATABASE_POOL_SIZE: '10' });
  quiet = crm.caller({ tenants: [newTenant('globex')] });
  await crm.http.post(CONTACTS).set(quiet).send({ first_name: 'Ada' }).expect(201);
  let left = 200;
  const { times } = await listUntil(() => left-- <= 0);
  idle = median(times.slice(100));
});
beforeEach(() => {
  noisy = newTenant('acme');
});
afterAll(() => crm.stop());

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** Lists contacts of the quiet tenant, one page after the other. */
const listUntil = async (isOver: () => boolean) => {
  const times: number[] = [];
  const statuses = new Set<number>();
  while (!isOver()) {
    const began = performance.now();
    const { status } = await crm.http.get(CONTACTS).set(quiet);
    times.push(performance.now() - began);
    statuses.add(status);
  }
  return { times, statuses: [...statuses] };
};

/** Sends the requests of the noisy tenant at once, and lists meanwhile. */
const listWhile = async (
  send: (writer: number) => PromiseLike<{ status: number; body: unknown }>,
) => {
  let isOver = false;
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => send(writer)));
  const listing = listUntil(() => isOver);
  const answers = await writing.finally(() => {
    isOver = true;
  });
  return { ...(await listing), answers };
};

const expectQuiet = ({ times, statuses, answers }: Awaited<ReturnType<typeof listWhile>>): void => {
  expect(statuses).toEqual([200]);
  // The services, the clients and PostgreSQL share the cores of the machine, which costs more than any wait.
  expect(median(times) / idle).toBeLessThan(20);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeLessThan(WRITERS);
  for (const { status, body } of refused) {
    expect([status, body]).toEqual([503, expect.objectContaining({ error: 'overloaded' })]);
  }
};

test('Batches of one tenant do not keep the connections that another one needs', async () => {
  const caller = crm.caller({ tenants: [noisy] });
  const operations = Array.from({ length: 500 }, (_, n) => ({
    op: 'create',
    body: { title: `Task ${n}` },
  }));
  expectQuiet(
    await listWhile(() => crm.http.post('/api/crm/tasks/batch').set(caller).send({ operations })),
  );
});

test('Neither do merges of contacts with many tasks', async () => {
  const caller = crm.caller({ tenants: [noisy] });
  const create = async (): Promise<string> => {
    const { body } = await crm.http.post(CONTACTS).set(caller).send({ first_name: 'Ada' });
    return body.data.id;
  };
  const survivors = await Promise.all(Array.from({ length: WRITERS }, create));
  const merged = await Promise.all(Array.from({ length: WRITERS }, create));
  await crm.context.pool.query(
    `INSERT INTO tenant_crm.tasks (tenant_id, id, title, contact_id, rank)
     SELECT $1, gen_random_uuid(), 'Task ' || n, contact, contact::text || n
     FROM unnest($2::uuid[]) AS contact, generate_series(1, 1000) AS n`,
    [noisy.id, merged],
  );
  expectQuiet(
    await listWhile((writer) =>
      crm.http
        .post(`${CONTACTS}/${survivors[writer]}/merge`)
        .set(caller)
        .send({ contact_id: merged[writer] }),
    ),
  );
});
