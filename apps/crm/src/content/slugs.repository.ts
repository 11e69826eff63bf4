import { randomInt } from 'node:crypto';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { lockUntilEnd } from '../records/transaction-lock.ts';
import type { ContentTable } from './content-types.ts';
import { firstFree, shortened, slugStem } from './slugs.ts';

const { sql, raw } = Prisma;

/** Where slugs are unique: the live records of one kind in one language. */
export interface SlugSpace {
  readonly table: ContentTable;
  readonly language: string;
  /** The record that the slug is for; its own slug counts as free. */
  readonly id: string;
}

/** How many records with the same title are numbered one after the other. */
const MAX_NUMBERED = 1000;

/** The slug with a number that hardly any record has. */
const randomlyNumbered = (stem: string): string => `${stem}-${randomInt(10_000, 100_000_000)}`;

/**
 * The slugs of other live records that are `slug`, which comes first, or begin with `slug-`: no more than `MAX_NUMBERED`. Until
 * the transaction ends, no other transaction takes a slug that differs from this one only in its number.
 */
const takenSlugs = async (
  db: TenantDb,
  { table, language, id }: SlugSpace,
  slug: string,
): Promise<ReadonlySet<string>> => {
  await lockUntilEnd(db, `slugs ${table} ${db.tenantId} ${language} ${slugStem(slug)}`);
  // The character after the hyphen ends the range.
  const rows = await db.query<{ slug: string }>(sql`
    SELECT slug FROM ${raw(`tenant_crm.${table}`)}
    WHERE tenant_id = ${db.tenantId}::uuid AND language = ${language}
      AND slug >= ${slug} AND slug < ${`${slug}.`} AND deleted_at IS NULL AND id <> ${id}::uuid
      AND substr(slug, ${slug.length + 1}::int) ~ '^(-[0-9]+)?$'
    ORDER BY slug LIMIT ${MAX_NUMBERED}`);
  return new Set(rows.map((row) => row.slug));
};

/**
 * `wanted` if it is free; otherwise the first free slug of it and a number, which is no longer than slugs can be. If there are
 * too many of them to read, the number is random.
 */
export const freeSlug = async (db: TenantDb, space: SlugSpace, wanted: string): Promise<string> => {
  const taken = await takenSlugs(db, space, wanted);
  if (!taken.has(wanted)) return wanted;
  const stem = shortened(wanted);
  const numbered = stem === wanted ? taken : await takenSlugs(db, space, stem);
  return numbered.size < MAX_NUMBERED ? firstFree(stem, numbered) : randomlyNumbered(stem);
};

/** Adds the slug of a published record to those that it has had, as the current one. */
export const recordSlug = async (
  db: TenantDb,
  { table, language, id }: SlugSpace,
  slug: string,
): Promise<void> => {
  const own = sql`tenant_id = ${db.tenantId}::uuid AND record_id = ${id}::uuid`;
  await db.query(sql`
    UPDATE tenant_crm.content_slugs SET is_current = FALSE
    WHERE ${own} AND is_current AND NOT (slug = ${slug} AND language = ${language})`);
  await db.query(sql`
    INSERT INTO tenant_crm.content_slugs (tenant_id, slug, kind, language, record_id, is_current)
    VALUES (${db.tenantId}::uuid, ${slug}, ${table}, ${language}, ${id}::uuid, TRUE)
    ON CONFLICT (tenant_id, slug, kind, language, record_id)
    DO UPDATE SET is_current = TRUE, created_at = excluded.created_at`);
};

/** Keeps the slug of a record, whatever title it gets. */
export const keepSlug = async (db: TenantDb, { table, id }: SlugSpace): Promise<void> => {
  await db.query(sql`
    UPDATE ${raw(`tenant_crm.${table}`)} SET slug_follows_title = FALSE
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid AND slug_follows_title`);
};
