import type pg from 'pg';

interface Column {
  readonly name: string;
  readonly type: string;
  /** The table that it refers to. */
  readonly target: string | null;
  /** Whether a check constraint lists its values. */
  readonly is_enumeration: boolean;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns of each unique index, without the tenant; times make rows differ in exclusion constraints. */
  readonly keys: readonly (readonly string[])[];
}

/** Triggers maintain these. */
const MAINTAINED = ['record_counts', 'tag_counts', 'outbox'];

const readTables = async (client: pg.Client): Promise<Table[]> => {
  const { rows } = await client.query<Table>(`
    SELECT relname::text AS name, (
      SELECT json_agg(json_build_object(
        'name', attname, 'type', format_type(atttypid, NULL),
        'target', (
          SELECT (SELECT relname FROM pg_class WHERE oid = confrelid) FROM pg_constraint
          WHERE conrelid = pg_class.oid AND contype = 'f' AND conparentid = 0 AND attnum = ANY (conkey)
            AND attname <> 'tenant_id'
          LIMIT 1
        ),
        'is_enumeration', EXISTS (
          SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'c' AND attnum = ANY (conkey)
            AND pg_get_constraintdef(pg_constraint.oid) LIKE '%ARRAY[%'
        )) ORDER BY attnum)
      FROM pg_attribute
      WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ) AS columns, (
      SELECT coalesce(json_agg(ARRAY(
        SELECT attname FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum = ANY (indkey) AND attname <> 'tenant_id'
      )), '[]')
      FROM pg_index WHERE indrelid = pg_class.oid AND indisunique AND NOT indisexclusion
    ) AS keys
    FROM pg_class
    WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`);
  return rows.filter(({ name }) => !MAINTAINED.includes(name));
};

const TIME = 'timestamp with time zone';
const NUMBERS = ['smallint', 'integer', 'bigint'];

/** The column that makes copies of a row differ in a unique key; undefined if all of them are alike. */
const distinguishing = ({ columns }: Table, key: readonly string[]): string | undefined => {
  const own = columns.filter(
    ({ name, type, target, is_enumeration: isEnumeration }) =>
      key.includes(name) && target === null && !(type === 'text' && isEnumeration),
  );
  const of = (...types: readonly string[]) => own.find(({ type }) => types.includes(type));
  const found =
    own.find(({ name }) => name === 'id') ?? of(TIME, ...NUMBERS) ?? of('uuid') ?? of('text');
  return found?.name;
};

/** The references by which copies differ in a key that consists of several references; none in any other key. */
const varyingReferences = ({ columns }: Table, key: readonly string[]): Column[] => {
  const references = columns.filter(({ name, target }) => key.includes(name) && target !== null);
  return references.length > 1 && references.length === key.length ? references : [];
};

/** The value of a column in copy `n` of the row `one`, as SQL. A third of them refers to the record
 * `popular`. */
const copied = (column: Column, isKey: boolean, popular: string | undefined): string => {
  const { name, type, target, is_enumeration: isEnumeration } = column;
  const value = `one.${name}`;
  if (name === 'tenant_id') return value;
  if (target !== null) {
    const some = popular ? `'${popular}'` : value;
    return `CASE WHEN n % 3 = 0 AND ${value} IS NOT NULL THEN ${some} ELSE ${value} END`;
  }
  if (type === 'uuid' && name === 'record_id') return value;
  if (type === 'uuid') {
    const pooled = `CASE WHEN n % 3 > 0 AND ${value} IS NOT NULL THEN md5('${name}' || n % 50)::uuid ELSE ${value} END`;
    return isKey ? 'gen_random_uuid()' : pooled;
  }
  if (type === 'uuid[]') {
    return `CASE WHEN n % 2 = 0 OR ${value} = '{}' THEN ${value} ELSE ARRAY[md5('${name}' || n % 50)::uuid] END`;
  }
  if (type === TIME) return `${value} + n * interval '1 day'`;
  if (type === 'date') return `${value} + n`;
  // In steps, because several originals may be numbered within one record.
  if (NUMBERS.includes(type)) return isKey ? `${value} + 10 * n` : value;
  if (type === 'text[]') {
    return `ARRAY(SELECT CASE WHEN item ILIKE 'sample%' THEN item || n % 200 ELSE item END FROM unnest(${value}) AS item)`;
  }
  if (type !== 'text' || isEnumeration) return value;
  const separator = `CASE WHEN ${value} = upper(${value}) THEN 'X' ELSE 'x' END`;
  const varied = `CASE WHEN ${value} LIKE '%@%' THEN n || ${value} ELSE ${value} || ${separator} || n END`;
  // A text without a blank may be one of an enumeration that only the service knows.
  return isKey ? varied : `CASE WHEN ${value} ~ '[ @]' THEN ${varied} ELSE ${value} END`;
};

