import { createHash } from 'node:crypto';
import { createExportFolder, type ExportFolder } from '@tessera/command-line';
import { createPool, jsonRows } from '@tessera/database-kit';
import { type FileStore, ObjectDamaged, ObjectMissing, ObjectTruncated } from '@tessera/file-store';
import type pg from 'pg';
import { leftOutTables } from './left-out.ts';
import { inSnapshot, writeTable } from './table-export.ts';

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

/** The columns by which a content is read; `sealed_key` in hexadecimal. */
const STORED = "id, object_id, sha256, size, scan_status, encode(sealed_key, 'hex') AS sealed_key";

interface ExportedContent {
  readonly id: string;
  readonly object_id: string;
  readonly sha256: string;
  readonly size: number;
  readonly scan_status: string;
  readonly sealed_key: string | null;
}

type Problem = 'infected' | 'missing' | 'damaged' | 'deleted';

/** Why the file of a content is not in the export; undefined if it is. */
const writeContent = async (
  folder: ExportFolder,
  { store, tenantId }: Pick<ExportOptions, 'store' | 'tenantId'>,
  content: ExportedContent,
): Promise<Exclude<Problem, 'deleted'> | undefined> => {
  if (content.scan_status === 'infected') return 'infected';
  const { object_id: id, size, sha256 } = content;
  const sealedKey = content.sealed_key === null ? null : Buffer.from(content.sealed_key, 'hex');
  const hash = createHash('sha256');
  try {
    const stream = await store.get({ tenantId, id, size, sealedKey });
    const hashed = async function* () {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        hash.update(piece);
        yield piece;
      }
    };
    await folder.write(`files/${content.id}`, hashed());
  } catch (error) {
    if (error instanceof ObjectMissing) return 'missing';
    if (error instanceof ObjectTruncated || error instanceof ObjectDamaged) return 'damaged';
    throw error;
  }
  return hash.digest('hex') === sha256 ? undefined : 'damaged';
};

/**
 * The same for a content that the snapshot shows and whose object is missing: its last reference may have ended since
 * then, or it may have got another object.
 */
const writePresent = async (
  present: Pick<pg.Pool, 'query'>,
  folder: ExportFolder,
  options: Pick<ExportOptions, 'store' | 'tenantId'>,
  { id, object_id }: ExportedContent,
): Promise<Problem | undefined> => {
  const { rows } = await present.query<ExportedContent>(
    `SELECT ${STORED} FROM tenant_crm.file_contents WHERE tenant_id = $1 AND id = $2`,
    [options.tenantId, id],
  );
  const [content] = rows;
  if (!content) return 'deleted';
  return content.object_id === object_id ? 'missing' : writeContent(folder, options, content);
};

const exportFiles = async (
  client: pg.Client,
  present: Pick<pg.Pool, 'query'>,
  folder: ExportFolder,
  options: Pick<ExportOptions, 'store' | 'tenantId'>,
) => {
  const files = { count: 0, bytes: 0 };
  const none = () => ({ count: 0, content_ids: [] as string[] });
  const problems = { infected: none(), missing: none(), damaged: none(), deleted: none() };
  const contents = jsonRows(
    client,
    `SELECT ${STORED} FROM tenant_crm.file_contents WHERE tenant_id = $1 ORDER BY id`,
    [options.tenantId],
  );
  for await (const piece of contents) {
    for (const json of piece) {
      const content = JSON.parse(json) as ExportedContent;
      const written = await writeContent(folder, options, content);
      const problem =
        written === 'missing' ? await writePresent(present, folder, options, content) : written;
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
export const exportTenant = ({ directUrl, store, tenantId, folder }: ExportOptions) =>
  inSnapshot(directUrl, async ({ client, plan, takenAt }) => {
    const target = await createExportFolder(folder);
    const tables: Record<string, object> = {};
    let total = 0;
    for (const [name, table] of plan) {
      if (leftOutTables[name] !== undefined) continue;
      const rows = await writeTable(target, client, table, 'tenant_id = $1', [tenantId]);
      tables[name] = { rows, left_out: table.leftOut };
      total += rows;
    }
    const present = createPool(directUrl, { applicationName: 'crm-admin', size: 1 });
    const files = await exportFiles(client, present, target, { store, tenantId }).finally(() =>
      present.end(),
    );
    await target.finish({
      format: FORMAT,
      format_version: FORMAT_VERSION,
      tenant_id: tenantId,
      exported_at: takenAt.toISOString(),
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
  });
