import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The columns of a new record by name. */
export type NewValues = Readonly<Record<string, unknown>>;

const readColumnsWithDefault = async (
  db: TenantDb,
  table: string,
): Promise<ReadonlySet<string>> => {
  const found = await db.query<{ name: string }>(Prisma.sql`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${`tenant_crm.${table}`}::regclass AND atthasdef AND NOT attisdropped`);
  return new Set(found.map(({ name }) => name));
};

/** The columns with a default of each table, which stay the same while the process runs. */
const columnsByTable = new Map<string, Promise<ReadonlySet<string>>>();

const columnsWithDefault = (db: TenantDb, table: string): Promise<ReadonlySet<string>> => {
  const known = columnsByTable.get(table);
  if (known) return known;
  const read = readColumnsWithDefault(db, table);
  columnsByTable.set(table, read);
  read.catch(() => columnsByTable.delete(table));
  return read;
};

/**
 * Divides new records of a table into groups for one INSERT each: a column that has a default is given by all records of a
 * group or by none, because a single INSERT would write NULL for those that lack it.
 */
export const groupByDefaults = async (
  db: TenantDb,
  table: string,
  records: readonly NewValues[],
): Promise<Iterable<readonly NewValues[]>> => {
  if (records.length === 0) return [];
  const given = [...new Set(records.flatMap(Object.keys))];
  const partial = given.filter((column) => records.some((one) => !Object.hasOwn(one, column)));
  if (partial.length === 0) return [records];
  const defaults = await columnsWithDefault(db, table);
  const deciding = partial.filter((column) => defaults.has(column));
  const groups = new Map<string, NewValues[]>();
  for (const one of records) {
    const own = deciding.filter((column) => Object.hasOwn(one, column)).join();
    const group = groups.get(own);
    if (group) group.push(one);
    else groups.set(own, [one]);
  }
  return groups.values();
};
