import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { refuseRemoval, refuseViolation } from './constraints.ts';
import type { ExportOrder, Position } from './export-order.ts';
import type { Kind, KindTypes, Scope } from './kind.ts';
import type { ListFormat, Listing, ListRequest, Page } from './listing.ts';
import { createManyRows, type ManyRows } from './many-rows.ts';
import { readNarrowedList } from './narrowed-list.ts';
import { type Cause, createDifferences, lastValuesOf, recordChanges } from './record-changes.ts';
import { type ColumnValues, columnsOf } from './row.ts';
import { anyOf, createRowConditions, type Expected } from './row-conditions.ts';
import { searchCondition } from './search.ts';
import { keysColumn } from './tenant-fields.ts';
import { readWholeList } from './whole-list.ts';

const { sql, join, raw } = Prisma;

/** One batch of an export. */
export interface BatchRequest extends Pick<ListRequest, 'conditions' | 'search'> {
  readonly order: ExportOrder;
  /** Where the previous batch ended. */
  readonly after: Position | undefined;
  readonly limit: number;
}

/**
 * The rows of one kind; nothing else accesses its table. All methods are limited to the tenant of `db` and the
 * scope. Each statement that changes a row adds the change to the history.
 */
export interface RecordRepository<T extends KindTypes> extends ManyRows<T> {
  /** The kind's columns, and whether each is `jsonb`; see `columnsOf`. */
  readonly columns: ReadonlyMap<string, boolean>;
  /** One page of rows in a format; by default objects with the columns that `omittedFromLists` does not name. */
  list<R = T['row']>(
    db: TenantDb,
    scope: Scope<T['row']>,
    request: ListRequest,
    format?: ListFormat<R>,
  ): Promise<Page<R>>;
  /** Rows in the order of an export. */
  batch(db: TenantDb, scope: Scope<T['row']>, request: BatchRequest): Promise<T['row'][]>;
  /** The row, even if it is deleted; `lock` prevents other changes until the transaction ends. */
  find(
    db: TenantDb,
    scope: Scope<T['row']>,
    id: string,
    lock?: 'lock',
  ): Promise<T['row'] | undefined>;
  /** The live rows with these keys, in no particular order. */
  findMany(db: TenantDb, scope: Scope<T['row']>, keys: readonly string[]): Promise<T['row'][]>;
  /** The statement that selects the id of a live row. */
  selectId(db: TenantDb, scope: Scope<T['row']>, key: string): Prisma.Sql;
  /** How many of the keys are those of rows in the scope, deleted or not. */
  countAmong(db: TenantDb, scope: Scope<T['row']>, keys: readonly string[]): Promise<number>;
  /** How many rows with these columns are not deleted, up to `limit`. */
  countUpTo(db: TenantDb, columns: ColumnValues<T['row']>, limit: number): Promise<number>;
  insert(db: TenantDb, id: string, values: object, cause: Cause): Promise<T['row']>;
  /**
   * Locks the rows that exist, in the order of their ids, until the transaction ends, and returns them. Deleted rows
   * are included.
   */
  lock(db: TenantDb, scope: Scope<T['row']>, ids: readonly string[]): Promise<T['row'][]>;
  /**
   * Changes the row in one statement, and returns it; undefined if no row has the expected state. A row that has all of the
   * values already stays as it is, with its version.
   */
  update(
    db: TenantDb,
    scope: Scope<T['row']>,
    expected: Expected,
    values: object,
    cause: Cause,
  ): Promise<T['row'] | undefined>;
  /** Deletes the row permanently and returns it; undefined if no row has the expected state. */
  remove(
    db: TenantDb,
    scope: Scope<T['row']>,
    expected: Expected,
    cause: Cause,
  ): Promise<T['row'] | undefined>;
}

/** The maintained count of live rows: of a tenant, or of rows with one value in a column; see `keep_count`. */
export const keptCount = (
  table: string,
  tenantId: string,
  [column, id]: readonly [column: string, id: unknown],
): Prisma.Sql => sql`(
  SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
  WHERE tenant_id = ${tenantId}::uuid AND table_name = ${table}
    AND scope_column = ${column} AND scope_id = ${id}::uuid
)`;

