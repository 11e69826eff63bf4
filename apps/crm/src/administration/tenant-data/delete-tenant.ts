import {
  type CatalogueTable,
  readTables,
  referringFirst,
  violatedConstraint,
} from '@tessera/database-kit';
import type { FileStore, ObjectPage, PageOptions } from '@tessera/file-store';
import pg, { type Pool } from 'pg';
import { JOB_SCHEMA } from '../../database.ts';

/** Rows or objects at once. */
const BATCH = 1000;

/** How often all tables are passed through: rows that others add meanwhile, and counts of deleted rows. */
const MAX_PASSES = 5;

interface DeletionOptions {
  readonly pool: Pool;
  readonly store: FileStore;
  readonly tenantId: string;
  readonly batch?: number;
}

const { escapeIdentifier: quoted } = pg;

/** Deletes up to $2 rows of a tenant to which no other row of the table refers. */
const deletionFrom = ({ name, key, references }: CatalogueTable): string => {
  const table = `tenant_crm.${quoted(name)}`;
  const columns = (alias: string) => key.map((column) => `${alias}.${quoted(column)}`).join(', ');
  const unreferred = references
    .filter((reference) => reference.table === name)
    .map(({ columns: pairs }) => {
      const matches = Object.entries(pairs).map(
        ([here, there]) => `child.${quoted(here)} = row.${quoted(there)}`,
      );
      return ` AND NOT EXISTS (
        SELECT FROM ${table} AS child WHERE child.tenant_id = $1 AND ${matches.join(' AND ')})`;
    });
  return `DELETE FROM ${table} AS gone WHERE gone.tenant_id = $1 AND (${columns('gone')}) IN (
    SELECT ${columns('row')} FROM ${table} AS row WHERE row.tenant_id = $1${unreferred.join('')} LIMIT $2)`;
};

/** What a pass did to a table. */
interface TablePass {
  readonly deleted: number;
  /** The error of a row that was added meanwhile and refers to one of the table's; undefined if the table is empty. */
  readonly referred?: unknown;
}

const deleteRows = async (
  { pool, tenantId, batch = BATCH }: DeletionOptions,
  table: CatalogueTable,
): Promise<TablePass> => {
  const statement = deletionFrom(table);
  let deleted = 0;
  try {
    for (;;) {
      const { rowCount } = await pool.query(statement, [tenantId, batch]);
      if (!rowCount) return { deleted };
      deleted += rowCount;
    }
  } catch (error) {
    if (violatedConstraint(error)?.kind !== 'foreign_key') throw error;
    return { deleted, referred: error };
  }
};

/** Deletes the jobs of the tenant, which have nothing left to do. */
const deleteJobs = async ({ pool, tenantId }: DeletionOptions): Promise<number> => {
  const { rows } = await pool.query(
    `SELECT to_regclass('${JOB_SCHEMA}.job') IS NOT NULL AS exists`,
  );
  if (!rows[0].exists) return 0;
  const { rowCount } = await pool.query(
    `DELETE FROM ${JOB_SCHEMA}.job WHERE data ->> 'tenant_id' = $1`,
    [tenantId],
  );
  return rowCount ?? 0;
};

async function* objectsOf(
  list: (options: PageOptions) => Promise<ObjectPage>,
  first: string | undefined,
): AsyncGenerator<ObjectPage['objects']> {
  let after = first;
  do {
    const page = await list({ after, limit: BATCH });
    yield page.objects;
    after = page.next;
  } while (after !== undefined);
}

/**
 * Throws if the tables name files of the tenant and the store has none of its objects. Once the rows are gone, nothing
 * says that another store has them.
 */
export const requireFiles = async ({ pool, store, tenantId }: DeletionOptions): Promise<void> => {
  const { rows } = await pool.query(
    'SELECT EXISTS (SELECT FROM tenant_crm.file_contents WHERE tenant_id = $1) AS named',
    [tenantId],
  );
  if (!rows[0].named) return;
  for await (const [first] of objectsOf(store.list, `${tenantId}/`)) {
    if (first?.tenantId === tenantId) return;
    if (first !== undefined) break;
  }
  throw new Error(
    'The database names files of the tenant, and the store has none of them. Use the settings of the service, or --files-lost.',
  );
};

/** Deletes every object of the tenant in the store, complete or not, whatever the tables know of it. */
const deleteObjects = async ({ store, tenantId }: DeletionOptions): Promise<number> => {
  let deleted = 0;
  // The store lists objects in the order of their paths, which begin with the tenant.
  for await (const objects of objectsOf(store.list, `${tenantId}/`)) {
    const own = objects.filter((object) => object.tenantId === tenantId);
    for (const object of own) await store.delete(object);
    deleted += own.length;
    if (objects.some((object) => object.tenantId > tenantId)) break;
  }
  for await (const objects of objectsOf(store.listUnfinished, undefined)) {
    for (const object of objects) if (object.tenantId === tenantId) await store.delete(object);
  }
  return deleted;
};

/**
 * Deletes everything that CRM has of a tenant: the rows of all tables in batches, its jobs, and its objects in the file
 * store. It can be interrupted and run again. Nobody may use the tenant meanwhile; throws if rows keep appearing.
 */
export const deleteTenant = async (options: DeletionOptions) => {
  const tables = referringFirst(await readTables(options.pool, 'tenant_crm'));
  const deleted: Record<string, number> = {};
  const jobs = await deleteJobs(options);
  for (let pass = 1; ; pass += 1) {
    let found = 0;
    let cause: unknown;
    for (const table of tables) {
      const { deleted: count, referred } = await deleteRows(options, table);
      if (count > 0) deleted[table.name] = (deleted[table.name] ?? 0) + count;
      found += count;
      cause ??= referred;
    }
    if (found === 0 && cause === undefined) break;
    if (pass === MAX_PASSES) {
      const violation = cause instanceof Error ? ` (${cause.message})` : '';
      throw new Error(
        `Rows of the tenant keep appearing${violation}. Make sure that nobody uses it, and run this again.`,
        { cause },
      );
    }
  }
  const rows = Object.values(deleted).reduce((sum, count) => sum + count, 0);
  return { tenant_id: options.tenantId, rows, files: await deleteObjects(options), jobs };
};
