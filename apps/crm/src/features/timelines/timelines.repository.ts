import { lastPage } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { offsetOf, type Page } from '../../records/listing.ts';
import { visibleOf } from '../../records/scope.ts';
import { withDeclaredChanges } from '../../records/tenant-fields.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import {
  type EntrySource,
  entrySources,
  type SelectedRow,
  type SourceContext,
  type TimelineOf,
} from './entry-sources.ts';
import type { EntryType, TimelineEntryPayload } from './timelines.schema.ts';

const { sql, raw, join, empty } = Prisma;

/** What a timeline shows, and which page of it. */
export interface TimelineRequest {
  readonly of: TimelineOf;
  readonly caller: Caller;
  readonly types: readonly EntryType[];
  readonly page: number;
  readonly perPage: number;
}

/**
 * How many entries of each type are counted, unless a page beyond as many is requested; beyond, the total is a minimum
 * (decision C18).
 */
const COUNTED = 10_000;

const kinds = {
  contacts: { selectVisible: visibleOf(contact), tenantFields: contact.tenantFields },
  companies: { selectVisible: visibleOf(company), tenantFields: company.tenantFields },
} as const;

interface Row extends SelectedRow {
  readonly is_visible: boolean;
  readonly total: number;
  /** The number of entries of the most frequent type. */
  readonly most: number;
  /** Null if the page has no entry. */
  readonly type: EntryType | null;
  readonly at: Date;
}

/**
 * The page, one more entry, and the totals in one statement, which is one of the moment. Each source contributes no
 * more of its newest entries than the page can need, from an index, and only the entries of the page are read in
 * full: LIMIT keeps the planner from reading all rows to join them.
 */
const readRows = (
  { db, of, caller }: SourceContext,
  sources: readonly EntrySource[],
  { page, perPage }: Pick<TimelineRequest, 'page' | 'perPage'>,
): Promise<Row[]> => {
  const parts = sources.map((source) => ({ ...source, ...source.within({ db, of, caller }) }));
  const wanted = raw(`${perPage + 1}`);
  const offset = offsetOf(page, perPage);
  // So far from the start, entries are read only as far as the timeline has them.
  const most = offset > COUNTED ? empty : raw(`LIMIT ${COUNTED + 1}`);
  const sizes = parts.map(
    ({ from }) => sql`SELECT count(*) AS size FROM (SELECT FROM ${from} ${most}) AS first`,
  );
  const newest = parts.map(
    ({ type, columns, from, order }) => sql`(
      SELECT '${raw(type)}' AS type, ${columns} FROM ${from} ORDER BY ${order}
      LIMIT (SELECT before + ${wanted} FROM located))`,
  );
  const rows = parts.map(
    ({ type, row }) => sql`
      LEFT JOIN LATERAL (${row} AND entry.type = '${raw(type)}' LIMIT 1) AS ${raw(type)} ON TRUE`,
  );
  const inOrder = sql`ORDER BY at DESC, type, id DESC, version DESC`;
  return db.read<Row>(
    sql`
    WITH counted AS MATERIALIZED (
      SELECT sum(size)::int AS total, max(size)::int AS most
      FROM (${join(sizes, ' UNION ALL ')}) AS sizes
    ), located AS MATERIALIZED (
      SELECT total, most,
        least(${offset}::bigint, greatest(total - 1, 0) / ${perPage} * ${perPage}) AS before
      FROM counted
    ), entry AS MATERIALIZED (
      SELECT * FROM (${join(newest, ' UNION ALL ')}) AS newest
      ${inOrder} LIMIT ${wanted} OFFSET (SELECT before FROM located)
    )
    SELECT EXISTS (${kinds[of.table].selectVisible(db, caller, [of.id])}) AS is_visible, total, most,
      entry.type, entry.at, ${join(sources.map(({ selected }) => selected))}
    FROM located LEFT JOIN entry ON TRUE ${join(rows, ' ')}
    ORDER BY entry.at DESC, entry.type, entry.id DESC, entry.version DESC`,
    { planOnce: true },
  );
};

/** The entries without the changes of fields that are no longer declared. */
const withDeclared = async (
  db: TenantDb,
  { table }: TimelineOf,
  entries: TimelineEntryPayload[],
): Promise<TimelineEntryPayload[]> => {
  const { tenantFields } = kinds[table];
  const changes = entries.flatMap(({ change }) => change ?? []);
  if (!tenantFields || changes.length === 0) return entries;
  const shown = await withDeclaredChanges(tenantFields, db, changes);
  const shownOf = new Map(changes.map((change, index) => [change, shown[index]]));
  return entries.map((entry) => {
    const change = entry.change && shownOf.get(entry.change);
    return change ? { ...entry, change } : entry;
  });
};

/** One page of a timeline, newest first; undefined if the caller does not see the record. */
export const readTimeline = async (
  db: TenantDb,
  { of, caller, types, page: asked, perPage }: TimelineRequest,
): Promise<Page<TimelineEntryPayload> | undefined> => {
  const sources = entrySources.filter(({ type }) => types.includes(type));
  const sourceOf = new Map(sources.map((source) => [source.type, source]));
  const found = await readRows({ db, of, caller }, sources, { page: asked, perPage });
  const [{ is_visible: isVisible, total, most } = { is_visible: false, total: 0, most: 0 }] = found;
  if (!isVisible) return undefined;
  const page = Math.min(asked, lastPage(total, perPage));
  const totalIsMinimum = most > COUNTED && page === asked;
  const entries = found.flatMap((row): TimelineEntryPayload[] => {
    const { type, at } = row;
    if (type === null) return [];
    return [{ type, at, ...sourceOf.get(type)?.present(row) }];
  });
  return {
    rows: await withDeclared(db, of, entries.slice(0, perPage)),
    page,
    perPage,
    total: totalIsMinimum ? COUNTED : total,
    totalIsMinimum,
    more: entries.length > perPage,
  };
};
