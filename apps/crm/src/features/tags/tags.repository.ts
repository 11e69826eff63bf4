import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { exactly, offsetWithin, type Page } from '../../records/listing.ts';
import { type Cause, recordChanges } from '../../records/record-changes.ts';
import { replaceTakenTag } from '../contacts/merged-tags.ts';
import { lockMerges } from '../contacts/merges-lock.ts';
import { lockPages } from '../site-pages/pages-lock.ts';
import type { TaggedTable } from './tag-families.ts';
import { foldedTag, isCountOf, spellingsOf } from './tag-spellings.ts';
import type { TagPayload, TagQuery } from './tags.schema.ts';

const { sql, raw, join, empty } = Prisma;

/** A change of one tag in all records of a table. */
export interface TagReplacement {
  readonly table: TaggedTable;
  readonly tag: string;
  /** The new name; undefined removes the tag. */
  readonly name: string | undefined;
}

/** Where the previous batch of an export ended. */
type TagPosition = Pick<TagPayload, 'name' | 'count'>;

/**
 * The counts of the tags that meet a condition, under their most frequent spellings; triggers maintain them, so that no record is
 * read. All spellings of a tag meet it, or none. The collation compares keys faster than that of the database.
 */
const counts = (
  db: TenantDb,
  tables: readonly TaggedTable[],
  condition: Prisma.Sql,
): Prisma.Sql => {
  const each = tables.map((table) => [table, raw(`${table}_count`)] as const);
  const spelled = each.map(
    ([table, count]) =>
      sql`coalesce(sum(count) FILTER (WHERE table_name = ${table}), 0) AS ${count}`,
  );
  const frequent = sql`ORDER BY count DESC, tag COLLATE "C"`;
  return sql`
  SELECT (array_agg(tag ${frequent}))[1] AS name, (array_agg(folded ${frequent}))[1] AS folded,
    sum(count)::bigint AS count,
    ${join(each.map(([, count]) => sql`sum(${count})::bigint AS ${count}`))}
  FROM (
    SELECT tag, tag_key COLLATE "C" AS tag_key, min(${foldedTag}) AS folded, sum(count) AS count, ${join(spelled)}
    FROM ${raw(db.readSchema)}.tag_counts
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ANY(${tables}) AND ${condition}
    GROUP BY tag, tag_key HAVING sum(count) > 0
  ) AS spelled
  GROUP BY tag_key`;
};

/** The columns of a tag in responses. */
const shown = (tables: readonly TaggedTable[]): Prisma.Sql =>
  raw(['name', 'count', ...tables.map((table) => `${table}_count`)].join(', '));

/** The condition for an item of the tags of a record, `one`, that is a tag. */
const isOne = (tag: string): Prisma.Sql =>
  sql`tenant_crm.tag_key(one) = tenant_crm.tag_key(${tag})`;

/** The further condition for a tag that is not written like `except`. */
const unlike = (column: Prisma.Sql, except: string | undefined): Prisma.Sql =>
  except === undefined ? empty : sql`AND ${column} <> ${except}`;

/** A tag with its counts; undefined if no live record has it. */
export const findTag = async <T extends TaggedTable>(
  db: TenantDb,
  tables: readonly T[],
  tag: string,
): Promise<TagPayload<T> | undefined> => {
  const [found] = await db.read<TagPayload<T>>(
    sql`SELECT ${shown(tables)} FROM (${counts(db, tables, isCountOf(tag))}) AS counted`,
  );
  return found;
};

/** What tags are compared by, as SQL. */
interface Compared {
  readonly name: Prisma.Sql;
  readonly folded: Prisma.Sql;
  readonly count: Prisma.Sql;
}
type Keys = (tag: Compared) => readonly Prisma.Sql[];

const byName: Keys = ({ name, folded }) => [sql`${folded} COLLATE "C"`, sql`${name} COLLATE "C"`];

const keys: Readonly<Record<TagQuery['sort'], Keys>> = {
  name: byName,
  '-name': byName,
  count: (tag) => [tag.count, ...byName(tag)],
  // Names always ascend.
  '-count': (tag) => [sql`-${tag.count}`, ...byName(tag)],
};

