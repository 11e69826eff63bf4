import { type JsonText, readInBatches } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { createChanges } from './changes.ts';
import { exportBatchSize } from './export-batches.ts';
import { byId, exportOrder, positionOf } from './export-order.ts';
import { columnSql } from './filters.ts';
import { findRemoved, type RecordChange, readHistory } from './history.ts';
import { jsonItems } from './json-items.ts';
import type { Kind, KindTypes, RowContext, Scope, TenantCaller, TypesOf } from './kind.ts';
import type { ExportQuery, ListQuery } from './list-query.ts';
import type { ListRequest, Page } from './listing.ts';
import { findPassages } from './passages.ts';
import { keepsLastValues } from './record-changes.ts';
import { type ColumnValues, presenter } from './row.ts';
import { createAccess, type TenantSource } from './scope.ts';
import {
  keysIn,
  shownFieldsRevision,
  tenantConditions,
  withDeclaredChanges,
  withDeclaredValues,
} from './tenant-fields.ts';
import { type AcceptedVersion, revisionOfId } from './versions.ts';
import { type Changed, mayDo, RecordReference, requireView } from './viewing.ts';

/** A record as responses show it, with its version. */
export interface Versioned<Answer> {
  readonly id: string;
  readonly answer: Answer;
  readonly version: number;
  /** See `revision` of a kind. */
  readonly revision?: number | undefined;
}

/** Returns the columns that an action sets; runs in the transaction of the change, while the row is locked. */
export type ActionRule<T extends KindTypes, Body> = (
  context: RowContext<T> & { readonly body: Body },
) => ColumnValues<T['row']> | Promise<ColumnValues<T['row']>>;

/** An operation besides create, update and delete. */
export interface RecordAction<T extends KindTypes, Body> {
  /** The name of the action in the history, and the `action` that `follow` receives. */
  readonly name: string;
  /** The name if it depends on the row before the action, or on the columns that the rule sets. */
  nameOf?(row: T['row'], values: ColumnValues<T['row']>): string;
  readonly rule: ActionRule<T, Body>;
}

/**
 * Operations on one kind of record, within the caller's tenant and scope. A record that does not exist there is
 * a 404. If `versions` is given, a record with another version is a 412.
 */
