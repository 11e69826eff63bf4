import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { createContacts } from './contacts.records.ts';

const { pool, database, close } = await openDatabase();
const contacts = createContacts(database);
afterAll(close);

const columns = {
  name: 'sort_name',
  email: 'email',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;
const sorts = Object.keys(columns) as (keyof typeof columns)[];

/** So many contacts of a new tenant, with few different values, so that only their ids keep an order. */
const crowd = async (size: number) => {
  const caller = callerIn();
  await pool.query(
    `INSERT INTO tenant_crm.contacts
       (id, tenant_id, first_name, last_name, email, created_at, updated_at, tags)
     SELECT gen_random_uuid(), $1, 'Ada', chr(65 + i % 7), CASE WHEN i % 3 > 0 THEN i % 5 || '@x.y' END,
       timestamptz '2026-01-01Z' + i % 11 * interval '1 day', now() - i % 2 * interval '1 hour',
       CASE WHEN i % 2 = 0 THEN ARRAY['even'] ELSE '{}' END
     FROM generate_series(1, $2) AS i`,
    [caller.tenantId, size],
  );
  return caller;
};

/** The ids in the order that PostgreSQL gives to a plain query. */
const inOrder = async (
  tenantId: string,
  sort: keyof typeof columns,
  descending: boolean,
  condition = 'true',
): Promise<string[]> => {
  const direction = descending ? 'DESC' : 'ASC';
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM tenant_crm.contacts
     WHERE tenant_id = $1 AND deleted_at IS NULL AND ${condition}
     ORDER BY ${columns[sort]} ${direction}, id ${direction}`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
};

const sortedBy = (sort: keyof typeof columns, descending: boolean) =>
  descending ? (`-${sort}` as const) : sort;

describe('Pages', () => {
  test('put together are the whole list, in order, under every sort', async () => {
    const caller = await crowd(230);
    for (const sort of sorts) {
      for (const descending of [false, true]) {
        const seen: string[] = [];
        for (let page = 1, more = true; more; page += 1) {
          const query = { sort: sortedBy(sort, descending), page, per_page: 30 };
          const listed = await contacts.list(caller, query);
          seen.push(...listed.rows.map(({ id }) => id));
          more = listed.more;
        }
        expect(seen).toEqual(await inOrder(caller.tenantId, sort, descending));
      }
    }
  });

  test('are those of a plain offset, however deep, from either end, narrowed or not', async () => {
    const caller = await crowd(5000);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sorts),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (sort, descending, narrowed, per_page, depth) => {
          const condition = narrowed ? "tags @> ARRAY['even']" : 'true';
          const all = await inOrder(caller.tenantId, sort, descending, condition);
          const last = Math.ceil(all.length / per_page);
          const page = 1 + Math.floor(depth * (last - 1));
          const listed = await contacts.list(caller, {
            ...{ sort: sortedBy(sort, descending), page, per_page },
            ...(narrowed && { tag: 'even' }),
          });
          const offset = (page - 1) * per_page;
          expect(listed.rows.map(({ id }) => id)).toEqual(all.slice(offset, offset + per_page));
          expect(listed).toMatchObject({ page, total: all.length, more: page < last });
        },
      ),
      { numRuns: 60, examples: [['name', true, false, 100, 1]] },
    );
  });

  test('beyond the end are the last page', async () => {
    const caller = await crowd(120);
    for (const query of [{}, { tag: 'even' }, { search: 'ada' }, { page: 900_000_000 }]) {
      const listed = await contacts.list(caller, { page: 7, per_page: 50, ...query });
      const total = 'tag' in query ? 60 : 120;
      expect(listed).toMatchObject({ page: Math.ceil(total / 50), total, more: false });
      expect(listed.rows).toHaveLength(total % 50);
    }
  });

  test('of nothing are one empty page', async () => {
    for (const query of [
      {},
      { page: 3 },
      { page: 3000 },
      { search: 'a' },
      { tag: 'even', page: 2 },
    ]) {
      const listed = await contacts.list(callerIn(), query);
      expect(listed).toMatchObject({ rows: [], page: 1, total: 0, more: false });
    }
  });
});

test('Names are sorted by last name, then first name, whatever their accents and case', async () => {
  const caller = callerIn();
  const people = [
    ...[
      ['Zoé', 'Adams'],
      ['Bob', 'ádám'],
      ['Anna', 'Adam'],
      ['anna', 'Adam Smith'],
      ['Béla', null],
    ],
    ...[
      ['Čeněk', 'Čapek'],
      ['Carl', 'cape'],
    ],
  ] as const;
  await database.contact.createMany({
    data: people.map(([firstName, lastName]) => ({
      ...{ tenantId: caller.tenantId, firstName: firstName ?? '', lastName: lastName ?? null },
    })),
  });
  const { rows } = await contacts.list(caller, { sort: 'name' });
  expect(rows.map((row) => [row.last_name, row.first_name].filter(Boolean).join(', '))).toEqual([
    ...['Adam, Anna', 'ádám, Bob', 'Adam Smith, anna', 'Adams, Zoé', 'Béla'],
    ...['cape, Carl', 'Čapek, Čeněk'],
  ]);
});

test('Each filter narrows the list, and together they narrow it more', async () => {
  const caller = callerIn();
  const [company_id, owner_id] = [randomUUID(), randomUUID()];
  const nobody = { first_name: 'A', emails: [], phones: [], addresses: [], tags: [] };
  const made = [
    await contacts.create(caller, { ...nobody, company_id, tags: ['vip', 'x'] }),
    await contacts.create(caller, { ...nobody, company_id, owner_id, email: 'a@b.c' }),
    await contacts.create(caller, { ...nobody, owner_id, tags: ['vip'] }),
  ];
  await pool.query(
    `UPDATE tenant_crm.contacts SET created_at = '2020-06-01Z', updated_at = '2021-06-01Z' WHERE id = $1`,
    [made[0]?.id],
  );
  const found = async (query: Parameters<typeof contacts.list>[1]) => {
    const { rows } = await contacts.list(caller, query);
    return made.flatMap(({ id }, i) => (rows.some((row) => row.id === id) ? [i] : []));
  };
  const day = (text: string) => new Date(`${text}T00:00:00Z`);
  expect(await found({ company_id })).toEqual([0, 1]);
  expect(await found({ owner_id })).toEqual([1, 2]);
  expect(await found({ company_id, owner_id })).toEqual([1]);
  expect(await found({ tag: 'vip' })).toEqual([0, 2]);
  expect(await found({ tag: 'vi' })).toEqual([]);
  expect(await found({ email: 'a@b.c' })).toEqual([1]);
  expect(await found({ created_from: day('2020-06-02') })).toEqual([1, 2]);
  expect(await found({ created_to: day('2020-06-01') })).toEqual([0]);
  expect(await found({ updated_from: day('2021-06-01'), updated_to: day('2021-06-02') })).toEqual([
    0,
  ]);
  expect(await found({ tag: 'vip', search: 'x', company_id })).toEqual([0]);
});

test('A total and the rows beside it are of the same moment, while others write', async () => {
  const caller = await crowd(60);
  const ids = await inOrder(caller.tenantId, 'name', false);
  let reading = true;
  const write = async (id: string) => {
    while (reading) {
      await pool.query(
        `UPDATE tenant_crm.contacts SET deleted_at = CASE WHEN deleted_at IS NULL THEN now() END
         WHERE id = $1`,
        [id],
      );
    }
  };
  const read = async () => {
    for (let round = 0; round < 150; round += 1) {
      for (const query of [{ per_page: 100 }, { per_page: 100, page: 500 }, { tag: 'even' }]) {
        const { rows, page, perPage, total } = await contacts.list(caller, query);
        expect(rows).toHaveLength(Math.min(perPage, total - (page - 1) * perPage));
      }
    }
  };
  const writing = ids.slice(0, 4).map(write);
  await read().finally(() => {
    reading = false;
  });
  await Promise.all(writing);
});

describe('A list of more than 10,000 hits', () => {
  const size = 10_040;
  let caller: ReturnType<typeof callerIn>;
  beforeAll(async () => {
    caller = await crowd(size);
  });

  test('has an exact total while it is not narrowed', async () => {
    const listed = await contacts.list(caller, { page: 101, per_page: 100 });
    expect(listed).toMatchObject({ total: size, totalIsMinimum: false, more: false });
    expect(listed.rows).toHaveLength(40);
  });

  test('has a minimum for a total when it is narrowed, and goes on beyond it', async () => {
    const list = (page: number) =>
      contacts.list(caller, { search: 'ada', sort: 'name', per_page: 100, page });
    expect(await list(1)).toMatchObject({ total: 10_000, totalIsMinimum: true, more: true });
    expect(await list(100)).toMatchObject({ total: 10_000, totalIsMinimum: true, more: true });
    const beyond = await list(101);
    expect(beyond).toMatchObject({ total: 10_000, totalIsMinimum: true, more: false });
    const order = await inOrder(caller.tenantId, 'name', false);
    expect(beyond.rows.map(({ id }) => id)).toEqual(order.slice(10_000));
  });

  test('is counted to the end when that is asked for, or when a page lies beyond the end', async () => {
    const search = 'ada';
    for (const query of [{ exact_total: true }, { page: 900 }, { page: 402, exact_total: true }]) {
      const listed = await contacts.list(caller, { search, ...query });
      expect(listed).toMatchObject({ total: size, totalIsMinimum: false });
      expect(listed.page).toBe(Math.min(query.page ?? 1, Math.ceil(size / 25)));
    }
  });

  test('is exact at 10,000 hits', async () => {
    await pool.query(
      `UPDATE tenant_crm.contacts SET deleted_at = now() WHERE id IN (
         SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 LIMIT 40)`,
      [caller.tenantId],
    );
    const listed = await contacts.list(caller, { search: 'ada' });
    expect(listed).toMatchObject({ total: 10_000, totalIsMinimum: false });
  });
});
