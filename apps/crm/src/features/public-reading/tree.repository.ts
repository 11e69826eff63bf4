import { publishedCondition } from '../../content/published.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/** A published page in its tree. */
export interface TreeRow {
  readonly id: string;
  /** Null for a page at the top, and for one whose parent is not published. */
  readonly parent_id: string | null;
  readonly depth: number;
  readonly title: string;
  readonly slug: string;
  readonly language: string;
}

/** The most pages that a tree shows. */
export const MAX_TREE = 2000;

/**
 * The published pages of a language in the order of their tree. Pages below one that is not published are at the top,
 * after the others. One page more than `MAX_TREE` if there are too many.
 */
export const readTree = (db: TenantDb, language: string): Promise<TreeRow[]> =>
  db.read<TreeRow>(sql`
    WITH RECURSIVE shown AS MATERIALIZED (
      SELECT id, parent_id, position, title, slug, language
      FROM ${Prisma.raw(db.readSchema)}.pages
      WHERE tenant_id = ${db.tenantId}::uuid AND ${publishedCondition()} AND language = ${language}
      ORDER BY id LIMIT ${MAX_TREE + 1}
    ), tree AS (
      SELECT shown.id, NULL::uuid AS parent_id, 0 AS depth, title, slug, language,
        ARRAY[(shown.parent_id IS NOT NULL)::text, position COLLATE "C", id::text] AS place
      FROM shown WHERE NOT EXISTS (SELECT FROM shown AS parent WHERE parent.id = shown.parent_id)
      UNION ALL
      SELECT shown.id, shown.parent_id, tree.depth + 1, shown.title, shown.slug, shown.language,
        tree.place || ARRAY[shown.position COLLATE "C", shown.id::text]
      FROM tree JOIN shown ON shown.parent_id = tree.id
    )
    SELECT id, parent_id, depth, title, slug, language FROM tree ORDER BY place COLLATE "C"`);