export interface Records<T extends KindTypes> {
  list(caller: T['caller'], query?: Partial<ListQuery<T>>): Promise<Page<T['item']>>;
  /** The same for a response: records may be JSON text, which takes less time. */
  list(
    caller: T['caller'],
    query: Partial<ListQuery<T>>,
    as: 'json',
  ): Promise<Page<T['item'] | JsonText<T['item']>>>;
  /** All records that match the query, in batches, by id unless it has a sort; `limited` runs each read. */
  batches(
    caller: T['caller'],
    query: ExportQuery<T>,
    limited: LimitedRead,
  ): AsyncIterable<readonly T['answer'][]>;
  /** The columns of an export as CSV: the fields of the response, and of those that the tenant declares each. */
  exportedColumns(caller: T['caller']): Promise<readonly string[]>;
  get(caller: T['caller'], id: string): Promise<Versioned<T['answer']>>;
  /** Those of the records that exist, in no particular order, in one statement. */
  getMany(caller: T['caller'], ids: readonly string[]): Promise<readonly Versioned<T['answer']>[]>;
  create(caller: T['caller'], input: T['create']): Promise<Versioned<T['answer']>>;
  /** Creates several records in one statement, all or none; in the order of the inputs. */
  createMany(
    caller: T['caller'],
    inputs: readonly T['create'][],
  ): Promise<readonly Versioned<T['answer']>[]>;
  /** The same, and returns only their ids, which takes less time. */
  addMany(caller: T['caller'], inputs: readonly T['create'][]): Promise<readonly string[]>;
  /**
   * Updates several records in one statement, all or none; each once. They are locked in the order of their ids. The
   * kind must have ids as keys. Those that have all of the values already stay as they are; returns the ids of the others.
   */
  updateMany(
    caller: T['caller'],
    changes: readonly { readonly id: string; readonly change: T['update'] }[],
  ): Promise<readonly string[]>;
  /**
   * Throws 404 unless the caller still sees all of these records. They may have been deleted, but not for good. Without a scope
   * and a parent, nothing hides them.
   */
  requireVisible(caller: T['caller'], keys: readonly string[]): Promise<void>;
  /** Prevents other changes of the records that exist until the caller's transaction ends. */
  lock(caller: T['caller'], ids: readonly string[]): Promise<void>;
  /** Changes only the given fields. A record that has all of the values already stays as it is, with its version. */
  update(
    caller: T['caller'],
    id: string,
    change: T['update'],
    versions?: readonly AcceptedVersion[],
  ): Promise<Changed<T['answer']>>;
  /**
   * An update that depends on the current row: `changeOf` returns the fields to change while the row is locked. All
   * rules of an update apply. The history has it as `action`. Default: `update`.
   */
  edit(
    caller: T['caller'],
    id: string,
    changeOf: (row: T['row']) => T['update'],
    versions?: readonly AcceptedVersion[],
    action?: string,
  ): Promise<Changed<T['answer']>>;
  /** Sets `deleted_at`, so that `restore` can undo it, unless the kind deletes permanently. */
  delete(caller: T['caller'], id: string, versions?: readonly AcceptedVersion[]): Promise<void>;
  /** Restores a deleted record, with other values for some fields; has no effect on a record that is not deleted. */
  restore(
    caller: T['caller'],
    id: string,
    versions?: readonly AcceptedVersion[],
    input?: Partial<T['create']>,
  ): Promise<Changed<T['answer']>>;
  /** Performs an action; if it changes no column, the version does not change. */
  act<Body>(
    caller: T['caller'],
    id: string,
    action: RecordAction<T, Body>,
    body: Body,
    versions?: readonly AcceptedVersion[],
  ): Promise<Changed<T['answer']>>;
  /**
   * One page of a record's changes, newest first, as far as the caller may see them; of a deleted record for callers
   * who may restore it. Of records with another key than the id, also of the last one that was deleted for good, for
   * callers who may delete it.
   */
  history(
    caller: T['caller'],
    id: string,
    query?: { readonly page?: number; readonly per_page?: number },
  ): Promise<Page<RecordChange>>;
  /** The records of a child kind below a parent. The keys of the parents begin with the outermost one. */
  within(...parentKeys: readonly string[]): Records<T>;
}

export type RecordsOf<K> = Records<TypesOf<K>>;

/** Runs a read when the process has capacity for it; see `Exports.read`. */
export type LimitedRead = <R>(read: () => Promise<R>) => Promise<R>;

