import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import type { KindTypes, Scope } from './kind.ts';
import type { RecordValues } from './many-rows.ts';
import type { Access } from './scope.ts';
import { acceptValues, type TenantField } from './tenant-fields.ts';

export const isEmpty = (values: object): boolean => Object.keys(values).length === 0;

/** Converts inputs of a kind to the values of its columns. */
export const createStoredValues = <T extends KindTypes>({ kind, repository }: Access<T>) => {
  type Row = T['row'];
  const { tenantFields } = kind;
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

  /** An input must not move a record out of the caller's scope, or below another parent; rules may. */
  const refuseMove = (values: object, { columns: own = {} }: Scope<Row>): void => {
    const given = new Map<string, unknown>(Object.entries(values));
    for (const [column, value] of Object.entries(own)) {
      if (given.has(column) && given.get(column) !== value) {
        throw invalidField(column, `${column} must stay as it is`);
      }
    }
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

  return { stored, refuseMove, valuesIn, accepted, declaredFor, tenantValues, withSameColumns };
};

export type StoredValues<T extends KindTypes> = ReturnType<typeof createStoredValues<T>>;
