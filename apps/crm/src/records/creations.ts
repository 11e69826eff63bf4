import { v7 as uuidv7 } from 'uuid';
import type { TenantDb } from '../database.ts';
import type { Changes } from './changes.ts';
import type { KindTypes, RuleContext, Scope } from './kind.ts';
import type { RecordValues } from './many-rows.ts';
import { requireBelowMaximum } from './maximum.ts';
import { newIds } from './new-ids.ts';
import { causeOf } from './record-changes.ts';
import type { Access } from './scope.ts';
import type { StoredValues } from './stored-values.ts';

/** Creates records of a kind: in one statement if the kind has no rules and no `follow`, else in a transaction. */
export const createCreations = <T extends KindTypes>(
  access: Access<T>,
  { stored, accepted, declaredFor, tenantValues }: StoredValues<T>,
): Pick<Changes<T>, 'create' | 'createMany' | 'addMany'> => {
  type Row = T['row'];
  const { kind, repository, open } = access;
  const { rules, follow, maximum, tenantFields } = kind;

  /** New records with their columns, by the rules of the kind. */
  const recordsOf = async (
    db: TenantDb,
    scope: Scope<Row>,
    caller: T['caller'],
    inputs: readonly T['create'][],
  ): Promise<RecordValues[]> => {
    await requireBelowMaximum(access, db, scope, inputs.length);
    const declared = await declaredFor(db);
    const records: RecordValues[] = [];
    const ids = newIds(inputs.length);
    for (const [index, input] of inputs.entries()) {
      const id = ids[index] as string;
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
        await requireBelowMaximum(access, transaction, scope);
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
  };
};
