import { Prisma } from '../../generated/prisma/client.ts';
import { COUNTED } from '../../records/hits.ts';
import { offsetOf, offsetWithin } from '../../records/listing.ts';
import type { EntrySource, Source } from './entry-sources.ts';

const { sql, raw, join, empty } = Prisma;

/** From this offset on, a page in the second half is read from the end. */
const DEEP = 1000;

/** A type of entries and how it is read. */
type Part = EntrySource & Source;

interface Asked {
  readonly page: number;
  readonly perPage: number;
}

/** One more than the page has, which shows whether another page follows. */
const wantedOf = ({ perPage }: Asked): Prisma.Sql => raw(`${perPage + 1}`);

/**
 * Common table expressions: the totals, how many entries are before and after the page, and whether it is read from the
 * end.
 */
const placeOf = (parts: readonly Part[], asked: Asked): Prisma.Sql => {
  const { page, perPage } = asked;
  const offset = offsetOf(page, perPage);
  // So far from the start, entries are read only as far as the timeline has them.
  const isCapped = offset <= COUNTED;
  const most = isCapped ? raw(`LIMIT ${COUNTED + 1}`) : empty;
  const sizes = parts.map(
    ({ from }) => sql`SELECT count(*) AS size FROM (SELECT FROM ${from} ${most}) AS first`,
  );
  const hasEnd = isCapped ? raw(`most <= ${COUNTED}`) : raw('TRUE');
  return sql`
    counted AS MATERIALIZED (
      SELECT sum(size)::int AS total, max(size)::int AS most
      FROM (${join(sizes, ' UNION ALL ')}) AS sizes
    ), located AS MATERIALIZED (
      SELECT *, after < before AND ${hasEnd} AS is_from_end FROM (
        SELECT *, greatest(total - before - ${wantedOf(asked)}, 0) AS after FROM (
          SELECT *, ${offsetWithin(asked, sql`total`)} AS before
          FROM counted
        ) AS place
      ) AS place
    )`;
};

/**
 * The entries of the page from one end of the timeline. Each source contributes no more than the page can need, from
 * an index, and nothing if `applies` is false.
 */
const entriesFrom = (
  parts: readonly Part[],
  asked: Asked,
  skipped: 'before' | 'after',
  applies?: Prisma.Sql,
): Prisma.Sql => {
  const isReversed = skipped === 'after';
  const [newest, other] = isReversed ? ['', 'DESC'] : ['DESC', ''];
  const wanted = wantedOf(asked);
  const needed = sql`${raw(skipped)} + ${wanted}`;
  const limit = applies ? sql`CASE WHEN ${applies} THEN ${needed} ELSE 0 END` : needed;
  const entries = parts.map(({ type, columns, from, orderedBy }) => {
    const order = orderedBy.map((column) => `${column} ${newest}`).join(', ');
    return sql`(
      SELECT '${raw(type)}' AS type, ${columns} FROM ${from} ORDER BY ${raw(order)}
      LIMIT (SELECT ${limit} FROM located))`;
  });
  const size = isReversed ? sql`(SELECT least(${wanted}, total - before) FROM located)` : wanted;
  return sql`
    SELECT * FROM (${join(entries, ' UNION ALL ')}) AS entries
    ORDER BY at ${raw(newest)}, type ${raw(other)}, id ${raw(newest)}, version ${raw(newest)}
    LIMIT ${size} OFFSET (SELECT ${raw(skipped)} FROM located)`;
};

/**
 * Selects `total`, `most` (the number of entries of the most frequent type) and `visible`, with each entry of the page, one
 * more, and the selected columns of its row; one row without an entry if there is none. All is of one moment. Only the
 * entries of the page are read in full: LIMIT keeps the planner from reading all rows to join them.
 */
export const timelineStatement = (
  parts: readonly Part[],
  asked: Asked,
  visible: Prisma.Sql,
): Prisma.Sql => {
  const isDeep = offsetOf(asked.page, asked.perPage) >= DEEP;
  const entries = isDeep
    ? sql`(${entriesFrom(parts, asked, 'before', sql`NOT is_from_end`)})
      UNION ALL (${entriesFrom(parts, asked, 'after', sql`is_from_end`)})`
    : entriesFrom(parts, asked, 'before');
  const rows = parts.map(
    ({ type, row }) => sql`
      LEFT JOIN LATERAL (${row} AND entry.type = '${raw(type)}' LIMIT 1) AS ${raw(type)} ON TRUE`,
  );
  return sql`
    WITH ${placeOf(parts, asked)}, entry AS MATERIALIZED (${entries})
    SELECT ${visible} AS visible, total, most, entry.type, entry.at,
      ${join(parts.map(({ selected }) => selected))}
    FROM located LEFT JOIN entry ON TRUE ${join(rows, ' ')}
    ORDER BY entry.at DESC, entry.type, entry.id DESC, entry.version DESC`;
};
