import { type CatalogueColumn, readTables, referringFirst } from '@tessera/database-kit';
import pg, { type Pool } from 'pg';

const { escapeIdentifier: quoted, escapeLiteral } = pg;

/** Every table of every schema of the database. */
const allTables = async (pool: Pool): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_toast'
     ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
};

/** The tables of the database with a row that contains the text in any column, in any case. */
export const tablesWith = async (pool: Pool, text: string): Promise<string[]> => {
  const tables = await allTables(pool);
  const queries = tables.map(
    (name) =>
      `SELECT ${escapeLiteral(name)} AS name WHERE EXISTS (
         SELECT FROM ${name} AS searched WHERE strpos(lower(searched::text), lower($1)) > 0)`,
  );
  const { rows } = await pool.query<{ name: string }>(queries.join(' UNION ALL '), [text]);
  return rows.map(({ name }) => name);
};

/** The columns whose JSON is a list, and the member of its items that has the text: the database makes search text of them. */
const LISTS: Readonly<Record<string, string>> = {
  emails: 'email',
  phones: 'phone',
  addresses: 'city',
};

/** A value of a column that contains `mark` if its type can. */
const valueFor = ({ name, type }: CatalogueColumn, mark: string): string => {
  if (name === 'deleted_at') return 'NULL';
  if (type.endsWith('[]')) return type === 'text[]' ? `ARRAY[${escapeLiteral(mark)}]` : `'{}'`;
  if (type.startsWith('timestamp')) return 'now()';
  const member = LISTS[name];
  if (member !== undefined) {
    const text = escapeLiteral(mark);
    return `jsonb_build_array(jsonb_build_object('label', ${text}, '${member}', ${text}))`;
  }
  const values: Readonly<Record<string, string>> = {
    uuid: 'gen_random_uuid()',
    text: `${escapeLiteral(`${mark} `)} || gen_random_uuid()`,
    jsonb: `jsonb_build_object('text', ${escapeLiteral(mark)})`,
    json: `json_build_object('text', ${escapeLiteral(mark)})`,
    boolean: 'false',
    date: 'current_date',
    bytea: `convert_to(${escapeLiteral(mark)}, 'UTF8')`,
    tsvector: `to_tsvector('simple', ${escapeLiteral(mark)})`,
  };
  return values[type] ?? '1';
};

/**
 * Adds a row with the mark in all its texts to every table of the tenant, and a row that refers to it to each table that
 * refers to itself. Removes the check constraints of the database, which such rows violate.
 */
export const fillEveryTable = async (pool: Pool, tenantId: string, mark: string): Promise<void> => {
  await pool.query(`DO $$ DECLARE item record; BEGIN
    FOR item IN SELECT conrelid::regclass AS name, conname FROM pg_constraint
      WHERE contype = 'c' AND connamespace = 'tenant_crm'::regnamespace AND coninhcount = 0 LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', item.name, item.conname);
    END LOOP; END $$`);
  const tables = referringFirst(await readTables(pool, 'tenant_crm')).reverse();
  const rows = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { name, columns, references } of tables) {
    const written = columns.filter(({ isGenerated }) => !isGenerated);
    const refersToItself = references.some(({ table }) => table === name);
    for (let round = 0; round < (refersToItself ? 2 : 1); round += 1) {
      const values = written.map((column) => {
        if (column.name === 'tenant_id') return escapeLiteral(tenantId);
        const reference = references.find(({ columns: pairs }) => column.name in pairs);
        if (!reference) return valueFor(column, mark);
        const target = rows.get(reference.table);
        return target
          ? escapeLiteral(String(target[reference.columns[column.name] as string]))
          : 'NULL';
      });
      const { rows: inserted } = await pool.query(
        `INSERT INTO tenant_crm.${quoted(name)} (${written.map((column) => quoted(column.name)).join(', ')})
         VALUES (${values.join(', ')}) ON CONFLICT DO NOTHING RETURNING *`,
      );
      if (inserted[0]) rows.set(name, inserted[0]);
    }
  }
};
