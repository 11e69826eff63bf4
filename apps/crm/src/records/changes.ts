import { HttpError, invalidField } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../database.ts';
import { actorOf } from './actor.ts';
import type { KindTypes, RowContext, RuleContext, Scope } from './kind.ts';
import type { RecordValues } from './many-rows.ts';
import type { Cause } from './record-changes.ts';
import type { ActionRule } from './records.ts';
import type { ColumnValues } from './row.ts';
import { type Access, checkVersion, type OpenScope } from './scope.ts';
import { acceptValues, type TenantField } from './tenant-fields.ts';
import { preconditionFailed } from './versions.ts';

type Versions = readonly number[] | undefined;

/** The changes of one kind of record; see `Records` for their errors. */
export interface Changes<T extends KindTypes> {
  create(caller: T['caller'], input: T['create']): Promise<T['row']>;
  createMany(caller: T['caller'], inputs: readonly T['create'][]): Promise<readonly T['row'][]>;
  addMany(caller: T['caller'], inputs: readonly T['create'][]): Promise<readonly string[]>;
  updateMany(
    caller: T['caller'],
    changes: readonly { readonly id: string; readonly change: T['update'] }[],
  ): Promise<void>;
  update(
    caller: T['caller'],
    id: string,
    change: T['update'],
    versions: Versions,
  ): Promise<T['row']>;
  edit(
    caller: T['caller'],
    id: string,
    changeOf: (row: T['row']) => T['update'],
    versions: Versions,
  ): Promise<T['row']>;
  delete(caller: T['caller'], id: string, versions: Versions): Promise<void>;
  restore(caller: T['caller'], id: string, versions: Versions): Promise<T['row']>;
  act<Body>(
    caller: T['caller'],
    id: string,
    action: { readonly name: string; readonly rule: ActionRule<T, Body> },
    body: Body,
    versions: Versions,
  ): Promise<T['row']>;
}

/** A change whose rules need the current row. */
interface Change<T extends KindTypes> {
  readonly action: string;
  readonly id: string;
  readonly versions: Versions;
  /** Throws to reject the change, or returns the columns to write. */
  decide(context: RowContext<T>, scope: Scope<T['row']>): object | Promise<object>;
}

/**
 * A change without a rule and without `follow` is a single statement. Otherwise one transaction locks the row,
 * runs the rule, writes the row and runs `follow`.
 */