/** The repository of a kind. A violated constraint is a 422 that names the field. */
export const createRepository = <T extends KindTypes>(kind: Kind<T>): RecordRepository<T> => {
  type Row = T['row'];
  const { table: name, counted, countedBy, parent, jsonFields, tenantFields } = kind;
  const { omittedFromLists } = kind;
  const keptScopes = counted ? [...(parent ? [parent.column] : []), ...countedBy] : [];
  const table = raw(`tenant_crm.${name}`);
  const columns = columnsOf(kind);
  const namesOf = (names: readonly string[]): Prisma.Sql => raw(names.join(', '));
  const selected = namesOf([...columns.keys()]);
  const formerNames = namesOf([...columns.keys()].map((column) => `former_${column}`));
  const ofLists = namesOf([...columns.keys()].filter((name) => !omittedFromLists.includes(name)));
  /** The same, with what presents the fields of the tenant. */
  const shown = ({ tenantId }: TenantDb, own: Prisma.Sql): Prisma.Sql =>
    tenantFields ? sql`${own}, ${keysColumn(tenantFields, tenantId)}` : own;
  /** The table that lists read; see `TenantDb.readSchema`. */
  const listed = (db: TenantDb): Prisma.Sql => raw(`${db.readSchema}.${name}`);
  const refuse = refuseViolation(kind);
  const differences = createDifferences(kind);
  const lastValues = lastValuesOf(kind);

  /** Values of `jsonb` columns are sent as JSON; pg would send a list as a PostgreSQL array. */
  const encoded = (column: string, value: unknown): unknown =>
    columns.get(column) && value !== null ? JSON.stringify(value) : value;

  /** The given values that are columns of this kind. */
  const pick = (values: object): [column: string, value: unknown][] =>
    Object.entries(values).filter(([column, value]) => columns.has(column) && value !== undefined);

  /** The same, as they are sent to PostgreSQL. */
  const written = (values: object): [column: string, value: unknown][] =>
    pick(values).map(([column, value]) => [column, encoded(column, value)]);

  const { within, withinList, withinKeys, expectedRow, undeleted, listedOnly } =
    createRowConditions(kind);

  const searched = async (
    db: TenantDb,
    base: readonly Prisma.Sql[],
    search: string,
  ): Promise<Prisma.Sql[]> =>
    search
      ? [
          await searchCondition(
            db,
            { table: listed(db), among: join([...base], ' AND ') },
            search,
            kind.alsoSearched,
          ),
        ]
      : [];

  /** The maintained total of an unfiltered list; undefined if none is maintained for the scope. */
  const liveTotal = (
    { tenantId }: TenantDb,
    { columns: own = {}, condition, listCondition, excluded }: Scope<Row>,
  ): Prisma.Sql | undefined => {
    const [first = ['', tenantId] as const, ...more] = Object.entries(own);
    const isKept = first[0] === '' ? counted : keptScopes.includes(first[0]);
    if (!isKept || more.length > 0) return undefined;
    const kept = keptCount(name, tenantId, first);
    if (!condition && !listCondition) return kept;
    return excluded && sql`${kept} - (${excluded})`;
  };

  /** Counts the rows of a scope that consists of columns alone, in the index with these columns. */
  const countOf = (
    { table: rows, live }: Pick<Listing, 'table' | 'live'>,
    { condition, listCondition }: Scope<Row>,
  ): Prisma.Sql | undefined =>
    condition || listCondition ? undefined : sql`(SELECT count(*)::int FROM ${rows} WHERE ${live})`;

  return {
    ...createManyRows(kind),
    columns,

    async list<R>(
      db: TenantDb,
      scope: Scope<Row>,
      { conditions, search, sort, total, ...request }: ListRequest,
      format?: ListFormat<R>,
    ) {
      const base = [...withinList(db, scope), ...listedOnly];
      const narrowing = [...conditions, ...(await searched(db, [...base, ...conditions], search))];
      const listing = {
        ...request,
        table: listed(db),
        columns: shown(db, format ? namesOf(format.columns) : ofLists),
        tenant: sql`tenant_id = ${db.tenantId}::uuid`,
        live: join(base, ' AND '),
        sort: { column: raw(sort.column), descending: sort.descending },
        format,
      };
      if (narrowing.length > 0) {
        const { columns: own, condition, listCondition } = scope;
        const isWhole = search === '' && !own && !condition && !listCondition;
        return readNarrowedList<R>(db, {
          ...listing,
          narrowing: join(narrowing, ' AND '),
          count: isWhole ? total : undefined,
        });
      }
      const whole = liveTotal(db, scope) ?? countOf(listing, scope);
      // Few rows may meet a condition, so that reading the list in its order would take long.
      return whole
        ? readWholeList<R>(db, { ...listing, liveTotal: whole })
        : readNarrowedList<R>(db, {
            ...listing,
            narrowing: sql`TRUE`,
            exactTotal: request.exactTotal || kind.listsDeleted !== 'only',
          });
    },

    async batch(db, scope, { conditions, search, order, after, limit }) {
      const base = [...withinList(db, scope), ...listedOnly, ...conditions];
      const all = [...base, ...(await searched(db, base, search))];
      const rows: Row[] = [];
      for (const next of order.after(after)) {
        if (rows.length === limit) break;
        const found = await db.read<Row>(sql`
          SELECT ${shown(db, selected)}${order.sortedBy} FROM ${listed(db)} WHERE ${join([...all, next], ' AND ')}
          ORDER BY ${order.orderBy} LIMIT ${limit - rows.length}`);
        rows.push(...found);
      }
      return rows;
    },

    async find(db, scope, id, lock) {
      const where = withinKeys(db, scope, sql`= ${id}`);
      // Rows that refer to this one may be added meanwhile: that takes FOR KEY SHARE, which FOR UPDATE conflicts with.
      const locking = lock ? sql`FOR NO KEY UPDATE` : Prisma.empty;
      const [row] = await db.query<Row>(
        sql`SELECT ${selected} FROM ${table} WHERE ${where} ${locking}`,
        { planOnce: true },
      );
      return row;
    },

    async findMany(db, scope, keys) {
      const where = withinKeys(db, scope, sql`= ANY(${keys})`, undeleted);
      return db.query<Row>(sql`SELECT ${selected} FROM ${table} WHERE ${where}`);
    },

    selectId(db, scope, id) {
      return sql`SELECT id FROM ${table} WHERE ${withinKeys(db, scope, sql`= ${id}`, undeleted)}`;
    },

    async countAmong(db, scope, keys) {
      const where = withinKeys(db, scope, sql`= ANY(${keys})`);
      const [counted] = await db.query<{ count: number }>(
        sql`SELECT count(*)::int AS count FROM ${table} WHERE ${where}`,
      );
      return counted?.count ?? 0;
    },

    async countUpTo(db, columns, limit) {
      const where = join([...within(db, { columns }), ...undeleted], ' AND ');
      const [counted] = await db.query<{ count: number }>(sql`
        SELECT count(*)::int AS count FROM (SELECT FROM ${table} WHERE ${where} LIMIT ${limit}) AS found`);
      return counted?.count ?? 0;
    },

    async insert(db, id, values, cause) {
      const now = new Date();
      const own = written(values);
      const names = [
        'tenant_id',
        'id',
        'created_at',
        'updated_at',
        ...own.map(([column]) => column),
      ];
      const given = [db.tenantId, id, now, now, ...own.map(([, value]) => value)];
      const [row] = await db
        .query<Row>(
          sql`WITH created AS (
              INSERT INTO ${table} (${raw(names.join(', '))}) VALUES (${join(given)}) RETURNING ${selected}
            ), recorded AS (${recordChanges(db, cause, { table: name, from: sql`created` })})
            SELECT * FROM created`,
        )
        .catch(refuse);
      return row as Row;
    },

    async lock(db, scope, ids) {
      const where = withinKeys(db, scope, sql`= ANY(${ids})`);
      return db.query<Row>(
        sql`SELECT ${selected} FROM ${table} WHERE ${where} ORDER BY id FOR NO KEY UPDATE`,
      );
    },

    async update(db, scope, expected, values, cause) {
      const own = written(values).map(([name, value]) => {
        const former = raw(`former_${name}`);
        const held = Object.hasOwn(jsonFields, name);
        return { name, former, value: held ? sql`${former} || ${value}::jsonb` : sql`${value}` };
      });
      const settings = [
        ...own.map(({ name, value }) => sql`${raw(name)} = ${value}`),
        sql`version = version + 1`,
        sql`updated_at = ${new Date()}`,
      ];
      const others = own.map(({ former, value }) => sql`${former} IS DISTINCT FROM ${value}`);
      const { former, names, changes } = differences(own.map(({ name }) => name));
      const recorded = recordChanges(db, cause, { table: name, from: sql`changed`, changes });
      // The former values are read and compared under the lock of the row, so that no concurrent change is between.
      const [row] = await db
        .query<Row>(
          sql`WITH former AS (
              SELECT ${former} FROM ${table} WHERE ${expectedRow(db, scope, expected)}
              FOR NO KEY UPDATE
            ), changed AS (
              UPDATE ${table} SET ${join(settings)} FROM former
              WHERE tenant_id = ${db.tenantId}::uuid AND id = former_id AND (${anyOf(others)})
              RETURNING ${selected}, ${names}
            ), recorded AS (${recorded})
            SELECT ${selected} FROM changed
            UNION ALL SELECT ${formerNames} FROM former WHERE NOT EXISTS (SELECT FROM changed)`,
        )
        .catch(refuse);
      return row;
    },

    async remove(db, scope, expected, cause) {
      const own = lastValues ? sql`, ${lastValues.columns}` : Prisma.empty;
      const last = {
        table: name,
        from: sql`(SELECT id, version + 1 AS version${own} FROM removed) AS last`,
        changes: lastValues?.changes,
      };
      const [row] = await db
        .query<Row>(
          sql`WITH removed AS (
              DELETE FROM ${table} WHERE ${expectedRow(db, scope, expected)} RETURNING ${selected}
            ), recorded AS (${recordChanges(db, cause, last)})
            SELECT * FROM removed`,
        )
        .catch(refuseRemoval(kind));
      return row;
    },
  };
};
