import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Actor } from '../../records/actor.ts';

const { sql, raw, join } = Prisma;

/** The fields that readers see; each change of one of them makes a revision. */
export const revisedFields = ['title', 'slug', 'summary', 'body', 'tags'] as const;

export type RevisedField = (typeof revisedFields)[number];

/** What readers see of an article, a post or a page. */
export interface RevisedText {
  readonly title: string;
  readonly slug: string;
  readonly summary: string | null;
  readonly body: string;
  readonly tags: string[];
}

/** The tables of the kinds that have revisions; the index `record_changes_revisions` contains them. */
export type RevisedTable = 'kb_articles' | 'blog_posts' | 'pages';

/** The record whose revisions are read. */
export interface RevisedRecord {
  readonly table: RevisedTable;
  readonly id: string;
}

/** Who made a revision, and when. */
export interface RevisionRow {
  /** The version of the record that the change made. */
  readonly version: number;
  readonly created_at: Date;
  readonly actor_type: Actor['type'];
  readonly user_id: string | null;
  readonly client_id: string | null;
  readonly impersonator_id: string | null;
  readonly changed_fields: RevisedField[];
}

const fieldList = raw(`'{${revisedFields.join(',')}}'`);

/**
 * The changes that made the revisions of a record after the first one. The conditions on the table and the fields are
 * literally those of the index.
 */
const changesOf = (db: TenantDb, { table, id }: RevisedRecord): Prisma.Sql => sql`
  FROM ${raw(db.readSchema)}.record_changes
  WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${raw(`'${table}'`)} AND record_id = ${id}::uuid
    AND jsonb_exists_any(changes, ${fieldList})`;

const metadata = sql`version, changed_at AS created_at, actor_type, user_id, client_id, impersonator_id`;

const changedFields = sql`ARRAY(
  SELECT field FROM unnest(${fieldList}::text[]) AS field WHERE jsonb_exists(changes, field)
)`;

/** How many revisions follow the first one. */
export const countChanges = async (db: TenantDb, record: RevisedRecord): Promise<number> => {
  const [row] = await db.read<{ count: number }>(
    sql`SELECT count(*)::int AS count ${changesOf(db, record)}`,
  );
  return row?.count ?? 0;
};

/** Some of the changes that made revisions, newest first unless `oldestFirst` is set. */
export const readChanges = (
  db: TenantDb,
  record: RevisedRecord,
  {
    limit,
    offset,
    oldestFirst,
  }: { readonly limit: number; readonly offset: number; readonly oldestFirst?: boolean },
): Promise<RevisionRow[]> =>
  db.read<RevisionRow>(
    sql`SELECT ${metadata}, ${changedFields} AS changed_fields ${changesOf(db, record)}
      ORDER BY version ${oldestFirst ? sql`ASC` : sql`DESC`} LIMIT ${limit} OFFSET ${offset}`,
  );

/** Who created a record; undefined if its history does not begin with that, as that of sample data. */
export const readCreation = async (
  db: TenantDb,
  { table, id }: RevisedRecord,
): Promise<Omit<RevisionRow, 'changed_fields'> | undefined> => {
  const [row] = await db.read<Omit<RevisionRow, 'changed_fields'> & { readonly action: string }>(
    sql`SELECT ${metadata}, action FROM ${raw(db.readSchema)}.record_changes
      WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table} AND record_id = ${id}::uuid
      ORDER BY changed_at, version LIMIT 1`,
  );
  if (row?.action !== 'create') return undefined;
  const { action, ...creation } = row;
  return creation;
};

/**
 * What readers saw of a record from a version on: of each field the value before its next change, or the current value.
 */
export const readTextAt = async (
  db: TenantDb,
  record: RevisedRecord,
  version: number,
): Promise<RevisedText | undefined> => {
  const valueThen = (field: RevisedField): Prisma.Sql => {
    const name = raw(`'${field}'`);
    return sql`coalesce((
      SELECT changes -> ${name} -> 0 ${changesOf(db, record)}
        AND version > ${version} AND jsonb_exists(changes, ${name})
      ORDER BY version LIMIT 1
    ), to_jsonb(${raw(field)}), 'null') AS ${raw(field)}`;
  };
  const [row] = await db.read<RevisedText>(
    sql`SELECT ${join(revisedFields.map(valueThen))} FROM ${raw(`${db.readSchema}.${record.table}`)} AS current
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ${record.id}::uuid`,
  );
  return row;
};
