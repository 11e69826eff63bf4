import { randomUUID } from 'node:crypto';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { bulkLoad } from './bulk-load.ts';

let pool: pg.Pool;
beforeEach(async () => {
  const { url } = await freshDatabase('empty', async () => {});
  pool = new pg.Pool({ connectionString: url });
});
afterEach(() => pool.end());

const TABLE =
  'things (tenant_id uuid NOT NULL, id uuid NOT NULL, name text, PRIMARY KEY (tenant_id, id))';

const indexes = async (): Promise<unknown[]> =>
  (
    await pool.query(
      `SELECT indrelid::regclass::text AS table, pg_get_indexdef(indexrelid) AS definition, indisvalid AS is_valid
       FROM pg_index WHERE indrelid::regclass::text LIKE 'things%' ORDER BY 1, 2`,
    )
  ).rows;

test.each([
  ['a table', [`CREATE TABLE ${TABLE}`]],
  [
    'a partitioned table',
    [
      `CREATE TABLE ${TABLE} PARTITION BY HASH (tenant_id)`,
      'CREATE TABLE things_0 PARTITION OF things FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
      'CREATE TABLE things_1 PARTITION OF things FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
    ],
  ],
])(
  '%s has the same indexes after a bulk load that rebuilds them, all of them valid',
  async (_, statements) => {
    for (const statement of statements) await pool.query(statement);
    await pool.query(
      'CREATE INDEX things_by_name ON things (tenant_id, name) WHERE name IS NOT NULL',
    );
    await pool.query('CREATE UNIQUE INDEX things_name_key ON things (tenant_id, name)');
    const before = await indexes();
    const rows = Array.from({ length: 20 }, (_row, i) => ({
      tenant_id: randomUUID(),
      id: randomUUID(),
      name: `Thing ${i}`,
    }));
    await bulkLoad(pool, rows, { table: 'things', rebuildIndexes: true });
    expect(await indexes()).toEqual(before);
    expect(before).not.toContainEqual(expect.objectContaining({ is_valid: false }));
    expect((await pool.query('SELECT count(*)::int AS count FROM things')).rows).toEqual([
      { count: 20 },
    ]);
  },
);
