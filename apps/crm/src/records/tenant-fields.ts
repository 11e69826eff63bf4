import { isDeepStrictEqual } from 'node:util';
import { type Field, type FieldErrors, readTexts, shape, validate } from '@tessera/fields';
import { validationFailed } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { RecordChange } from './history.ts';
import { revisionOfAll } from './versions.ts';

const { sql, raw } = Prisma;

/** A field that a tenant has declared for a kind. */
export interface TenantField {
  readonly key: string;
  readonly field: Field;
  /** What lists are filtered by, if it also takes values that records have from earlier. Default: `field`. */
  readonly filter?: Field;
  readonly isRequired: boolean;
  readonly isFilterable: boolean;
}

/** Fields that each tenant declares for a kind. */
export interface TenantFields {
  /** The `jsonb` column with the values by key; the field of input and response has the same name. */
  readonly column: string;
  /** The fields that the tenant has declared, in their order. */
  declared(db: TenantDb): Promise<readonly TenantField[]>;
  /** The keys of these fields in one text, separated by commas, as a subquery; null if there are none. */
  declaredKeys(tenantId: string): Prisma.Sql;
  /**
   * When each of these fields was declared, by the clock of the history: earlier changes are those of a deleted field
   * with the same key.
   */
  declaredSince(db: TenantDb): Promise<ReadonlyMap<string, Date>>;
  /** The same as `declared` in the transaction of a change: they stay as they are until it ends. */
  declaredFor(change: TenantDb): Promise<readonly TenantField[]>;
}

type Values = Readonly<Record<string, unknown>>;

const byKey = (declared: readonly TenantField[]): ReadonlyMap<string, TenantField> =>
  new Map(declared.map((one) => [one.key, one]));

/**
 * The values given for declared fields; 422 names each field that is not declared, or whose value is invalid. A value that
 * the record has already is valid, so that clients can send a record back: the declaration may have changed since. So is null
 * for one that it lacks.
 */
