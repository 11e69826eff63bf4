import { pageWithin } from '@tessera/http-kit';
import { publishedCondition } from '../../content/published.ts';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Page } from '../../records/listing.ts';
import { readNarrowedList } from '../../records/narrowed-list.ts';
import { searchCondition } from '../../records/search.ts';
import { spellingsOf } from '../tags/tag-spellings.ts';
import type { PublicKind } from './kinds.ts';

const { sql } = Prisma;

/** What lists show of a published record. */
export interface PublishedRow {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly language: string;
  readonly translation_group: string;
  readonly summary: string | null;
  readonly tags: string[];
  readonly cover_document_id: string | null;
  readonly published_at: Date;
  readonly updated_at: Date;
}

/** A published record with its text. */
export interface PublishedText extends PublishedRow {
  readonly body_html: string;
}

/** A published translation of a record. */
export interface Translation {
  readonly translation_group: string;
  readonly slug: string;
  readonly language: string;
}

const SHOWN = sql`id, title, slug, language, translation_group, summary, tags, cover_document_id, published_at,
  updated_at`;

/** The table to read from. */
const tableOf = (db: TenantDb, { table }: PublicKind): Prisma.Sql =>
  Prisma.raw(`${db.readSchema}.${table}`);

/** The rows of the tenant that everybody may read. */
const published = (db: TenantDb): Prisma.Sql =>
  sql`tenant_id = ${db.tenantId}::uuid AND ${publishedCondition()}`;

/** Which published records a list shows. */
export interface PublicListing {
  readonly language: string;
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
  readonly page: number;
  readonly perPage: number;
}

/** Totals are counted up to here (decision C18). */
const COUNTED = 10_000;

/** The conditions of a tag and a search among the rows of a list. */
const narrowingOf = async (
  db: TenantDb,
  rows: { readonly kind: PublicKind; readonly table: Prisma.Sql; readonly among: Prisma.Sql },
  { tag, search }: PublicListing,
): Promise<readonly Prisma.Sql[]> => {
  const tagged =
    tag === undefined ? [] : [sql`tags && ${spellingsOf(db.tenantId, rows.kind.table, tag)}`];
  if (search === undefined || search === '') return tagged;
  const among = Prisma.join([rows.among, ...tagged], ' AND ');
  const { table } = rows;
  return [...tagged, await searchCondition(db, { table, among }, search, undefined)];
};

/** A page of the published records of a language, the latest first. */
export const listPublished = async (
  db: TenantDb,
  kind: PublicKind,
  listing: PublicListing,
): Promise<Page<PublishedRow>> => {
  const { language, page, perPage } = listing;
  const table = tableOf(db, kind);
  const live = sql`${published(db)} AND language = ${language}`;
  const narrowing = await narrowingOf(db, { kind, table, among: live }, listing);
  const narrowed = (by: readonly Prisma.Sql[]): Promise<Page<PublishedRow>> =>
    readNarrowedList<PublishedRow>(db, {
      table,
      columns: SHOWN,
      tenant: sql`tenant_id = ${db.tenantId}::uuid`,
      live,
      narrowing: Prisma.join([...by], ' AND '),
      sort: { column: sql`published_at`, descending: true },
      page,
      perPage,
      exactTotal: false,
    });
  if (narrowing.length > 0) return narrowed(narrowing);
  const [counted] = await db.read<{ total: number }>(sql`
    SELECT count(*)::int AS total FROM (SELECT FROM ${table} WHERE ${live} LIMIT ${COUNTED + 1}) AS found`);
  const found = counted?.total ?? 0;
  const total = Math.min(found, COUNTED);
  // What is beyond the counted rows can still be read page by page.
  const shown = found > COUNTED ? page : pageWithin({ page, perPage }, total);
  const rows = await db.read<PublishedRow>(
    sql`SELECT ${SHOWN} FROM ${table} WHERE ${live}
      ORDER BY published_at DESC, id DESC LIMIT ${perPage + 1} OFFSET ${(shown - 1) * perPage}`,
    { byIndex: true },
  );
  // The list ends between the counted rows and the page: counting all of them finds the last page.
  if (rows.length === 0 && shown > 1) return narrowed([sql`TRUE`]);
  return {
    rows: rows.slice(0, perPage),
    page: shown,
    perPage,
    total,
    totalIsMinimum: found > COUNTED,
    more: rows.length > perPage,
  };
};

