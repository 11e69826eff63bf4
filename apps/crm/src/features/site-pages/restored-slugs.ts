import { firstFree, shortened } from '../../content/slugs.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

interface Slug {
  readonly language: string;
  readonly slug: string;
}

/** The pages that were deleted with a page, as an SQL condition on `deleted`. */
const deletedWith = ({ tenantId }: TenantDb, id: string): Prisma.Sql =>
  sql`deleted.tenant_id = ${tenantId}::uuid AND deleted.deleted_with = ${id}::uuid`;

/** The title of a page that was deleted with a page and whose language in its translation group is taken since. */
export const findTakenLanguage = async (db: TenantDb, id: string): Promise<string | undefined> => {
  const [found] = await db.query<{ title: string }>(sql`
    SELECT deleted.title FROM tenant_crm.pages AS deleted
    JOIN tenant_crm.pages AS live ON live.tenant_id = deleted.tenant_id
      AND live.translation_group = deleted.translation_group AND live.language = deleted.language
    WHERE ${deletedWith(db, id)} AND live.tenant_id = ${db.tenantId}::uuid AND live.deleted_at IS NULL
    ORDER BY deleted.id LIMIT 1`);
  return found?.title;
};

/** The slugs of live pages that are one of these or differ from it only in a number, and of all that were deleted with a page. */
const slugsBeside = (db: TenantDb, id: string, stems: readonly Slug[]): Promise<Slug[]> =>
  db.query<Slug>(sql`
    SELECT deleted.language, deleted.slug FROM tenant_crm.pages AS deleted WHERE ${deletedWith(db, id)}
    UNION
    SELECT live.language, live.slug
    FROM jsonb_to_recordset(${JSON.stringify(stems)}::jsonb) AS stem (language text, slug text)
    JOIN tenant_crm.pages AS live ON live.language = stem.language
      AND live.slug >= stem.slug AND live.slug < stem.slug || '.'
    WHERE live.tenant_id = ${db.tenantId}::uuid AND live.deleted_at IS NULL
      AND substr(live.slug, length(stem.slug) + 1) ~ '^(-[0-9]+)?$'`);

/**
 * Free slugs for the pages that were deleted with a page and whose slugs are taken since, by the ids of the pages. The lock of
 * the tree keeps them free.
 */
export const chooseSlugs = async (
  db: TenantDb,
  id: string,
): Promise<ReadonlyMap<string, { readonly from: string; readonly to: string }>> => {
  const renamed = await db.query<Slug & { id: string }>(sql`
    SELECT deleted.id, deleted.language, deleted.slug FROM tenant_crm.pages AS deleted
    JOIN tenant_crm.pages AS live ON live.tenant_id = deleted.tenant_id
      AND live.language = deleted.language AND live.slug = deleted.slug
    WHERE ${deletedWith(db, id)} AND live.tenant_id = ${db.tenantId}::uuid AND live.deleted_at IS NULL
    ORDER BY deleted.id`);
  const chosen = new Map<string, { from: string; to: string }>();
  if (renamed.length === 0) return chosen;
  const stems = renamed.map(({ language, slug }) => ({ language, slug: shortened(slug) }));
  const taken = new Map<string, Set<string>>();
  for (const { language, slug } of await slugsBeside(db, id, stems)) {
    taken.set(language, (taken.get(language) ?? new Set()).add(slug));
  }
  for (const page of renamed) {
    const slugs = taken.get(page.language) ?? new Set();
    const to = firstFree(shortened(page.slug), slugs);
    slugs.add(to);
    chosen.set(page.id, { from: page.slug, to });
  }
  return chosen;
};