export const createChanges = <T extends KindTypes>(access: Access<T>): Changes<T> => {
  type Row = T['row'];
  const { kind, repository, open, findLive, missing, lockParent } = access;
  const { rules, follow, deletion, maximum, tenantFields, parent, locksParent } = kind;
  const { columns } = repository;

  /** The input fields that a JSON column holds; undefined if there are none. */
  const heldBy = (fields: object, names: readonly string[]): object | undefined => {
    const held = Object.entries(fields).filter(
      ([name, value]) => names.includes(name) && value !== undefined,
    );
    return held.length > 0 ? Object.fromEntries(held) : undefined;
  };

  /** The columns that an input sets, including derived ones. */
  const stored = (fields: T['create'] | T['update']): object => {
    const json = Object.entries(kind.jsonFields).flatMap(([column, names]) => {
      const held = heldBy(fields, names);
      return held ? [[column, held]] : [];
    });
    const values = { ...fields, ...Object.fromEntries(json), ...kind.stored?.(fields) };
    return Object.fromEntries(Object.entries(values).filter(([name]) => columns.has(name)));
  };

  const causeOf = (caller: T['caller'], action: string): Cause => ({
    action,
    actor: actorOf(caller),
  });

  const isEmpty = (values: object): boolean => Object.keys(values).length === 0;

  /** An input must not move a record out of the caller's scope, or below another parent; rules may. */
  const refuseMove = (values: object, { columns: own = {} }: Scope<Row>): void => {
    const given = new Map<string, unknown>(Object.entries(values));
    for (const [column, value] of Object.entries(own)) {
      if (given.has(column) && given.get(column) !== value) {
        throw invalidField(column, `${column} must stay as it is`);
      }
    }
  };

  /** A transaction that has locked the parent, if the kind's changes do. */
  const transactionIn = <R>(
    { db, scope }: OpenScope<T>,
    work: (transaction: TenantDb) => Promise<R>,
  ): Promise<R> =>
    db.transaction(async (transaction) => {
      if (parent && locksParent) await lockParent(transaction, scope);
      return work(transaction);
    });

  const changeLocked = async (caller: T['caller'], change: Change<T>): Promise<Row> => {
    const opened = await open(caller);
    const { scope } = opened;
    const { action, id, versions } = change;
    return transactionIn(opened, async (transaction) => {
      const within = { db: transaction, scope };
      const before = await findLive(within, id, { versions, lock: 'lock' });
      const values = await change.decide({ caller, db: transaction, row: before }, scope);
      if (isEmpty(values)) return before;
      const expected = { id, deleted: false };
      const cause = causeOf(caller, action);
      const row = await repository.update(transaction, scope, expected, values, cause);
      if (!row) throw missing();
      await follow?.({ action, caller, db: transaction, before, row });
      return row;
    });
  };

  const changeDirectly = async (
    caller: T['caller'],
    id: string,
    { action, values }: { readonly action: string; readonly values: object },
    versions: Versions,
  ): Promise<Row> => {
    const opened = await open(caller);
    refuseMove(values, opened.scope);
    if (isEmpty(values)) return findLive(opened, id, { versions });
    const expected = { id, versions, deleted: false };
    const cause = causeOf(caller, action);
    const row = await repository.update(opened.db, opened.scope, expected, values, cause);
    if (row) return row;
    await findLive(opened, id, { versions });
    throw versions ? preconditionFailed() : missing();
  };

  type Values = Readonly<Record<string, unknown>>;

  /** The values of the fields that the tenant has declared, in an input or a row. */
  const valuesIn = (fields: object): Values | undefined =>
    (fields as Readonly<Record<string, Values | undefined>>)[tenantFields?.column ?? ''];

  /** The column of the declared fields. */
  const accepted = (declared: readonly TenantField[], input: object, before?: Row): object =>
    tenantFields
      ? acceptValues(
          tenantFields.column,
          declared,
          valuesIn(input) ?? {},
          before && valuesIn(before),
        )
      : {};

  /** The fields that the tenant has declared, as they stay until the transaction ends. */
  const declaredFor = async (db: TenantDb): Promise<readonly TenantField[]> =>
    (await tenantFields?.declaredFor(db)) ?? [];

  /** The same in the transaction of one change; nothing if an update does not give values. */
  const tenantValues = async (db: TenantDb, input: object, before?: Row): Promise<object> => {
    if (!tenantFields || (before && valuesIn(input) === undefined)) return {};
    return accepted(await declaredFor(db), input, before);
  };

  /** The update that `changeOf` makes of the locked row. */
  const edit: Changes<T>['edit'] = (caller, id, changeOf, versions) =>
    changeLocked(caller, {
      action: 'update',
      id,
      versions,
      async decide(context, scope) {
        const change = changeOf(context.row);
        const values = stored(change);
        refuseMove(values, scope);
        const ruled = await rules.update?.(change, context);
        return { ...values, ...ruled, ...(await tenantValues(context.db, change, context.row)) };
      },
    });

  /** 409 where the scope cannot hold this many more records. */
  const assertBelowMaximum = async (db: TenantDb, scope: Scope<Row>, more = 1): Promise<void> => {
    if (maximum === undefined) return;
    if ((await repository.countLocked(db, scope)) + more <= maximum) return;
    throw new HttpError(409, 'conflict', `The limit of ${maximum} has been reached.`);
  };

  const deletePermanently = async (
    caller: T['caller'],
    id: string,
    versions: Versions,
  ): Promise<void> => {
    const opened = await open(caller);
    const remove = async (db: TenantDb): Promise<void> => {
      const within = { db, scope: opened.scope };
      const before = await findLive(within, id, { versions, lock: 'lock' });
      await rules.delete?.({ caller, db, row: before });
      const cause = causeOf(caller, 'delete');
      await repository.remove(db, opened.scope, { id, deleted: false }, cause);
      await follow?.({ action: 'delete', caller, db, before, row: before });
    };
    await transactionIn(opened, remove);
  };

  /** New records with their columns, by the rules of the kind. */
  const recordsOf = async (
    db: TenantDb,
    scope: Scope<Row>,
    caller: T['caller'],
    inputs: readonly T['create'][],
  ): Promise<RecordValues[]> => {
    await assertBelowMaximum(db, scope, inputs.length);
    const declared = await declaredFor(db);
    const records: RecordValues[] = [];
    for (const input of inputs) {
      const id = uuidv7();
      const context = { caller, db, id, columns: scope.columns ?? {} };
      const ruled = await rules.create?.(input, context);
      const own = accepted(declared, input);
      records.push({ id, values: { ...stored(input), ...scope.columns, ...ruled, ...own } });
    }
    return records;
  };

  const insertMany = async (
    db: TenantDb,
    scope: Scope<Row>,
    caller: T['caller'],
    inputs: readonly T['create'][],
  ): Promise<readonly Row[]> => {
    const records = await recordsOf(db, scope, caller, inputs);
    const rows = await repository.insertMany(db, records, causeOf(caller, 'create'));
    for (const row of rows)
      await follow?.({ action: 'create', caller, db, before: undefined, row });
    return rows;
  };

  /**
   * The same changes with a value for each column that any of them sets: one statement makes all of them. What a
   * change leaves out stays as it is. Of columns whose fields are replaced one by one, that is no field at all.
   */
  const withSameColumns = (
    changes: readonly RecordValues[],
    rows: ReadonlyMap<string, Row>,
  ): RecordValues[] => {
    const names = [...new Set(changes.flatMap(({ values }) => Object.keys(values)))];
    return changes.map(({ id, values }) => {
      const row = rows.get(id) as unknown as Values;
      const kept = names.map((name) => [
        name,
        Object.hasOwn(kind.jsonFields, name) ? {} : row[name],
      ]);
      return { id, values: { ...Object.fromEntries(kept), ...values } };
    });
  };

  const restoreDirectly = async (
    { db, scope }: OpenScope<T>,
    caller: T['caller'],
    id: string,
    versions: Versions,
  ): Promise<Row> => {
    const cause = causeOf(caller, 'restore');
    // Retry if the record was deleted between the two statements.
    for (;;) {
      const expected = { id, versions, deleted: true };
      const row = await repository.update(db, scope, expected, { deleted_at: null }, cause);
      if (row) return row;
      const found = await repository.find(db, scope, id);
      if (!found) throw missing();
      checkVersion(found, versions);
      if (!found.deleted_at) return found;
    }
  };

  const restoreLocked = async (
    opened: OpenScope<T>,
    caller: T['caller'],
    id: string,
    versions: Versions,
  ): Promise<Row> =>
    transactionIn(opened, async (transaction) => {
      const { scope } = opened;
      const before = await repository.find(transaction, scope, id, 'lock');
      if (!before) throw missing();
      checkVersion(before, versions);
      if (!before.deleted_at) return before;
      await assertBelowMaximum(transaction, scope);
      const ruled = await rules.restore?.({ caller, db: transaction, row: before });
      const expected = { id, deleted: true };
      const cause = causeOf(caller, 'restore');
      const live = { ...ruled, deleted_at: null };
      const row = await repository.update(transaction, scope, expected, live, cause);
      if (!row) throw missing();
      await follow?.({ action: 'restore', caller, db: transaction, before, row });
      return row;
    });

  return {
    async create(caller, input) {
      const { db, scope } = await open(caller);
      const id = uuidv7();
      const cause = causeOf(caller, 'create');
      const insert = (within: TenantDb, ruled: object): Promise<Row> =>
        repository.insert(within, id, { ...stored(input), ...scope.columns, ...ruled }, cause);
      const isSimple = !rules.create && !follow && maximum === undefined && !tenantFields;
      if (isSimple) return insert(db, {});
      return db.transaction(async (transaction) => {
        await assertBelowMaximum(transaction, scope);
        const context: RuleContext<T> = { caller, db: transaction };
        const ruled = await rules.create?.(input, { ...context, id, columns: scope.columns ?? {} });
        const own = await tenantValues(transaction, input);
        const row = await insert(transaction, { ...ruled, ...own });
        await follow?.({ ...context, action: 'create', before: undefined, row });
        return row;
      });
    },

    async createMany(caller, inputs) {
      const { db, scope } = await open(caller);
      return db.transaction((within) => insertMany(within, scope, caller, inputs));
    },

    async addMany(caller, inputs) {
      const { db, scope } = await open(caller);
      return db.transaction(async (within) => {
        if (follow) return (await insertMany(within, scope, caller, inputs)).map(({ id }) => id);
        const records = await recordsOf(within, scope, caller, inputs);
        await repository.addMany(within, records, causeOf(caller, 'create'));
        return records.map(({ id }) => id);
      });
    },

    async updateMany(caller, changes) {
      const { db, scope } = await open(caller);
      await db.transaction(async (transaction) => {
        const ids = changes.map(({ id }) => id);
        const locked = await repository.lock(transaction, scope, ids);
        const live = locked.filter(({ deleted_at }) => !deleted_at);
        const rows = new Map(live.map((row) => [row.id, row]));
        const givesValues = changes.some(({ change }) => valuesIn(change) !== undefined);
        const declared = givesValues ? await declaredFor(transaction) : [];
        const updates: RecordValues[] = [];
        for (const { id, change } of changes) {
          const row = rows.get(id);
          if (!row) throw missing();
          const values = stored(change);
          refuseMove(values, scope);
          const ruled = await rules.update?.(change, { caller, db: transaction, row });
          const own = valuesIn(change) === undefined ? {} : accepted(declared, change, row);
          const all = { ...values, ...ruled, ...own };
          if (!isEmpty(all)) updates.push({ id, values: all });
        }
        const filled = withSameColumns(updates, rows);
        const changed = await repository.updateMany(transaction, filled, causeOf(caller, 'update'));
        for (const row of follow ? changed : []) {
          const before = rows.get(row.id);
          await follow?.({ action: 'update', caller, db: transaction, before, row });
        }
      });
    },

    async update(caller, id, change, versions) {
      const givesTenantValues = tenantFields && Object.hasOwn(change, tenantFields.column);
      if (rules.update || follow || givesTenantValues) {
        return edit(caller, id, () => change, versions);
      }
      const direct = { action: 'update', values: stored(change) };
      return changeDirectly(caller, id, direct, versions);
    },

    edit,

    async delete(caller, id, versions) {
      if (deletion === 'permanent') return deletePermanently(caller, id, versions);
      const deleted = { deleted_at: new Date() };
      if (!rules.delete && !follow) {
        await changeDirectly(caller, id, { action: 'delete', values: deleted }, versions);
        return;
      }
      await changeLocked(caller, {
        action: 'delete',
        id,
        versions,
        decide: async (context) => {
          await rules.delete?.(context);
          return deleted;
        },
      });
    },

    async restore(caller, id, versions) {
      const opened = await open(caller);
      return rules.restore || follow || maximum !== undefined
        ? restoreLocked(opened, caller, id, versions)
        : restoreDirectly(opened, caller, id, versions);
    },

    act: (caller, id, { name, rule }, body, versions) =>
      changeLocked(caller, {
        action: name,
        id,
        versions,
        decide: (context): ColumnValues<Row> | Promise<ColumnValues<Row>> =>
          rule({ ...context, body }),
      }),
  };
};