const validated = (
  column: string,
  declared: ReadonlyMap<string, TenantField>,
  given: Values,
  absent: readonly string[],
  before?: Values,
): Values => {
  const values: Record<string, unknown> = {};
  const errors: FieldErrors = Object.create(null);
  for (const [key, value] of [
    ...absent.map((key) => [key, null] as const),
    ...Object.entries(given),
  ]) {
    const name = `${column}.${key}`;
    const one = declared.get(key);
    if (!one) errors[name] = [`${name} is not allowed`];
    else if (before && Object.hasOwn(before, key) && isDeepStrictEqual(before[key], value))
      values[key] = value;
    else if (value !== null) {
      const result = validate(one.field, value, name);
      if (result.ok) values[key] = result.value;
      else Object.assign(errors, result.errors);
    } else if (one.isRequired && (!before || Object.hasOwn(before, key))) {
      errors[name] = [`${name} is required`];
    }
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return values;
};

/**
 * The column value of a new record (without `before`) or of a changed one; `fields` are those declared in the
 * transaction of the change.
 */
export const acceptValues = (
  column: string,
  fields: readonly TenantField[],
  given: Values,
  before?: Values,
): Record<string, Values> => {
  const declared = byKey(fields);
  const absent = before ? [] : [...declared.keys()].filter((key) => !Object.hasOwn(given, key));
  const values = validated(column, declared, given, absent, before);
  const cleared = Object.keys(given).filter((key) => given[key] === null);
  const kept = Object.entries(before ?? {}).filter(([key]) => !cleared.includes(key));
  return { [column]: { ...Object.fromEntries(kept), ...values } };
};

/** The name of the declared keys among a row's columns. No column of a record has a name that must be quoted. */
export const KEYS = '#keys';

/** The column of `declaredKeys` in a statement that reads records, which then needs no second one. */
export const keysColumn = ({ declaredKeys }: TenantFields, tenantId: string): Prisma.Sql =>
  sql`${declaredKeys(tenantId)} AS ${raw(`"${KEYS}"`)}`;

const readKeys = (keys: string | null): readonly string[] => keys?.split(',') ?? [];

/** The declared keys that rows were read with; undefined if the statement did not read them. */
export const keysIn = ([row]: readonly object[]): readonly string[] | undefined => {
  const { [KEYS]: keys } = (row ?? {}) as { readonly [KEYS]?: string | null };
  return keys === undefined ? undefined : readKeys(keys);
};

/** The values of declared fields, in the order of the declarations. */
const declaredValues = (values: Values, keys: readonly string[]): Values =>
  Object.fromEntries(
    keys.filter((key) => Object.hasOwn(values, key)).map((key) => [key, values[key]]),
  );

/** Returns a function that keeps the values of declared fields, from the JSON text of what `declaredKeys` returns. */
export const declaredJson = (keys: string | null): ((values: string) => string) => {
  const declared = readKeys(keys === null ? null : JSON.parse(keys));
  return (values) =>
    values === '{}' ? values : JSON.stringify(declaredValues(JSON.parse(values), declared));
};

/** The same records with the values of declared fields only: those of deleted ones may not be removed yet. */
export const withDeclaredValues = async <A extends object>(
  { column, declared }: TenantFields,
  db: TenantDb,
  answers: A[],
  declaredKeys?: readonly string[],
): Promise<A[]> => {
  const valuesOf = (answer: A): Values => (answer as Record<string, Values>)[column] ?? {};
  if (answers.every((answer) => Object.keys(valuesOf(answer)).length === 0)) return answers;
  const keys = declaredKeys ?? (await declared(db)).map(({ key }) => key);
  return answers.map((answer) => ({ ...answer, [column]: declaredValues(valuesOf(answer), keys) }));
};

/**
 * A number for the fields whose values a record shows, for its entity tag: values of a field that is deleted disappear
 * without a new version. Undefined if there are none.
 */
export const shownFieldsRevision = (
  { column }: TenantFields,
  answer: object,
): number | undefined => {
  const keys = Object.keys((answer as Record<string, Values>)[column] ?? {});
  return keys.length === 0 ? undefined : revisionOfAll(...keys);
};

/**
 * The same changes without those of fields that are no longer declared: a value of a deleted field is not to be seen
 * anywhere, even if there is a new field with the same key. A change of nothing else remains, without fields.
 */
export const withDeclaredChanges = async (
  { column, declaredSince }: TenantFields,
  db: TenantDb,
  changes: readonly RecordChange[],
): Promise<RecordChange[]> => {
  const prefix = `${column}.`;
  const isTenantField = (name: string): boolean => name.startsWith(prefix);
  if (!changes.some((change) => Object.keys(change.changes).some(isTenantField)))
    return [...changes];
  const since = await declaredSince(db);
  return changes.map((change) => {
    const isShown = (name: string): boolean => {
      if (!isTenantField(name)) return true;
      const declaredAt = since.get(name.slice(prefix.length));
      return declaredAt !== undefined && declaredAt <= change.changed_at;
    };
    const shown = Object.entries(change.changes).filter(([name]) => isShown(name));
    return { ...change, changes: Object.fromEntries(shown) };
  });
};

/** The conditions of a list for `<column>.<key>=<text>`; 422 names a field that cannot be filtered by. */
export const tenantConditions = async (
  { column, declared }: TenantFields,
  db: TenantDb,
  texts: Readonly<Record<string, string>> | undefined,
): Promise<Prisma.Sql[]> => {
  if (!texts || Object.keys(texts).length === 0) return [];
  const filterable = byKey((await declared(db)).filter(({ isFilterable }) => isFilterable));
  const values: Record<string, unknown> = {};
  const errors: FieldErrors = Object.create(null);
  for (const [key, text] of Object.entries(texts)) {
    const name = `${column}.${key}`;
    const one = filterable.get(key);
    const field = one?.filter ?? one?.field;
    if (!field) {
      errors[name] = [`${name} cannot be filtered by`];
      continue;
    }
    const read = readTexts(shape({ [key]: field }), { [key]: text }) as Values;
    const result = validate(field, read[key], name);
    if (result.ok) values[key] = result.value;
    else Object.assign(errors, result.errors);
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return [sql`${raw(column)} @> ${JSON.stringify(values)}::jsonb`];
};