/** Most tenants are small: a plan that is made for all of them must suit the largest one, too. */
const SMALL_TENANTS = 300;
const ROWS_OF_SMALL_TENANT = 4;

/** How tables are filled. */
export interface Filling {
  /** How many rows the tenant gets in each table. */
  readonly rows: number;
  /** Table -> the most rows that a tenant can have. */
  readonly limits: ReadonlyMap<string, number>;
}

/** The first live record of each table; a third of the copies refers to these. */
const popularRecords = async (
  client: pg.Client,
  tenantId: string,
  tables: readonly Table[],
): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  for (const { name, columns } of tables) {
    const names = columns.map((column) => column.name);
    if (!names.includes('id')) continue;
    const live = names.includes('deleted_at') ? 'AND deleted_at IS NULL' : '';
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM tenant_crm.${name} WHERE tenant_id = $1 ${live} ORDER BY id LIMIT 1`,
      [tenantId],
    );
    if (rows[0]) found.set(name, rows[0].id);
  }
  return found;
};

/** Copies the rows of the tenant in one table until there are enough. */
const multiply = async (
  client: pg.Client,
  tenantId: string,
  table: Table,
  rows: number,
  popular: ReadonlyMap<string, string>,
): Promise<void> => {
  const { name, columns, keys } = table;
  const varying = keys.flatMap((key) => varyingReferences(table, key));
  const chosen = keys.map(
    (key) => distinguishing(table, key) ?? varyingReferences(table, key)[0]?.name,
  );
  if (chosen.includes(undefined)) return;
  const values = columns.map((column) => {
    if (varying.includes(column)) {
      const targets = `FROM tenant_crm.${column.target} WHERE tenant_id = $1`;
      return `(SELECT id ${targets} ORDER BY id OFFSET n % (SELECT count(*) ${targets}) LIMIT 1)`;
    }
    return copied(
      column,
      chosen.includes(column.name) ||
        (NUMBERS.includes(column.type) && keys.flat().includes(column.name)),
      popular.get(column.target ?? ''),
    );
  });
  const names = columns.map((column) => column.name).join(', ');
  // Long histories of few records.
  const own = columns.some((column) => column.name === 'record_id')
    ? `AND (record_id IS NULL OR record_id = ANY ('{${[...popular.values()].join(',')}}'::uuid[]))`
    : '';
  await client.query(
    `WITH originals AS MATERIALIZED (
       SELECT *, row_number() OVER () AS place FROM tenant_crm.${name} WHERE tenant_id = $1 ${own}
     ), copies AS (
       SELECT originals.*, (i * (SELECT count(*) FROM originals) + place)::int AS n
       FROM originals, generate_series(1, (SELECT ceil($2::numeric / greatest(count(*), 1))::int FROM originals)) AS i
     )
     INSERT INTO tenant_crm.${name} (${names})
     SELECT ${values.join(', ')} FROM (SELECT * FROM copies ORDER BY n LIMIT $2) AS one
     ON CONFLICT DO NOTHING`,
    [tenantId, rows],
  );
};

/**
 * Fills all tables from the rows that a tenant has: copies them until there are about `rows` in each table, and some
 * of them to small tenants. Copies differ in keys and times, and belong to few users. Returns for each table the
 * record that a third of the copies refers to.
 */
export const fillTables = async (
  client: pg.Client,
  tenantId: string,
  { rows, limits }: Filling,
): Promise<ReadonlyMap<string, string>> => {
  const tables = await readTables(client);
  const popular = await popularRecords(client, tenantId, tables);
  const varies = (table: Table) =>
    table.keys.some((key) => varyingReferences(table, key).length > 0);
  // Tables whose copies refer to different records come last.
  for (const table of [...tables.filter((one) => !varies(one)), ...tables.filter(varies)]) {
    const { rows: found } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM tenant_crm.${table.name} WHERE tenant_id = $1`,
      [tenantId],
    );
    const count = found[0]?.count ?? 0;
    const more = Math.min(rows, limits.get(table.name) ?? rows) - count;
    if (count > 0 && more > 0) await multiply(client, tenantId, table, more, popular);
  }
  // Without foreign keys: of the rows that these refer to, a small tenant has only some.
  await client.query('SET session_replication_role = replica');
  for (const { name, columns } of tables) {
    const names = columns.map((column) => column.name);
    const values = names.map((column) =>
      column === 'tenant_id' ? "md5('tenant ' || other)::uuid" : `one.${column}`,
    );
    await client.query(
      `INSERT INTO tenant_crm.${name} (${names.join(', ')})
       SELECT ${values.join(', ')} FROM generate_series(1, ${SMALL_TENANTS}) AS other,
         (SELECT * FROM tenant_crm.${name} WHERE tenant_id = $1 LIMIT ${ROWS_OF_SMALL_TENANT}) AS one`,
      [tenantId],
    );
  }
  await client.query('SET session_replication_role = origin');
  await client.query('VACUUM ANALYZE');
  return popular;
};
