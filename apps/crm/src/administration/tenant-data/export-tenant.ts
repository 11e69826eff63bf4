import { createHash } from 'node:crypto';
import { createExportFolder, type ExportFolder } from '@tessera/command-line';
import { type CatalogueTable, jsonRows, readTables } from '@tessera/database-kit';
import { type FileStore, ObjectMissing, ObjectTruncated } from '@tessera/file-store';
import pg from 'pg';
import { leftOutTables, reasonToLeaveOut } from './left-out.ts';

const FORMAT = 'tessera-crm-tenant';
const FORMAT_VERSION = 1;

/** How many files of each kind that could not be exported are listed; all are counted. */
const LISTED = 1000;

interface ExportOptions {
  /** The URL of PostgreSQL itself. */
  readonly directUrl: string;
  readonly store: FileStore;
  readonly tenantId: string;
  readonly folder: string;
}

interface ExportedContent {
  readonly id: string;
  readonly object_id: string;
  readonly sha256: string;
  readonly size: number;
  readonly scan_status: string;
  /** In hexadecimal, as PostgreSQL writes it. */
  readonly sealed_key: string | null;
}

/** Columns that the export contains, in their order, and those that it leaves out with the reason. */
const planOf = (table: CatalogueTable) => {
  const exported: string[] = [];
  const leftOut: Record<string, string> = {};
  for (const column of table.columns) {
    const reason = reasonToLeaveOut(table, column);
    if (reason === undefined) exported.push(column.name);
    else leftOut[column.name] = reason;
  }
  return { exported, leftOut };
};

/** What happens to each column of each table. Throws if nobody has decided that for a column. */
export const exportPlan = (tables: readonly CatalogueTable[]) =>
  new Map(tables.map((table) => [table.name, { table, ...planOf(table) }]));

/** Why the file of a content is not in the export; undefined if it is. */
const writeContent = async (
  folder: ExportFolder,
  { store, tenantId }: Pick<ExportOptions, 'store' | 'tenantId'>,
  content: ExportedContent,
): Promise<'infected' | 'missing' | 'damaged' | undefined> => {
  if (content.scan_status === 'infected') return 'infected';
  const { object_id: id, size, sha256 } = content;
  const sealedKey = content.sealed_key && Buffer.from(content.sealed_key.slice(2), 'hex');
  const hash = createHash('sha256');
  try {
    const stream = await store.get({ tenantId, id, size, sealedKey: sealedKey || null });
    const hashed = async function* () {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        hash.update(piece);
        yield piece;
      }
    };
    await folder.write(`files/${content.id}`, hashed());
  } catch (error) {
    if (error instanceof ObjectMissing) return 'missing';
    if (error instanceof ObjectTruncated) return 'damaged';
    throw error;
  }
  return hash.digest('hex') === sha256 ? undefined : 'damaged';
};

const exportFiles = async (
  client: pg.Client,
  folder: ExportFolder,
  options: Pick<ExportOptions, 'store' | 'tenantId'>,
) => {
  const files = { count: 0, bytes: 0 };
  const problems = {
    infected: { count: 0, content_ids: [] as string[] },
    missing: { count: 0, content_ids: [] as string[] },
    damaged: { count: 0, content_ids: [] as string[] },
  };
  const contents = jsonRows(
    client,
    `SELECT id, object_id, sha256, size, scan_status, sealed_key
     FROM tenant_crm.file_contents WHERE tenant_id = $1 ORDER BY id`,
    [options.tenantId],
  );
  for await (const piece of contents) {
    for (const json of piece) {
      const content = JSON.parse(json) as ExportedContent;
      const problem = await writeContent(folder, options, content);
      if (problem === undefined) {
        files.count += 1;
        files.bytes += content.size;
      } else {
        problems[problem].count += 1;
        if (problems[problem].count <= LISTED) problems[problem].content_ids.push(content.id);
      }
    }
  }
  return { ...files, ...problems };
};

/**
 * Exports all data of a tenant to a new folder: a file of JSON lines for each table, and its files as they were
 * uploaded. Everything is read in one snapshot. Throws afterwards if files are missing or damaged.
 */
export const exportTenant = async ({ directUrl, store, tenantId, folder }: ExportOptions) => {
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
    const target = await createExportFolder(folder);
    const tables: Record<string, { rows: number; left_out: Record<string, string> }> = {};
    let total = 0;
    for (const [name, { table, exported, leftOut }] of plan) {
      if (leftOutTables[name] !== undefined) continue;
      const query = `SELECT ${exported.map((column) => pg.escapeIdentifier(column)).join(', ')}
        FROM tenant_crm.${pg.escapeIdentifier(name)} WHERE tenant_id = $1 ORDER BY ${table.key.join(', ')}`;
      const lines = jsonRows(client, query, [tenantId]);
      const written = await target.writeLines(`tables/${name}.jsonl`, lines);
      tables[name] = { rows: written, left_out: leftOut };
      total += written;
    }
    const files = await exportFiles(client, target, { store, tenantId });
    await client.query('COMMIT');
    await target.finish({
      format: FORMAT,
      format_version: FORMAT_VERSION,
      tenant_id: tenantId,
      exported_at: rows[0]?.now.toISOString(),
      tables,
      left_out_tables: leftOutTables,
      files,
    });
    const unreadable = files.missing.count + files.damaged.count;
    if (unreadable > 0) {
      throw new Error(
        `${unreadable} files are missing or damaged; ${folder}/manifest.json lists them.`,
      );
    }
    return {
      tenant_id: tenantId,
      folder,
      rows: total,
      files: files.count,
      infected_files: files.infected.count,
    };
  } finally {
    await client.end();
  }
};
