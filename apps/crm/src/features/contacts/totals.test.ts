import { randomUUID } from 'node:crypto';
import type { Statement, TenantDb } from '@tessera/database-kit';
import type { Caller } from '../../http.ts';
import { createRecords } from '../../records/records.ts';
import type { TenantSource } from '../../records/scope.ts';
import { crowd, inOrder } from '../../testing/crowd.ts';
import type { ExplainedNode } from '../../testing/explained-plans.ts';
import { nodesOf } from '../../testing/plan-nodes.ts';
import { openDatabase, withMethods } from '../../testing/records.ts';
import { contact } from './contacts.kind.ts';

const { pool, database, close } = await openDatabase();
const contacts = createRecords(contact, database);
afterAll(close);

/** How many table rows a statement reads. */
const rowsScanned = async (db: TenantDb, { text, values }: Statement): Promise<number> => {
  const explained = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values };
  const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: ExplainedNode }] }>(explained);
  if (!row) throw new Error('EXPLAIN gave nothing');
  return nodesOf(row['QUERY PLAN'][0].Plan)
    .filter((node) => node['Relation Name'])
    .reduce((sum, node) => sum + (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0), 0);
};

test('A total and the rows of its page are from the same snapshot during concurrent writes', async () => {
  const caller = await crowd(pool, 60);
  const ids = await inOrder(pool, caller.tenantId, 'name', false);
  let reading = true;
  const write = async (id: string) => {
    while (reading) {
      await pool.query(
        `UPDATE tenant_crm.contacts SET deleted_at = CASE WHEN deleted_at IS NULL THEN $3::timestamptz END
         WHERE tenant_id = $1 AND id = $2`,
        [caller.tenantId, id, new Date()],
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
  let caller: Caller;
  beforeAll(async () => {
    caller = await crowd(pool, size);
  });

  test('has an exact total if it is not filtered', async () => {
    const listed = await contacts.list(caller, { page: 101, per_page: 100 });
    expect(listed).toMatchObject({ total: size, totalIsMinimum: false, more: false });
    expect(listed.rows).toHaveLength(40);
  });

  test('has a minimum as its total if it is filtered, and pages beyond it', async () => {
    const list = (page: number) =>
      contacts.list(caller, { search: 'ada', sort: 'name', per_page: 100, page });
    expect(await list(1)).toMatchObject({ total: 10_000, totalIsMinimum: true, more: true });
    expect(await list(100)).toMatchObject({ total: 10_000, totalIsMinimum: true, more: true });
    const beyond = await list(101);
    expect(beyond).toMatchObject({ total: 10_000, totalIsMinimum: true, more: false });
    const order = await inOrder(pool, caller.tenantId, 'name', false);
    expect(beyond.rows.map(({ id }) => id)).toEqual(order.slice(10_000));
  });

  test('is counted completely on request, or if a page is beyond the end', async () => {
    const search = 'ada';
    for (const query of [{ exact_total: true }, { page: 900 }, { page: 402, exact_total: true }]) {
      const listed = await contacts.list(caller, { search, ...query });
      expect(listed).toMatchObject({ total: size, totalIsMinimum: false });
      expect(listed.page).toBe(Math.min(query.page ?? 1, Math.ceil(size / 25)));
    }
  });

  describe.each(['owner_id', 'tag'])('by %s', (filter) => {
    const owner = randomUUID();
    const list = (query: object) =>
      contacts.list(caller, {
        [filter]: filter === 'tag' ? 'all' : owner,
        sort: 'name',
        ...query,
      });
    let order: string[];
    beforeAll(async () => {
      await pool.query(
        `UPDATE tenant_crm.contacts SET tags = '{all}', owner_id = $2 WHERE tenant_id = $1`,
        [caller.tenantId, owner],
      );
      order = await inOrder(pool, caller.tenantId, 'name', false);
    });

    // The first request finds out that there are many.
    test.each([1, 2, 400, 401])('has page %d in order, whenever it is requested', async (page) => {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const { rows, ...position } = await list({ page });
        expect(rows.map(({ id }) => id)).toEqual(order.slice(page * 25 - 25, page * 25));
        expect(position).toMatchObject({ total: 10_000, totalIsMinimum: true, more: true });
      }
    });

    test('is counted completely on request', async () => {
      expect(await list({ exact_total: true })).toMatchObject({ total: size, more: true });
    });

    test('has an exact total as soon as there are no more than 10,000', async () => {
      const deleted = order.slice(0, 40);
      const set = (time: string) =>
        pool.query(
          `UPDATE tenant_crm.contacts SET deleted_at = ${time} WHERE tenant_id = $1 AND id = ANY ($2)`,
          [caller.tenantId, deleted],
        );
      await set('now()');
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const { rows, ...position } = await list({ page: 400 });
        expect(rows.map(({ id }) => id)).toEqual(order.slice(-25));
        expect(position).toMatchObject({ total: 10_000, totalIsMinimum: false, more: false });
      }
      await set('NULL');
      expect(await list({ page: 1 })).toMatchObject({ total: 10_000, totalIsMinimum: true });
    });
  });

  test('is scanned once for a page far beyond the end', async () => {
    const statements: Statement[] = [];
    const counting: TenantSource = {
      forTenant(tenantId) {
        const db = database.forTenant(tenantId);
        return withMethods(db, {
          read: (statement) => {
            statements.push(statement);
            return db.read(statement);
          },
        });
      },
    };
    for (const query of [{ page: 1_000_000_000 }, { page: 1_000_000_000, exact_total: true }]) {
      statements.length = 0;
      const listed = await createRecords(contact, counting).list(caller, {
        search: 'ada',
        ...query,
      });
      expect(listed).toMatchObject({ total: size, page: Math.ceil(size / 25), more: false });
      expect(listed.rows).toHaveLength(size % 25);
      expect(statements).toHaveLength(1);
      const db = database.forTenant(caller.tenantId);
      const rows = await Promise.all(statements.map((statement) => rowsScanned(db, statement)));
      expect(rows).toEqual([size + (size % 25)]);
    }
  });

  test('is also in order if all hits are at its end', async () => {
    await pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, last_name)
       SELECT gen_random_uuid(), $1, 'Bob', '0' FROM generate_series(1, 5100)`,
      [caller.tenantId],
    );
    const order = await inOrder(pool, caller.tenantId, 'name', false, "first_name = 'Ada'");
    for (const page of [1, 2]) {
      const { rows, more } = await contacts.list(caller, { search: 'ada', sort: 'name', page });
      expect(rows.map(({ id }) => id)).toEqual(order.slice(page * 25 - 25, page * 25));
      expect(more).toBe(true);
    }
  });

  test('is exact at 10,000 hits', async () => {
    await pool.query(
      `UPDATE tenant_crm.contacts SET deleted_at = now() WHERE id IN (
         SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 AND first_name = 'Ada' LIMIT 40)`,
      [caller.tenantId],
    );
    const listed = await contacts.list(caller, { search: 'ada' });
    expect(listed).toMatchObject({ total: 10_000, totalIsMinimum: false });
  });
});
