import type { Pool } from 'pg';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/**
 * The columns that refer to objects in the store: the sweep deletes objects that are in none of them. `pending_files`
 * contains the objects that are being uploaded or deleted.
 */
export const objectColumns = [
  { table: 'file_contents', column: 'object_id' },
  { table: 'pending_files', column: 'id' },
  { table: 'upload_parts', column: 'id' },
] as const;

/** A content as the sweep compares it with its object. */
export interface SweptContent {
  readonly tenant_id: string;
  readonly id: string;
  readonly object_id: string;
  /** Bytes. */
  readonly size: number;
  readonly is_sealed: boolean;
  /** Whether the last sweep has found its object missing or damaged. */
  readonly is_missing: boolean;
}

type Position = Pick<SweptContent, 'tenant_id' | 'object_id'>;

const FIRST = '00000000-0000-0000-0000-000000000000';

/** The contents of all tenants in the order of the paths of their objects. Reads a page at a time. */
export async function* contentsByPath(
  pool: Pick<Pool, 'query'>,
  limit: number,
): AsyncGenerator<SweptContent> {
  let after: Position = { tenant_id: FIRST, object_id: FIRST };
  for (;;) {
    const { tenant_id, object_id } = after;
    const { rows } = await pool.query<SweptContent>(
      `SELECT tenant_id, id, object_id, size::float8 AS size, is_sealed, is_missing
       FROM tenant_crm.contents_by_path($1, $2, $3, $4)`,
      [tenant_id, object_id.slice(-2), object_id, limit],
    );
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    after = last;
  }
}

/** The functions that return what was to be deleted for good hours ago. */
export type OverdueRows =
  | 'overdue_files'
  | 'overdue_uploads'
  | 'overdue_documents'
  | 'overdue_folders';

/** The rows of all tenants whose deletion is overdue. Reads a page at a time. */
export async function* overdueRows(
  pool: Pick<Pool, 'query'>,
  rowsOf: OverdueRows,
  limit: number,
): AsyncGenerator<{ readonly tenant_id: string; readonly id: string }> {
  let after = { tenant_id: FIRST, id: FIRST };
  for (;;) {
    const { rows } = await pool.query<typeof after>(
      `SELECT tenant_id, id FROM tenant_crm.${rowsOf}($1, $2, $3)`,
      [after.tenant_id, after.id, limit],
    );
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    after = last;
  }
}

/** The given objects that no row refers to, if the condition holds. */
const unusedObjects = async (
  db: TenantDb,
  ids: readonly string[],
  condition: Prisma.Sql,
): Promise<string[]> => {
  const unused = objectColumns.map(
    ({ table, column }) => sql`NOT EXISTS (
      SELECT FROM ${Prisma.raw(`tenant_crm.${table}`)} AS row
      WHERE row.tenant_id = ${db.tenantId}::uuid AND row.${Prisma.raw(column)} = object.id
    )`,
  );
  const rows = await db.query<{ id: string }>(sql`
    SELECT object.id FROM unnest(${ids}::uuid[]) AS object (id)
    WHERE ${condition} AND ${Prisma.join(unused, ' AND ')}`);
  return rows.map(({ id }) => id);
};

/** The given objects that no row refers to. */
export const findUnused = (db: TenantDb, ids: readonly string[]): Promise<string[]> =>
  unusedObjects(db, ids, sql`TRUE`);

/**
 * As `findUnused`. None if the tenant has never had a file: the store then more likely belongs to another database.
 */
export const findOrphans = (db: TenantDb, ids: readonly string[]): Promise<string[]> =>
  unusedObjects(
    db,
    ids,
    sql`EXISTS (SELECT FROM tenant_crm.file_usage WHERE tenant_id = ${db.tenantId}::uuid)`,
  );

/** How many contents of all tenants are marked as missing or damaged. */
export const countMissing = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rows } = await pool.query<{ missing: number }>(
    'SELECT tenant_crm.missing_files()::int AS missing',
  );
  return rows[0]?.missing ?? 0;
};

/** Sets or clears `missing_since` of a content; false if the content has another object by now. */
export const markMissing = async (
  db: TenantDb,
  { id, object_id }: Pick<SweptContent, 'id' | 'object_id'>,
  isMissing: boolean,
): Promise<boolean> => {
  const since = isMissing ? sql`coalesce(missing_since, ${new Date()}::timestamptz)` : sql`NULL`;
  const rows = await db.query(sql`
    UPDATE tenant_crm.file_contents SET missing_since = ${since}
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND object_id = ${object_id}::uuid
    RETURNING id`);
  return rows.length > 0;
};

/** Whether the content still has this object. */
export const hasObject = async (
  db: TenantDb,
  { id, object_id }: Pick<SweptContent, 'id' | 'object_id'>,
): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.file_contents
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND object_id = ${object_id}::uuid`);
  return rows.length > 0;
};
