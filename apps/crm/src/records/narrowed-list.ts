import { pageWithin } from '@tessera/http-kit';
import { LRUCache } from 'lru-cache';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  COUNTED,
  countByIndex,
  hitsOf,
  materialized,
  type Narrowed,
  pageOf,
  partOf,
  rowsOf,
  type Window,
  walk,
} from './hits.ts';
import {
  exactly,
  type Found,
  listKey,
  offsetOf,
  type Page,
  readLocated,
  readTotal,
  totalColumn,
} from './listing.ts';

const { sql } = Prisma;

/** The number of hits up to `COUNTED`, and the page if there are so few. */
const fewHits = <R>(db: TenantDb, listing: Narrowed<R>): Promise<Found<R>> => {
  const located = {
    before: sql`${materialized(sql`${hitsOf(listing)} LIMIT ${COUNTED + 1}`)},`,
    total: sql`(SELECT count(*)::int FROM hits)`,
    ids: sql`CASE WHEN (SELECT ${totalColumn} FROM counted) <= ${COUNTED}
      THEN ARRAY(SELECT id FROM hits ${pageOf(listing)}) END`,
  };
  return readLocated<R>(db, listing, located, { byIndex: true });
};

/**
 * The number of hits, which is kept or counted by an index, and the rows of a window if there are more than `COUNTED`, from the
 * first rows of the list. One statement, which is planned once.
 */
const manyHits = <R>(
  db: TenantDb,
  listing: Narrowed<R>,
  window: Window,
  total: Prisma.Sql,
): Promise<Found<R>> => {
  const ids = sql`CASE WHEN (SELECT ${totalColumn} FROM counted) > ${COUNTED}
    THEN ARRAY(${walk(listing, window)}) END`;
  return readLocated<R>(db, listing, { total, ids }, { byIndex: true, planOnce: true });
};

/** Filters that had more hits than `COUNTED`, and probably still have. */
const hadMany = new LRUCache<string, true>({ max: 2000 });

/**
 * The number of hits up to `COUNTED`, and the page if there are so few. If there are more: the rows of the page and
 * one more, as far as the first rows of the list have them. Few hits are read by a statement of their own, which is planned for
 * its values: planning both ways would take longer than finding them.
 */
const firstHits = async <R>(
  db: TenantDb,
  listing: Narrowed<R>,
  window: Window,
): Promise<Found<R>> => {
  const { count } = listing;
  const isKept = count !== undefined && count !== 'by index';
  const key = count === 'by index' ? listKey(db, listing, listing.narrowing) : undefined;
  if (isKept || (key !== undefined && hadMany.has(key))) {
    const counted = isKept ? count : countByIndex(listing);
    const found = await manyHits<R>(db, listing, window, counted);
    if (found.total > COUNTED) return found;
    if (key !== undefined) hadMany.delete(key);
  }
  const found = await fewHits<R>(db, listing);
  if (found.total <= COUNTED) return found;
  if (key !== undefined) hadMany.set(key, true);
  return { total: COUNTED + 1, rows: await rowsOf<R>(db, listing, walk(listing, window)) };
};

/**
 * A page so far from the start that reading the list in order would cost more than finding all hits at once.
 * Beyond the end, it returns the last page and the exact total.
 */
const deepPage = async <R>(db: TenantDb, listing: Narrowed<R>): Promise<Page<R>> => {
  const located = {
    before: sql`${materialized(hitsOf(listing))},`,
    total: sql`(SELECT count(*)::int FROM hits)`,
    ids: sql`ARRAY(SELECT id FROM hits ${pageOf(listing)})`,
  };
  const { total, rows } = await readLocated<R>(db, listing, located, { byIndex: true });
  const listed = exactly(listing, { rows, page: pageWithin(listing, total), total });
  if (listing.exactTotal || total <= COUNTED || listed.page < listing.page) return listed;
  return { ...listed, total: COUNTED, totalIsMinimum: true };
};

/** A part of many hits, all of which are found and sorted. */
const sortedHits = <R>(db: TenantDb, listing: Narrowed<R>, window: Window): Promise<R[]> => {
  const hits = sql`SELECT id FROM hits ${partOf(listing, window)}`;
  return rowsOf<R>(db, listing, sql`WITH ${materialized(hitsOf(listing))} ${hits}`);
};

/** A page with an exact total, regardless of the number of hits. */
const pageOfAll = <R>(db: TenantDb, listing: Narrowed<R>): Promise<Page<R>> =>
  db.snapshot(async (snapshot) => {
    const { table, live, narrowing, perPage } = listing;
    const count = sql`(SELECT count(*)::int FROM ${table} WHERE ${live} AND ${narrowing})`;
    const total = await readTotal(snapshot, count);
    const page = pageWithin(listing, total);
    const offset = offsetOf(page, perPage);
    const window = { offset, limit: Math.min(perPage, total - offset) };
    const rows = await rowsOf<R>(snapshot, listing, walk(listing, window));
    const isFull = rows.length === window.limit;
    return exactly(listing, {
      rows: isFull ? rows : await sortedHits<R>(snapshot, listing, window),
      page,
      total,
    });
  });

/** One page of a list with a search or filters. */
export const readNarrowedList = async <R>(db: TenantDb, listing: Narrowed<R>): Promise<Page<R>> => {
  const { page, perPage } = listing;
  const offset = offsetOf(page, perPage);
  if (offset > COUNTED) return deepPage<R>(db, listing);
  const window = { offset, limit: perPage + 1 };
  const found = await firstHits<R>(db, listing, window);
  if (found.total <= COUNTED) {
    return exactly(listing, { ...found, page: pageWithin(listing, found.total) });
  }
  if (listing.exactTotal) return pageOfAll<R>(db, listing);
  const isFull = found.rows.length === window.limit;
  // Names with S in a list sorted by name, for example, are all near its end.
  const rows = isFull ? found.rows : await sortedHits<R>(db, listing, window);
  if (rows.length === 0) return pageOfAll<R>(db, listing);
  return {
    rows: rows.slice(0, perPage),
    page,
    perPage,
    total: COUNTED,
    totalIsMinimum: true,
    more: rows.length > perPage,
  };
};