/** The published record with a slug. */
export const findPublished = async (
  db: TenantDb,
  kind: PublicKind,
  { slug, language }: { readonly slug: string; readonly language: string },
): Promise<PublishedText | undefined> => {
  const [row] = await db.read<PublishedText>(sql`
    SELECT ${SHOWN}, body_html FROM ${tableOf(db, kind)}
    WHERE ${published(db)} AND language = ${language} AND slug = ${slug}`);
  return row;
};

/** The published record that had a slug before; the last one, if several had it. */
export const findMoved = async (
  db: TenantDb,
  kind: PublicKind,
  { slug, language }: { readonly slug: string; readonly language: string },
): Promise<Translation | undefined> => {
  const [row] = await db.read<Translation>(sql`
    SELECT record.slug, record.language, record.translation_group
    FROM ${Prisma.raw(`${db.readSchema}.content_slugs`)} AS former
    JOIN ${tableOf(db, kind)} AS record ON record.tenant_id = former.tenant_id AND record.id = former.record_id
    WHERE former.tenant_id = ${db.tenantId}::uuid AND former.kind = ${kind.table}
      AND former.language = ${language} AND former.slug = ${slug}
      AND record.tenant_id = ${db.tenantId}::uuid AND ${publishedCondition('record')}
    ORDER BY former.created_at DESC LIMIT 1`);
  return row;
};

/** The published records of translation groups. */
export const findTranslations = (
  db: TenantDb,
  kind: PublicKind,
  groups: readonly string[],
): Promise<Translation[]> =>
  db.read<Translation>(sql`
    SELECT translation_group, slug, language FROM ${tableOf(db, kind)}
    WHERE ${published(db)} AND translation_group = ANY(${[...groups]}::uuid[])
    ORDER BY language`);

/** A record of a feed, which may be without its text. */
export type FeedRow = PublishedRow & { readonly body_html: string | null };

/**
 * The newest published records of a language, for feeds. They have their texts until these have `bytesOfAll` together, and
 * `bytesOfOne` each. Sizes are read without the texts.
 */
export const findNewest = (
  db: TenantDb,
  kind: PublicKind,
  {
    language,
    most,
    bytesOfAll,
    bytesOfOne,
  }: {
    readonly language: string;
    readonly most: number;
    readonly bytesOfAll: number;
    readonly bytesOfOne: number;
  },
): Promise<FeedRow[]> =>
  db.read<FeedRow>(
    sql`SELECT ${SHOWN}, CASE WHEN size <= ${bytesOfOne} AND sum(size) FILTER (WHERE size <= ${bytesOfOne})
        OVER (ORDER BY published_at DESC, id DESC) <= ${bytesOfAll} THEN body_html END AS body_html
      FROM (
        SELECT ${SHOWN}, body_html, octet_length(body_html) AS size FROM ${tableOf(db, kind)}
        WHERE ${published(db)} AND language = ${language}
        ORDER BY published_at DESC, id DESC LIMIT ${most}
      ) AS newest
      ORDER BY published_at DESC, id DESC`,
    { byIndex: true },
  );

/** A post, and the version that it has. */
export interface PostVersion {
  readonly id: string;
  readonly version: number;
}

/** The versions of the newest published records of a language, which takes much less time than their texts. */
export const findNewestVersions = (
  db: TenantDb,
  kind: PublicKind,
  { language, most }: { readonly language: string; readonly most: number },
): Promise<PostVersion[]> =>
  db.read<PostVersion>(
    sql`SELECT id, version FROM ${tableOf(db, kind)}
      WHERE ${published(db)} AND language = ${language}
      ORDER BY published_at DESC, id DESC LIMIT ${most}`,
    { byIndex: true },
  );