const keysOfRow = (sort: TagQuery['sort']): readonly Prisma.Sql[] =>
  keys[sort]({ name: sql`name`, folded: sql`folded`, count: sql`count` });

const ordered = (sort: TagQuery['sort']): Prisma.Sql => {
  const direction = sort === '-name' ? sql`DESC` : sql`ASC`;
  return sql`ORDER BY ${join(keysOfRow(sort).map((key) => sql`${key} ${direction}`))}`;
};

/** The condition for the tags that follow another one. */
const following = (sort: TagQuery['sort'], { name, count }: TagPosition): Prisma.Sql => {
  const beyond = sort === '-name' ? sql`<` : sql`>`;
  const last = keys[sort]({
    name: sql`${name}::text`,
    folded: sql`tenant_crm.search_key(${name})`,
    count: sql`${count}::bigint`,
  });
  return sql`(${join([...keysOfRow(sort)])}) ${beyond} (${join([...last])})`;
};

/** The condition of a search in names. */
const foundBy = (search: string): Prisma.Sql => {
  const term = search.trim();
  return term ? sql`strpos(${foldedTag}, tenant_crm.search_key(${term})) > 0` : sql`TRUE`;
};

/** One page of a tenant's tags, or the last page if the requested one is beyond the end. */
export const listTags = async <T extends TaggedTable>(
  db: TenantDb,
  tables: readonly T[],
  { page, per_page: perPage, sort, search = '' }: TagQuery,
): Promise<Page<TagPayload<T>>> => {
  const rows = await db.read<TagPayload<T> & { total: number; name: string | null }>(sql`
    WITH found AS (${counts(db, tables, foundBy(search))}),
      counted AS (SELECT count(*)::int AS total FROM found)
    SELECT total, page.* FROM counted LEFT JOIN LATERAL (
      SELECT ${shown(tables)} FROM found ${ordered(sort)} LIMIT ${perPage}
      OFFSET ${offsetWithin({ page, perPage }, sql`total`)}
    ) AS page ON TRUE`);
  const total = rows[0]?.total ?? 0;
  const tags = rows.flatMap(({ total: _total, ...tag }) =>
    tag.name === null ? [] : [tag as unknown as TagPayload<T>],
  );
  return exactly({ perPage }, { rows: tags, page: pageWithin({ page, perPage }, total), total });
};

/**
 * The tags that a search finds, in order after `after`: each tag is counted for one page as well. A tag whose number changes
 * meanwhile may be missing or appear twice if they are sorted by number.
 */
export const nextTags = <T extends TaggedTable>(
  db: TenantDb,
  tables: readonly T[],
  { sort, search = '' }: Pick<TagQuery, 'sort' | 'search'>,
  { after, limit }: { readonly after: TagPosition | undefined; readonly limit: number },
): Promise<readonly TagPayload<T>[]> => {
  const rest = after ? sql`WHERE ${following(sort, after)}` : empty;
  return db.read<TagPayload<T>>(sql`
    SELECT ${shown(tables)} FROM (${counts(db, tables, foundBy(search))}) AS counted ${rest}
    ${ordered(sort)} LIMIT ${limit}`);
};

/** The number of live records with a tag, without those that write it like `except`. */
export const countTagged = async (
  db: TenantDb,
  tables: readonly TaggedTable[],
  tag: string,
  except?: string,
): Promise<number> => {
  const [counted] = await db.query<{ count: number }>(sql`
    SELECT coalesce(sum(count), 0)::bigint AS count FROM tenant_crm.tag_counts
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ANY(${tables})
      AND ${isCountOf(tag)} ${unlike(sql`tag`, except)}`);
  return counted?.count ?? 0;
};

/** Pages that were deleted by themselves, and with one above. */
const deletedPages = [
  sql`deleted_at IS NOT NULL AND deleted_with IS NULL`,
  sql`deleted_with IS NOT NULL`,
];

