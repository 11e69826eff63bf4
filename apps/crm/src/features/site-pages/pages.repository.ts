import type { PublicationStatus } from '../../content/published.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Actor } from '../../records/actor.ts';
import { createRankedGaps } from '../../records/ranked-gaps.ts';
import { recordChanges } from '../../records/record-changes.ts';
import { chooseSlugs } from './restored-slugs.ts';

const { sql } = Prisma;

const below = ({ tenantId }: TenantDb, parentId: string | null): Prisma.Sql => {
  const parent = parentId === null ? sql`IS NULL` : sql`= ${parentId}::uuid`;
  return sql`tenant_id = ${tenantId}::uuid AND parent_id ${parent} AND deleted_at IS NULL`;
};

/** The free space below a page; null is the root. */
export const pageGaps = createRankedGaps<string | null>({
  table: 'pages',
  rank: 'position',
  nullable: 'parent_id',
  within: below,
});

/** Whether a page exists and is not deleted; null, the root, always does. */
export const isLivePage = async (db: TenantDb, id: string | null): Promise<boolean> => {
  if (id === null) return true;
  const rows = await db.query(sql`
    SELECT id FROM tenant_crm.pages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL`);
  return rows.length > 0;
};

/** Whether pages that are not deleted are below a page. */
export const hasChildren = async (db: TenantDb, id: string): Promise<boolean> => {
  const rows = await db.query(sql`SELECT id FROM tenant_crm.pages WHERE ${below(db, id)} LIMIT 1`);
  return rows.length > 0;
};

/** Deletes the pages below a page, so that restoring the page restores them as well. */
export const deleteBelow = async (
  db: TenantDb,
  { id, below: pages }: { readonly id: string; readonly below: readonly string[] },
  actor: Actor,
): Promise<void> => {
  const now = new Date();
  const recorded = recordChanges(
    db,
    { action: 'delete', actor },
    { table: 'pages', from: sql`deleted` },
  );
  await db.query(sql`
    WITH deleted AS (
      UPDATE tenant_crm.pages
      SET deleted_at = ${now}, deleted_with = ${id}::uuid, version = version + 1, updated_at = ${now}
      WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND id = ANY(${[...pages]}::uuid[])
      RETURNING id, version
    ), recorded AS (${recorded})
    SELECT count(*)::int FROM deleted`);
};

/** Restores the pages that were deleted together with a page, with other slugs if theirs are taken. */
export const restoreBelow = async (db: TenantDb, id: string, actor: Actor): Promise<void> => {
  const slugs = Object.fromEntries(
    [...(await chooseSlugs(db, id))].map(([page, { from, to }]) => [page, [from, to]]),
  );
  const renamed = sql`${JSON.stringify(slugs)}::jsonb -> id::text`;
  const recorded = recordChanges(
    db,
    { action: 'restore', actor },
    {
      table: 'pages',
      from: sql`restored`,
      changes: sql`jsonb_strip_nulls(jsonb_build_object('slug', ${renamed}))`,
    },
  );
  await db.query(sql`
    WITH restored AS (
      UPDATE tenant_crm.pages
      SET deleted_at = NULL, deleted_with = NULL, slug = coalesce(${renamed} ->> 1, slug), version = version + 1,
        updated_at = ${new Date()}
      WHERE tenant_id = ${db.tenantId}::uuid AND deleted_with = ${id}::uuid
      RETURNING id, version
    ), recorded AS (${recorded})
    SELECT count(*)::int FROM restored`);
};

/** A page in the tree. */
export interface TreeRow {
  readonly id: string;
  readonly parent_id: string | null;
  /** The place below the parent, compared by byte. */
  readonly position: string;
  readonly title: string;
  readonly slug: string;
  readonly language: string;
  readonly status: PublicationStatus;
}

/** A part of the tree: what is below a page, so many levels deep. Null is the root. */
export interface Branch {
  readonly parentId: string | null;
  readonly levels: number;
}

/** The pages of a branch in any order; `most` of them if it has more. */
export const readBranch = (
  db: TenantDb,
  { parentId, levels }: Branch,
  most: number,
): Promise<TreeRow[]> => {
  const pages = Prisma.raw(`${db.readSchema}.pages`);
  return db.read<TreeRow>(sql`
    WITH RECURSIVE branch (id, level) AS (
      SELECT id, 1 FROM ${pages} WHERE ${below(db, parentId)}
      UNION ALL
      SELECT child.id, branch.level + 1 FROM ${pages} AS child JOIN branch ON child.parent_id = branch.id
      WHERE child.tenant_id = ${db.tenantId}::uuid AND child.deleted_at IS NULL AND branch.level < ${levels}
    )
    SELECT id, parent_id, position, title, slug, language, status FROM ${pages}
    WHERE tenant_id = ${db.tenantId}::uuid AND id IN (SELECT branch.id FROM branch)
    LIMIT ${most}`);
};

/** Whether one of the pages is published, or will be. */
export const hasPublic = async (db: TenantDb, ids: readonly string[]): Promise<boolean> => {
  const found = await db.query(sql`
    SELECT id FROM tenant_crm.pages
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(${[...ids]}::uuid[])
      AND deleted_at IS NULL AND status IN ('published', 'scheduled') LIMIT 1`);
  return found.length > 0;
};
