import { publishedCondition } from '../../content/published.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Translation } from './content.repository.ts';
import { type PublicKind, publicKinds } from './kinds.ts';

const { sql } = Prisma;

/** A published record in a sitemap. */
export interface SitemapRow extends Translation {
  readonly kind: PublicKind['path'];
  readonly updated_at: Date;
  /** The published translations of the record, itself included; null if there are no others, or too many. */
  readonly alternates: readonly { readonly slug: string; readonly language: string }[] | null;
}

/** How many records a tenant has published, and what changes with any of them. */
export interface SitemapState {
  readonly total: number;
  readonly fingerprint: string;
}

/** A record with more published translations is listed without links to them, of which each of them would have all. */
export const MAX_ALTERNATES = 20;

const tableOf = (db: TenantDb, { table }: PublicKind): Prisma.Sql =>
  Prisma.raw(`${db.readSchema}.${table}`);

const eachKind = (of: (kind: PublicKind) => Prisma.Sql): Prisma.Sql =>
  Prisma.join(publicKinds.map(of), ' UNION ALL ');

export const readSitemapState = async (db: TenantDb): Promise<SitemapState> => {
  const [state] = await db.read<SitemapState>(sql`
    SELECT sum(total)::int AS total, string_agg(fingerprint, ' ' ORDER BY place) AS fingerprint FROM (${eachKind(
      (kind) => sql`
        SELECT ${kind.path}::text AS place, count(*) AS total,
          format('%s %s', count(*), bit_xor(hashtextextended(id::text, version))) AS fingerprint
        FROM ${tableOf(db, kind)} WHERE tenant_id = ${db.tenantId}::uuid AND ${publishedCondition()}`,
    )}) AS kinds`);
  return state ?? { total: 0, fingerprint: '' };
};

/** The published records of all kinds and languages, in a fixed order. */
export const readSitemap = (
  db: TenantDb,
  { offset, most }: { readonly offset: number; readonly most: number },
): Promise<SitemapRow[]> =>
  db.read<SitemapRow>(sql`
    WITH shown AS (
      ${eachKind(
        (kind) => sql`
          SELECT ${kind.path}::text AS kind, id, slug, language, translation_group, updated_at
          FROM ${tableOf(db, kind)} WHERE tenant_id = ${db.tenantId}::uuid AND ${publishedCondition()}`,
      )}
    ), grouped AS (
      SELECT kind, translation_group,
        jsonb_agg(jsonb_build_object('slug', slug, 'language', language) ORDER BY language) AS alternates
      FROM shown GROUP BY kind, translation_group HAVING count(*) BETWEEN 2 AND ${MAX_ALTERNATES}
    )
    SELECT kind, slug, language, translation_group, updated_at, alternates
    FROM (SELECT * FROM shown ORDER BY kind, id LIMIT ${most} OFFSET ${offset}) AS listed
    LEFT JOIN grouped USING (kind, translation_group)
    ORDER BY kind, id`);