/**
 * Ids of records with a tag that is not written like the new name, deleted ones included, in order after `after`. The kept counts
 * do not know how deleted records write it.
 */
export const findTagged = async (
  db: TenantDb,
  { table, tag, name }: TagReplacement,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<string[]> => {
  const rest = after === undefined ? empty : sql`AND id > ${after}::uuid`;
  // An index serves each.
  const conditions = [
    sql`tags && ${spellingsOf(db.tenantId, table, tag)}`,
    ...(table === 'pages' ? deletedPages : [sql`deleted_at IS NOT NULL`]),
  ];
  const possible = conditions.map(
    (condition) => sql`
    SELECT id, tags FROM ${raw(db.readSchema)}.${raw(table)}
    WHERE tenant_id = ${db.tenantId}::uuid AND ${condition}`,
  );
  const rows = await db.query<{ id: string }>(sql`
    SELECT id FROM (${join(possible, ' UNION ')}) AS possible
    WHERE EXISTS (SELECT FROM unnest(tags) AS one WHERE ${isOne(tag)} ${unlike(sql`one`, name)})
      ${rest} ORDER BY id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
};

/** The tags of a record without one, or with its new name in its place, unless the record has that already. */
const replacedTags = (tag: string, name: string | undefined): Prisma.Sql => {
  const others = sql`unnest(tags) WITH ORDINALITY AS of_record (one, place)`;
  const isReplaced = isOne(tag);
  if (name === undefined) {
    return sql`ARRAY(SELECT one FROM ${others} WHERE NOT ${isReplaced} ORDER BY place)`;
  }
  const renamed = sql`CASE WHEN ${isReplaced} THEN ${name} ELSE one END`;
  return sql`ARRAY(
    SELECT one FROM (
      SELECT ${renamed} AS one, place, row_number() OVER (
        PARTITION BY tenant_crm.tag_key(${renamed}) ORDER BY ${isReplaced}, place
      ) AS number FROM ${others}
    ) AS numbered WHERE number = 1 ORDER BY place
  )`;
};

/** Replaces or removes the tag in these records, in one transaction; returns how many had it. */
export const replaceTag = (
  db: TenantDb,
  { table, tag, name }: TagReplacement,
  ids: readonly string[],
  cause: Cause,
): Promise<number> =>
  db.transaction(async (transaction) => {
    // The deletion of a page locks those below it in another order.
    if (table === 'pages') await lockPages(transaction);
    // Merges lock contacts in another order.
    if (table === 'contacts') await lockMerges(transaction, 'shared');
    // The new name needs no place among the tags: the former one leaves its own with the last record.
    if (name !== undefined) {
      await transaction.query(sql`SELECT set_config('tessera.renames_tag', 'on', true)`);
    }
    const records = raw(`tenant_crm.${table}`);
    const these = sql`tenant_id = ${db.tenantId}::uuid AND id = ANY(${ids}::uuid[])`;
    // In the order of ids, so that two of these transactions cannot block each other.
    await transaction.query(
      sql`SELECT id FROM ${records} WHERE ${these} ORDER BY id FOR NO KEY UPDATE`,
    );
    if (table === 'contacts') await replaceTakenTag(transaction, ids, { tag, name });
    const recorded = recordChanges(db, cause, {
      table,
      from: sql`changed`,
      changes: sql`jsonb_build_object('tags', jsonb_build_array(former_tags, tags))`,
    });
    const changed = await transaction.query(sql`
      WITH changed AS (
        UPDATE ${records} SET tags = new_tags, version = version + 1, updated_at = ${new Date()}
        FROM (
          SELECT id AS former_id, tags AS former_tags, ${replacedTags(tag, name)} AS new_tags
          FROM ${records} WHERE ${these}
        ) AS former
        WHERE tenant_id = ${db.tenantId}::uuid AND id = former_id AND former_tags <> new_tags
        RETURNING id, version, former_tags, tags
      ), recorded AS (${recorded})
      SELECT id FROM changed`);
    return changed.length;
  });
