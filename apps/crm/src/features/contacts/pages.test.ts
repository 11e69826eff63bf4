import fc from 'fast-check';
import { createRecords } from '../../records/records.ts';
import { columns, crowd, inOrder } from '../../testing/crowd.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { contact } from './contacts.kind.ts';

const { pool, database, close } = await openDatabase();
const contacts = createRecords(contact, database);
afterAll(close);

const sorts = Object.keys(columns) as (keyof typeof columns)[];

const sortedBy = (sort: keyof typeof columns, descending: boolean) =>
  descending ? (`-${sort}` as const) : sort;

describe('Pages', () => {
  test('together are the whole list in order, for every sort', async () => {
    const caller = await crowd(pool, 230);
    for (const sort of sorts) {
      for (const descending of [false, true]) {
        const seen: string[] = [];
        for (let page = 1, more = true; more; page += 1) {
          const query = { sort: sortedBy(sort, descending), page, per_page: 30 };
          const listed = await contacts.list(caller, query);
          seen.push(...listed.rows.map(({ id }) => id));
          more = listed.more;
        }
        expect(seen).toEqual(await inOrder(pool, caller.tenantId, sort, descending));
      }
    }
  });

  test('equal those of a plain OFFSET, at any depth, in both directions, filtered or not', async () => {
    const caller = await crowd(pool, 5000);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sorts),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (sort, descending, narrowed, per_page, depth) => {
          const condition = narrowed ? "tags @> ARRAY['even']" : 'true';
          const all = await inOrder(pool, caller.tenantId, sort, descending, condition);
          const last = Math.ceil(all.length / per_page);
          const page = 1 + Math.floor(depth * (last - 1));
          const listed = await contacts.list(caller, {
            sort: sortedBy(sort, descending),
            page,
            per_page,
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

  test('beyond the end return the last page', async () => {
    const caller = await crowd(pool, 120);
    for (const query of [
      {},
      { tag: 'even' },
      { search: 'ada' },
      { tag: 'even', exact_total: true },
    ]) {
      for (const page of [7, 900_000_000]) {
        const listed = await contacts.list(caller, { page, per_page: 50, ...query });
        const total = 'tag' in query ? 60 : 120;
        expect(listed).toMatchObject({ page: Math.ceil(total / 50), total, more: false });
        expect(listed.rows).toHaveLength(total % 50);
      }
    }
  });

  test('near the end are those of the list as it is, after it became shorter or longer', async () => {
    const caller = await crowd(pool, 1510);
    const lastIds = async (page: number) => {
      const { rows, ...listed } = await contacts.list(caller, { sort: 'name', page, per_page: 50 });
      const all = await inOrder(pool, caller.tenantId, 'name', false);
      const offset = (listed.page - 1) * 50;
      expect(rows.map(({ id }) => id)).toEqual(all.slice(offset, offset + 50));
      return listed;
    };
    expect(await lastIds(31)).toMatchObject({ page: 31, total: 1510, more: false });
    expect(await lastIds(30)).toMatchObject({ page: 30, total: 1510, more: true });
    await pool.query(
      'UPDATE tenant_crm.contacts SET deleted_at = now() WHERE tenant_id = $1 AND last_name IN ($2, $3)',
      [caller.tenantId, 'B', 'G'],
    );
    expect(await lastIds(31)).toMatchObject({ page: 22, total: 1079, more: false });
    await pool.query('UPDATE tenant_crm.contacts SET deleted_at = NULL WHERE tenant_id = $1', [
      caller.tenantId,
    ]);
    expect(await lastIds(22)).toMatchObject({ page: 22, total: 1510, more: true });
    expect(await lastIds(40)).toMatchObject({ page: 31, total: 1510, more: false });
    // So many that the page is no longer near the end.
    await pool.query(
      `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name, last_name)
       SELECT gen_random_uuid(), tenant_id, first_name, last_name
       FROM tenant_crm.contacts WHERE tenant_id = $1 LIMIT 1200`,
      [caller.tenantId],
    );
    expect(await lastIds(31)).toMatchObject({ page: 31, total: 2710, more: true });
    expect(await lastIds(55)).toMatchObject({ page: 55, total: 2710, more: false });
  });

  test('of an empty list are one empty page', async () => {
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
