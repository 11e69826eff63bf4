import type { Changes, Versions } from './changes.ts';
import type { KindTypes, RowContext, Scope } from './kind.ts';
import type { RecordValues } from './many-rows.ts';
import { causeOf } from './record-changes.ts';
import type { ColumnValues } from './row.ts';
import type { Access } from './scope.ts';
import { isEmpty, type StoredValues } from './stored-values.ts';
import { transactionIn } from './transaction-in.ts';
import { preconditionFailed } from './versions.ts';

/** A change whose rules need the current row. */
interface Change<T extends KindTypes> {
  /** The action, or what it is called when it sets these columns of the row. */
  readonly action: string | ((row: T['row'], values: ColumnValues<T['row']>) => string);
  readonly id: string;
  readonly versions: Versions;
  /** Throws to reject the change, or returns the columns to write. */
  decide(context: RowContext<T>, scope: Scope<T['row']>): object | Promise<object>;
}

/** The two ways to change a record that exists. */
export const createRowChanges = <T extends KindTypes>(
  access: Access<T>,
  { refuseMove }: StoredValues<T>,
) => {
  type Row = T['row'];
  const { repository, open, findLive, missing } = access;
  const { follow } = access.kind;

  /** Locks the row, decides what to write, writes it and runs `follow`, in one transaction. */
  const changeLocked = async (caller: T['caller'], change: Change<T>): Promise<Row> => {
    const opened = await open(caller);
    const { scope } = opened;
    const { id, versions } = change;
    return transactionIn(access, opened, async (transaction) => {
      const within = { db: transaction, scope };
      const before = await findLive(within, id, { versions, lock: 'lock' });
      const values = await change.decide({ caller, db: transaction, row: before }, scope);
      if (isEmpty(values)) return before;
      const expected = { id, deleted: false };
      const action =
        typeof change.action === 'string' ? change.action : change.action(before, values);
      const cause = causeOf(caller, action);
      const row = await repository.update(transaction, scope, expected, values, cause);
      if (!row) throw missing();
      if (row.version === before.version) return row;
      await follow?.({ action, caller, db: transaction, before, row });
      return row;
    });
  };

  /** Changes the row in a single statement, without rules. */
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

  return { changeLocked, changeDirectly };
};

export type RowChanges<T extends KindTypes> = ReturnType<typeof createRowChanges<T>>;

/** Updates records of a kind, and performs actions. */
export const createUpdates = <T extends KindTypes>(
  { kind, repository, open, missing }: Access<T>,
  {
    stored,
    refuseMove,
    valuesIn,
    accepted,
    declaredFor,
    tenantValues,
    withSameColumns,
  }: StoredValues<T>,
  { changeLocked, changeDirectly }: RowChanges<T>,
): Pick<Changes<T>, 'update' | 'updateMany' | 'edit' | 'act'> => {
  type Row = T['row'];
  const { rules, follow, tenantFields } = kind;

  /** The update that `changeOf` makes of the locked row. */
  const edit: Changes<T>['edit'] = (caller, id, changeOf, versions, action = 'update') =>
    changeLocked(caller, {
      action,
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

  return {
    edit,

    async updateMany(caller, changes) {
      const { db, scope } = await open(caller);
      return db.transaction(async (transaction) => {
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
          updates.push({ id, values: { ...values, ...ruled, ...own } });
        }
        const filled = withSameColumns(updates, rows);
        const changed = await repository.updateMany(transaction, filled, causeOf(caller, 'update'));
        for (const row of follow ? changed : []) {
          const before = rows.get(row.id);
          await follow?.({ action: 'update', caller, db: transaction, before, row });
        }
        return changed.map(({ id }) => id);
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

    act: (caller, id, { name, nameOf, rule }, body, versions) =>
      changeLocked(caller, {
        action: nameOf ?? name,
        id,
        versions,
        decide: (context): ColumnValues<Row> | Promise<ColumnValues<Row>> =>
          rule({ ...context, body }),
      }),
  };
};
