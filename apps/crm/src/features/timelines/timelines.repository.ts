import { jsonTypes } from '@tessera/database-kit';
import { JsonText, lastPage } from '@tessera/http-kit';
import type { RowFormat, TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import { type ChangeRow, presentChange, type RecordChange } from '../../records/history.ts';
import { COUNTED } from '../../records/hits.ts';
import type { Texts } from '../../records/json-items.ts';
import type { Page } from '../../records/listing.ts';
import { visibleOf } from '../../records/scope.ts';
import { withDeclaredChanges } from '../../records/tenant-fields.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { type EntrySource, entrySources, type TimelineOf } from './entry-sources.ts';
import { timelineStatement } from './timeline-statement.ts';
import type { EntryType, TimelineEntryPayload } from './timelines.schema.ts';

const { sql } = Prisma;

/** What a timeline shows, and which page of it. */
export interface TimelineRequest {
  readonly of: TimelineOf;
  readonly caller: Caller;
  readonly types: readonly EntryType[];
  readonly page: number;
  readonly perPage: number;
}

const kinds = {
  contacts: { selectVisible: visibleOf(contact), tenantFields: contact.tenantFields },
  companies: { selectVisible: visibleOf(company), tenantFields: company.tenantFields },
} as const;

/** An entry; all texts are JSON. */
interface Entry {
  readonly type: EntryType;
  readonly at: string;
  /** The text of the member that is named by the type. */
  readonly member: string;
}

interface Row {
  readonly isVisible: boolean;
  readonly total: number;
  readonly most: number;
  /** Undefined if the page has none. */
  readonly entry: Entry | undefined;
}

/** How the rows of a statement are read: without creating the records. */
const formatOf = (sources: readonly EntrySource[]): RowFormat<Row> => ({
  types: jsonTypes,
  rowOf(columns) {
    const indexOf = (name: string): number => columns.indexOf(name);
    const [visible, total, most] = [indexOf('visible'), indexOf('total'), indexOf('most')];
    const [type, at] = [indexOf('type'), indexOf('at')];
    const readers = new Map(
      sources.map((source) => [
        JSON.stringify(source.type),
        { type: source.type, memberOf: source.memberOf(columns) },
      ]),
    );
    return (values) => {
      const texts = values as Texts;
      const reader = readers.get(texts[type] ?? '');
      return {
        isVisible: texts[visible] === 'true',
        total: Number(texts[total]),
        most: Number(texts[most]),
        entry: reader && {
          type: reader.type,
          at: texts[at] ?? 'null',
          member: reader.memberOf(texts),
        },
      };
    };
  },
});

const changeIn = (text: string): RecordChange => {
  const row = JSON.parse(text) as ChangeRow;
  // Contacts and companies have no long texts.
  return presentChange({ ...row, is_complete: true, changed_at: new Date(row.changed_at) });
};

/** The entries as responses show them, without the changes of fields that are no longer declared. */
const present = async (
  db: TenantDb,
  { table }: TimelineOf,
  entries: readonly Entry[],
): Promise<JsonText<TimelineEntryPayload>[]> => {
  const { tenantFields } = kinds[table];
  const changes = entries
    .filter(({ type }) => type === 'change')
    .map(({ member }) => changeIn(member));
  const shown = tenantFields ? await withDeclaredChanges(tenantFields, db, changes) : changes;
  const next = shown.values();
  return entries.map(({ type, at, member }) => {
    const text = type === 'change' ? JSON.stringify(next.next().value) : member;
    return new JsonText(`{"type":"${type}","at":${at},"${type}":${text}}`);
  });
};

/** One page of a timeline, newest first; undefined if the caller does not see the record. */
export const readTimeline = async (
  db: TenantDb,
  { of, caller, types, page: asked, perPage }: TimelineRequest,
): Promise<Page<JsonText<TimelineEntryPayload>> | undefined> => {
  const sources = entrySources.filter(({ type }) => types.includes(type));
  const parts = sources.map((source) => ({ ...source, ...source.within({ db, of, caller }) }));
  const visible = sql`EXISTS (${kinds[of.table].selectVisible(db, caller, [of.id])})`;
  const found = await db.read<Row>(timelineStatement(parts, { page: asked, perPage }, visible), {
    planOnce: true,
    format: formatOf(sources),
  });
  const [{ isVisible, total, most } = { isVisible: false, total: 0, most: 0 }] = found;
  if (!isVisible) return undefined;
  const page = Math.min(asked, lastPage(total, perPage));
  const totalIsMinimum = most > COUNTED && page === asked;
  const entries = found.flatMap(({ entry }) => entry ?? []);
  return {
    rows: await present(db, of, entries.slice(0, perPage)),
    page,
    perPage,
    total: totalIsMinimum ? COUNTED : total,
    totalIsMinimum,
    more: entries.length > perPage,
  };
};
