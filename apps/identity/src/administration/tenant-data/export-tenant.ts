import { createExportFolder } from '@tessera/command-line';
import { jsonRows } from '@tessera/database-kit';
import { isUuid } from '@tessera/fields';
import { noteCommand } from '../../activity/activity.ts';
import type { Session } from '../session.ts';
import { exportedTables, leftOutTables } from './exported-tables.ts';

const FORMAT = 'tessera-identity-tenant';
const FORMAT_VERSION = 1;

const queryOf = (name: string): string => {
  const { where, columns } = exportedTables[name] as (typeof exportedTables)[string];
  const selected = columns.map((column) =>
    typeof column === 'string' ? `row.${column}` : column[1],
  );
  return `SELECT ${selected.join(', ')} FROM identity.${name} AS row WHERE ${where} ORDER BY 1, 2`;
};

/**
 * Exports all data of a tenant, which is named by its slug or id, to a new folder: a file of JSON lines for each table,
 * without secrets and without what belongs to its members. Everything is read in one snapshot.
 */
export const exportTenant = async (
  { database, pool }: Pick<Session, 'database' | 'pool'>,
  slugOrId: string,
  folder: string,
) => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query('SET LOCAL statement_timeout = 0');
    const { rows } = await client.query<{ id: string; now: Date }>(
      `SELECT id, now() FROM identity.tenants WHERE ${isUuid(slugOrId) ? 'id' : 'slug'} = $1`,
      [slugOrId],
    );
    const [tenant] = rows;
    if (!tenant) throw new Error(`There is no tenant ${slugOrId}.`);
    const target = await createExportFolder(folder);
    const tables: Record<string, object> = {};
    let total = 0;
    for (const [name, { leftOut = {} }] of Object.entries(exportedTables)) {
      const lines = jsonRows(client, queryOf(name), [tenant.id]);
      const written = await target.writeLines(`tables/${name}.jsonl`, lines);
      tables[name] = { rows: written, left_out: leftOut };
      total += written;
    }
    await noteCommand(database, 'export-tenant', 'tenant_exported', { tenantId: tenant.id });
    await target.finish({
      format: FORMAT,
      format_version: FORMAT_VERSION,
      tenant_id: tenant.id,
      exported_at: tenant.now.toISOString(),
      tables,
      left_out_tables: leftOutTables,
    });
    return { tenant_id: tenant.id, folder, rows: total };
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
    client.release();
  }
};
