import type { ExportFolder } from '@tessera/command-line';
import { type CatalogueTable, jsonRows, readTables } from '@tessera/database-kit';
import pg from 'pg';
import { reasonToLeaveOut } from './left-out.ts';

const { escapeIdentifier: quoted } = pg;

/** What an export contains of a table, and what it leaves out with the reason. */
export interface TablePlan {
  readonly table: CatalogueTable;
  readonly exported: readonly string[];
  readonly leftOut: Readonly<Record<string, string>>;
}

const planOf = (table: CatalogueTable): TablePlan => {
  const exported: string[] = [];
  const leftOut: Record<string, string> = {};
  for (const column of table.columns) {
    const reason = reasonToLeaveOut(table, column);
    if (reason === undefined) exported.push(column.name);
    else leftOut[column.name] = reason;
  }
  return { table, exported, leftOut };
};

/** What happens to each column of each table. Throws if nobody has decided that for a column. */
export const exportPlan = (tables: readonly CatalogueTable[]): Map<string, TablePlan> =>
  new Map(tables.map((table) => [table.name, planOf(table)]));

/** A connection whose statements all read the same moment. */
export interface Snapshot {
  readonly client: pg.Client;
  readonly plan: ReadonlyMap<string, TablePlan>;
  readonly takenAt: Date;
}

/** Runs the work on one snapshot of the database. `directUrl` is the URL of PostgreSQL itself. */
export const inSnapshot = async <T>(
  directUrl: string,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({
    connectionString: directUrl,
    application_name: 'crm-admin',
    options: '-c TimeZone=UTC',
  });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ now: Date }>('SELECT now()');
    const plan = exportPlan(await readTables(client, 'tenant_crm'));
    const result = await work({ client, plan, takenAt: rows[0]?.now ?? new Date() });
    await client.query('COMMIT');
    return result;
  } finally {
    await client.end();
  }
};

/** Writes the rows of a table that meet a condition; returns their number. */
export const writeTable = (
  folder: ExportFolder,
  client: pg.Client,
  { table, exported }: TablePlan,
  condition: string,
  values: readonly unknown[],
): Promise<number> => {
  const query = `SELECT ${exported.map(quoted).join(', ')} FROM tenant_crm.${quoted(table.name)}
    WHERE ${condition} ORDER BY ${table.key.map(quoted).join(', ')}`;
  return folder.writeLines(`tables/${table.name}.jsonl`, jsonRows(client, query, values));
};
