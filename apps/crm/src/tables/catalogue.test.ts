import { brokenTableRules } from '../testing/catalogue.ts';
import { onCitus } from '../testing/distributed-tables.ts';
import { openDatabase } from '../testing/records.ts';

const { pool, close } = await openDatabase();
afterAll(close);

test('Every table of the schema can be spread by tenant', async () => {
  expect(await brokenTableRules(pool)).toEqual([]);
});

test('The planner expects large tenants in every table', async () => {
  const { rows } = await pool.query<{ name: string; is_expected: boolean }>(`
    SELECT relname AS name, coalesce('n_distinct=50' = ANY (attoptions), FALSE) AS is_expected
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind IN ('r', 'p') AND attname = 'tenant_id'`);
  expect(rows.length).toBeGreaterThan(0);
  // Citus does not support the setting.
  const expected = rows.map(({ name }) => ({ name, is_expected: !onCitus }));
  expect(rows).toEqual(expected);
});

describe('A table is refused', () => {
  const COLUMNS = 'tenant_id uuid NOT NULL, id uuid NOT NULL, slug text, other_id uuid';
  const KEY = 'PRIMARY KEY (tenant_id, id)';

  /** The findings after adding a table to the schema. */
  const planted = async (definition: string, more: readonly string[] = []): Promise<string[]> => {
    await pool.query(`CREATE TABLE tenant_crm.planted (${definition})`);
    try {
      for (const statement of more) await pool.query(statement);
      return await brokenTableRules(pool);
    } finally {
      await pool.query('DROP TABLE tenant_crm.planted');
    }
  };

  test.each([
    [
      'without a tenant',
      'id uuid PRIMARY KEY',
      [
        'tenant_id must be uuid NOT NULL',
        'planted_pkey lacks tenant_id',
        'the primary key must be (tenant_id, id)',
      ],
    ],
    [
      'whose tenant may be null',
      'tenant_id uuid, slug text',
      ['tenant_id must be uuid NOT NULL', 'there is no primary key'],
    ],
    [
      'whose tenant is a text',
      'tenant_id text, slug text, PRIMARY KEY (tenant_id, slug)',
      ['tenant_id must be uuid NOT NULL'],
    ],
    ['without a primary key', COLUMNS, ['there is no primary key']],
    [
      'with the id alone as its key',
      `${COLUMNS}, PRIMARY KEY (id)`,
      ['planted_pkey lacks tenant_id', 'the primary key must be (tenant_id, id)'],
    ],
    [
      'with the id first in its key',
      `${COLUMNS}, PRIMARY KEY (id, tenant_id)`,
      ['the primary key must be (tenant_id, id)'],
    ],
    [
      'with numbers as ids',
      'tenant_id uuid, id bigint, PRIMARY KEY (tenant_id, id)',
      ['id must be uuid'],
    ],
    [
      'with a column that is unique among all tenants',
      `${COLUMNS}, ${KEY}, UNIQUE (slug)`,
      ['planted_slug_key lacks tenant_id'],
    ],
    [
      'with a unique constraint of another name',
      `${COLUMNS}, ${KEY}, CONSTRAINT one_slug UNIQUE (tenant_id, slug)`,
      ['one_slug must be named planted_slug_key'],
    ],
    [
      'that excludes rows of other tenants',
      `${COLUMNS}, ${KEY}, EXCLUDE (slug WITH =)`,
      ['planted_slug_excl lacks tenant_id'],
    ],
    [
      'with an exclusion constraint of another name',
      `${COLUMNS}, ${KEY}, EXCLUDE (tenant_id WITH =, slug WITH =)`,
      ['planted_tenant_id_slug_excl must be named planted_slug_excl'],
    ],
    [
      'that refers to other tenants',
      `${COLUMNS}, ${KEY}, other_tenant uuid, CONSTRAINT planted_other_tenant_other_id_fkey FOREIGN KEY (other_tenant, other_id) REFERENCES tenant_crm.companies (tenant_id, id)`,
      ['planted_other_tenant_other_id_fkey lacks tenant_id'],
    ],
    [
      'with a reference of another name',
      `${COLUMNS}, ${KEY}, FOREIGN KEY (tenant_id, other_id) REFERENCES tenant_crm.companies (tenant_id, id)`,
      ['planted_tenant_id_other_id_fkey must be named planted_other_id_fkey'],
    ],
    [
      'with ON DELETE SET NULL',
      `${COLUMNS}, ${KEY}, CONSTRAINT planted_other_id_fkey FOREIGN KEY (tenant_id, other_id) REFERENCES tenant_crm.companies (tenant_id, id) ON DELETE SET NULL (other_id)`,
      ['planted_other_id_fkey sets columns to null or to their default'],
    ],
    [
      'with a check of another name',
      `${COLUMNS}, ${KEY}, CONSTRAINT short CHECK (length(slug) < 9)`,
      ['short must be named planted_<column>_check'],
    ],
    [
      'with a sequence of integers',
      `${COLUMNS}, ${KEY}, place serial`,
      ['place has a sequence and must be bigint', 'planted_place_seq: sequences must be bigint'],
    ],
    [
      'with an identity of integers',
      `${COLUMNS}, ${KEY}, place integer GENERATED ALWAYS AS IDENTITY (MAXVALUE 99)`,
      ['place has a sequence and must be bigint', 'planted_place_seq: sequences must be bigint'],
    ],
  ])('%s', async (_, definition, broken) => {
    const expected = broken.map((rule) =>
      rule.startsWith('planted_place_seq:') ? rule : `planted: ${rule}`,
    );
    expect(await planted(definition)).toEqual(expected.sort());
  });

  test('with a unique index among all tenants, a name of its own, or an expression', async () => {
    const index = (name: string, columns: string) =>
      `CREATE UNIQUE INDEX ${name} ON tenant_crm.planted (${columns})`;
    expect(
      await planted(`${COLUMNS}, ${KEY}`, [
        index('planted_slug_key', 'slug'),
        index('own_name', 'tenant_id, slug, other_id'),
        index('planted_lower_key', 'tenant_id, lower(slug)'),
        index('planted_other_id_key', "tenant_id, (other_id::text || 'x')"),
      ]),
    ).toEqual([
      'planted: own_name must be named planted_slug_other_id_key',
      'planted: planted_lower_key must be named planted_<column>_key',
      'planted: planted_slug_key lacks tenant_id',
    ]);
  });

  test('with a trigger that was not made by keep_count, keep_tag_counts or refer', async () => {
    const trigger = `CREATE TRIGGER own BEFORE INSERT ON tenant_crm.planted
      FOR EACH STATEMENT EXECUTE FUNCTION tenant_crm.count_contacts()`;
    expect(
      await planted(`${COLUMNS}, deleted_at timestamptz, ${KEY}`, [
        trigger,
        "SELECT tenant_crm.keep_count('tenant_crm.planted', 'other_id')",
        "SELECT tenant_crm.refer('tenant_crm.planted', 'other_id', 'tenant_crm.companies')",
      ]),
    ).toEqual(['planted: the trigger own is not of keep_count, keep_tag_counts or refer']);
  });
});
