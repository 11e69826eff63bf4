import {
  anything,
  bool,
  described,
  int,
  mapOf,
  named,
  nullable,
  type Out,
  oneOf,
  rawText,
  shape,
  time,
  uuid,
} from '@tessera/fields';
import { pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { exactly, offsetOf, type Page, readTotal } from './listing.ts';

const { sql, raw, join } = Prisma;

/** The most bytes of values in a page, of which one change of long texts can have a third. */
const MAX_PAGE_BYTES = 2_000_000;

/** One change of a record. */
export const RecordChange = named(
  'RecordChange',
  shape({
    changed_at: time(),
    version: described(int(1, Number.MAX_SAFE_INTEGER), 'The version that the change made'),
    action: described(
      rawText(100),
      '`create`, `update`, `delete`, `restore`, or the name of an action',
      'update',
    ),
    actor_type: oneOf('user', 'service_account', 'client', 'bot', 'system'),
    user_id: described(nullable(uuid()), 'The user, or the user of the service account'),
    client_id: described(nullable(rawText(200)), 'The OAuth client that the user signed in with'),
    token_id: described(
      nullable(rawText(200)),
      'Of a service account, the id of its API key; of a bot, its id',
    ),
    impersonator_id: described(nullable(rawText(200)), 'The administrator who acted as the user'),
    changes: described(
      mapOf(shape({ from: anything(), to: anything() }), 1000),
      'Each field that has another value than before',
    ),
    is_complete: described(
      bool(),
      `False if \`changes\` is left out, because the page would have more than ${MAX_PAGE_BYTES.toLocaleString('en')} bytes of values: ask for fewer per page.`,
    ),
  }),
);

export type RecordChange = Out<typeof RecordChange>;

/** The record whose history is read. */
export interface RecordId {
  readonly table: string;
  readonly id: string;
}

/**
 * A part of a history that a caller may not see: all changes before the record left one of the hidden records, and
 * what that change contained.
 */
export interface HiddenHistory {
  /** The field that refers to the record. */
  readonly field: string;
  /**
   * Whether the caller may see the record with an id, deleted or not. One that is deleted for good is hidden, because
   * nobody knows any more who could see it.
   */
  isVisible(id: Prisma.Sql): Prisma.Sql;
}

/** Where the visible part of a history begins. */
type Start = Pick<RecordChange, 'changed_at' | 'version'>;

type Change = readonly [from: unknown, to: unknown];
/** A change as the table has it. */
export type ChangeRow = Omit<RecordChange, 'changes'> & {
  readonly changes: Readonly<Record<string, Change>>;
};

/** A change as responses show it. */
export const presentChange = ({ changes, ...row }: ChangeRow): RecordChange => ({
  ...row,
  changes: Object.fromEntries(
    Object.entries(changes).map(([field, [from, to]]) => [field, { from, to }]),
  ),
});

const { is_complete: _isComplete, ...stored } = RecordChange.fields;
/** The columns of a change. */
export const changeColumns: readonly string[] = Object.keys(stored);
const columns = raw(changeColumns.join(', '));
const withoutChanges = raw(changeColumns.filter((name) => name !== 'changes').join(', '));

const changesOf = (db: TenantDb, { table, id }: RecordId): Prisma.Sql => sql`
  FROM ${raw(db.readSchema)}.record_changes
  WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table} AND record_id = ${id}::uuid`;

/** The keys of the index record_changes_of_removals. A record has at most one of them. */
const INDEXED_KEYS: readonly string[] = ['user_id', 'bot_id'];
/** The expression of that index. */
const indexedKey = sql`coalesce(changes -> 'user_id' ->> 0, changes -> 'bot_id' ->> 0)`;

/** A record that was deleted for good. */
export interface RemovedRecord {
  readonly table: string;
  /** The column that identifies it among those with the same values in `columns`, and its value. */
  readonly key: readonly [column: string, value: string];
  readonly columns: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The id of the record with these values that was deleted last, if its deletion is in the history with them: see
 * `lastValuesOf`.
 */
export const findRemoved = async (
  db: TenantDb,
  { table, key: [column, value], columns: others = {} }: RemovedRecord,
): Promise<string | undefined> => {
  const conditions = [[column, value] as const, ...Object.entries(others)].map(
    ([field, last]) => sql`changes -> ${field}::text ->> 0 = ${last}::text`,
  );
  if (INDEXED_KEYS.includes(column)) conditions.unshift(sql`${indexedKey} = ${value}::text`);
  const [removed] = await db.read<{ record_id: string }>(sql`
    SELECT record_id FROM ${raw(db.readSchema)}.record_changes
    WHERE tenant_id = ${db.tenantId}::uuid AND table_name = ${table} AND action = 'delete'
      AND ${join(conditions, ' AND ')}
    ORDER BY changed_at DESC LIMIT 1`);
  return removed?.record_id;
};

/** The latest change by which a record left a hidden one. */
const lastHidden = async (
  db: TenantDb,
  record: RecordId,
  { field, isVisible }: HiddenHistory,
): Promise<Start | undefined> => {
  const left = sql`(changes -> ${field}::text ->> 0)`;
  const [last] = await db.read<Start>(sql`
    SELECT changed_at, version ${changesOf(db, record)}
      AND ${left} IS NOT NULL AND NOT ${isVisible(sql`${left}::uuid`)}
    ORDER BY changed_at DESC, version DESC LIMIT 1`);
  return last;
};

const isAt = (change: Start, start: Start | undefined): boolean =>
  change.version === start?.version && change.changed_at.getTime() === start.changed_at.getTime();

/**
 * One page of a record's history, newest first, with the exact total; without the hidden part, and without the values of the
 * changes after `MAX_PAGE_BYTES`.
 */
export const readHistory = (
  db: TenantDb,
  record: RecordId,
  { page: asked, perPage }: { readonly page: number; readonly perPage: number },
  hidden?: HiddenHistory,
): Promise<Page<RecordChange>> =>
  db.snapshot(async (snapshot) => {
    const start = hidden && (await lastHidden(snapshot, record, hidden));
    const visible = start
      ? sql`AND (changed_at, version) >= (${start.changed_at}::timestamptz, ${start.version}::integer)`
      : Prisma.empty;
    const found = sql`${changesOf(snapshot, record)} ${visible}`;
    const total = await readTotal(snapshot, sql`(SELECT count(*)::int ${found})`);
    const page = pageWithin({ page: asked, perPage }, total);
    const rows = await snapshot.read<ChangeRow>(sql`
      SELECT ${withoutChanges}, CASE WHEN is_complete THEN changes ELSE '{}' END AS changes, is_complete
      FROM (
        SELECT *, sum(octet_length(changes::text)) OVER (ORDER BY changed_at DESC, version DESC)
          <= ${MAX_PAGE_BYTES} AS is_complete
        FROM (
          SELECT ${columns} ${found}
          ORDER BY changed_at DESC, version DESC LIMIT ${perPage} OFFSET ${offsetOf(page, perPage)}
        ) AS page
      ) AS limited
      ORDER BY changed_at DESC, version DESC`);
    const shown = rows.map((row) =>
      presentChange(isAt(row, start) ? { ...row, changes: {} } : row),
    );
    return exactly({ perPage }, { rows: shown, page, total });
  });