/** The operations of a declared kind. */
export const createRecords = <T extends KindTypes>(
  kind: Kind<T>,
  source: TenantSource,
): Records<T> => {
  type Row = T['row'];
  type Answer = T['answer'];
  type Item = T['item'];
  const accessTo = createAccess(kind, source);
  const present = presenter<Row, Answer>(kind);
  const presentItem = presenter<Row, Item>({ ...kind, answer: kind.item });
  const asJson = jsonItems(kind);

  const { table, tenantFields, searchedColumns } = kind;

  const shownAs = async <A extends Answer | Item>(
    { tenantId }: T['caller'],
    rows: readonly Row[],
    presentRow: (row: Row) => A,
  ): Promise<A[]> => {
    const answers = rows.map(presentRow);
    if (!tenantFields) return answers;
    return withDeclaredValues(tenantFields, source.forTenant(tenantId), answers, keysIn(rows));
  };

  const revisionOf = (row: Row, answer: Answer): number | undefined => {
    if (kind.key !== 'id') return revisionOfId(row.id);
    return tenantFields ? shownFieldsRevision(tenantFields, answer) : kind.revision?.(row);
  };

  const keyOf = (row: Row): string =>
    (row as unknown as Record<string, string>)[kind.key] ?? row.id;

  const referenceTo = (row: Row): RecordReference =>
    new RecordReference(kind.key, keyOf(row), row.version);

  const versionedAll = async (
    caller: T['caller'],
    rows: readonly Row[],
  ): Promise<Versioned<Answer>[]> => {
    const answers = await shownAs(caller, rows, present);
    return rows.map((row, index) => {
      const answer = answers[index] as Answer;
      return {
        id: keyOf(row),
        answer,
        version: row.version,
        revision: revisionOf(row, answer),
      };
    });
  };

  const versioned = async (caller: T['caller'], row: Row): Promise<Versioned<Answer>> => {
    const [one] = await versionedAll(caller, [row]);
    return one as Versioned<Answer>;
  };

  /** A record after a change, as far as the caller may view it. */
  const changed = async (caller: T['caller'], row: Row): Promise<Changed<Answer>> => {
    if (mayDo('view', kind, caller)) return versioned(caller, row);
    const { id, version } = row;
    const revision = kind.key === 'id' ? undefined : revisionOfId(id);
    return { id: keyOf(row), answer: referenceTo(row), version, revision };
  };

  /** How the list with these filters is counted best, if there is only one. */
  const totalOf = (query: object, { tenantId }: TenantCaller): ListRequest['total'] => {
    const given = query as Readonly<Record<string, unknown>>;
    if (tenantFields && given[tenantFields.column] !== undefined) return undefined;
    const used = Object.entries(kind.filters).filter(([name]) => given[name] !== undefined);
    const [[name, filter] = [], ...others] = used;
    if (name === undefined || !filter || others.length > 0) return undefined;
    return (
      filter.total?.(given[name], tenantId) ?? (filter.isCountedByIndex ? 'by index' : undefined)
    );
  };

  const conditionsOf = async (query: object, { tenantId }: TenantCaller): Promise<Prisma.Sql[]> => {
    const own = Object.entries(kind.filters).flatMap(([parameter, { column, condition }]) => {
      const value = query[parameter as keyof typeof query];
      if (value === undefined) return [];
      const given = query as Readonly<Record<string, unknown>>;
      return [Prisma.sql`(${condition(columnSql(column), value, tenantId, given)})`];
    });
    if (!tenantFields) return own;
    const { [tenantFields.column]: texts } = query as Record<string, Record<string, string>>;
    const db = source.forTenant(tenantId);
    return [...own, ...(await tenantConditions(tenantFields, db, texts))];
  };

  const sortOf = (by: string): { column: string; descending: boolean } => {
    const descending = by.startsWith('-');
    return { column: kind.sort[(descending ? by.slice(1) : by) as T['sort']], descending };
  };

  /** The record that had the key and was deleted for good; nothing tells whether a scope contained it. */
  const removedId = async (
    db: TenantDb,
    { columns }: Scope<Row>,
    key: string,
  ): Promise<string | undefined> =>
    keepsLastValues(kind) && !kind.scope
      ? findRemoved(db, { table, key: [kind.key, key], columns })
      : undefined;

  const recordsIn = (...parentKeys: readonly string[]): Records<T> => {
    const access = accessTo(...parentKeys);
    const { repository, open, findLive, missing } = access;
    const changes = createChanges(access);
    return {
      async list(caller: T['caller'], query: Partial<ListQuery<T>> = {}, as?: 'json') {
        const { db, scope } = await open(caller);
        const { page = 1, per_page: perPage = 25, search = '' } = query;
        // The permission to restore records shows a trash.
        const showsKeysOnly = kind.listsDeleted === 'only' && !mayDo('view', kind, caller);
        if (showsKeysOnly && search.trim() !== '') requireView(kind, caller);
        const request = {
          page,
          perPage,
          search: search.trim(),
          sort: sortOf(query.sort ?? kind.defaultSort),
          conditions: await conditionsOf(query, caller),
          total: totalOf(query, caller),
          exactTotal: query.exact_total ?? false,
        };
        if (as === 'json' && asJson && !showsKeysOnly) {
          const { rows, ...position } = await repository.list(db, scope, request, asJson);
          return { ...position, rows: rows.map(({ item }) => item) };
        }
        const listed = await repository.list(db, scope, request);
        if (showsKeysOnly) {
          const references = listed.rows.map((row) => referenceTo(row));
          return { ...listed, rows: references as object[] as Item[] };
        }
        const items = await shownAs(caller, listed.rows, presentItem);
        if (!searchedColumns) return { ...listed, rows: items };
        const found = await findPassages(db, table, searchedColumns, listed.rows, search.trim());
        const rows = items.map((item, index) => ({ ...item, passages: found[index] }));
        return { ...listed, rows };
      },

      async *batches(caller, query, limited) {
        const { db } = await open(caller);
        const search = (query.search ?? '').trim();
        const conditions = await conditionsOf(query, caller);
        const order = query.sort === undefined ? byId : exportOrder(sortOf(query.sort));
        const read = (last: Row | undefined, limit: number): Promise<readonly Row[]> => {
          const after = last && positionOf(last);
          return limited(async () => {
            // What the caller sees may have changed since the batch before.
            const { scope } = await open(caller);
            return repository.batch(db, scope, { conditions, search, order, after, limit });
          });
        };
        const size = await exportBatchSize(kind, db);
        for await (const rows of readInBatches(size, read)) {
          yield await shownAs(caller, rows, present);
        }
      },

      async exportedColumns({ tenantId }) {
        const names = Object.keys(kind.answer.fields);
        if (!tenantFields) return names;
        const declared = await tenantFields.declared(source.forTenant(tenantId));
        const keys = declared.map(({ key }) => `${tenantFields.column}.${key}`);
        return names.flatMap((name) => (name === tenantFields.column ? keys : [name]));
      },

      async get(caller, id) {
        return versioned(caller, await findLive(await open(caller), id));
      },

      async getMany(caller, ids) {
        const { db, scope } = await open(caller);
        return versionedAll(caller, await repository.findMany(db, scope, ids));
      },

      async create(caller, input) {
        return versioned(caller, await changes.create(caller, input));
      },

      async createMany(caller, inputs) {
        const rows = await changes.createMany(caller, inputs);
        return versionedAll(caller, rows);
      },

      addMany: (caller, inputs) => changes.addMany(caller, inputs),

      updateMany: (caller, given) => changes.updateMany(caller, given),

      async requireVisible(caller, keys) {
        if (!kind.scope && !kind.parent) return;
        const { db, scope } = await open(caller);
        const all = [...new Set(keys)];
        if ((await repository.countAmong(db, scope, all)) < all.length) throw missing();
      },

      async lock(caller, ids) {
        if (ids.length === 0) return;
        const { db, scope } = await open(caller);
        await repository.lock(db, scope, ids);
      },

      async update(caller, id, change, versions) {
        return changed(caller, await changes.update(caller, id, change, versions));
      },

      async edit(caller, id, changeOf, versions, action) {
        return changed(caller, await changes.edit(caller, id, changeOf, versions, action));
      },

      delete: (caller, id, versions) => changes.delete(caller, id, versions),

      async restore(caller, id, versions, input) {
        return changed(caller, await changes.restore(caller, id, versions, input));
      },

      async act(caller, id, action, body, versions) {
        return changed(caller, await changes.act(caller, id, action, body, versions));
      },

      async history(caller, id, { page = 1, per_page: perPage = 25 } = {}) {
        const { db, scope } = await open(caller);
        const row = await repository.find(db, scope, id);
        if ((!row || row.deleted_at) && !mayDo('delete', kind, caller)) throw missing();
        const recordId = row?.id ?? (await removedId(db, scope, id));
        if (recordId === undefined) throw missing();
        const record = { table: kind.table, id: recordId };
        const hidden = row && kind.hiddenHistory?.(caller, row);
        const found = await readHistory(db, record, { page, perPage }, hidden);
        if (!tenantFields) return found;
        return { ...found, rows: await withDeclaredChanges(tenantFields, db, found.rows) };
      },

      within: recordsIn,
    };
  };

  return recordsIn();
};
