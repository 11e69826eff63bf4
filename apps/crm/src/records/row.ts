import type { Field, JsonSchema, Shape } from '@tessera/fields';

/** The columns of every table of records. */
export interface RecordRow {
  readonly id: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Always null for kinds that are deleted permanently, whose tables do not have the column. */
  readonly deleted_at: Date | null;
}

declare const value: unique symbol;

/** A column that is not part of responses. */
export interface HiddenColumn<T = unknown> {
  readonly isJson: boolean;
  readonly [value]?: T;
}

/** A column that rules can read but responses do not show, such as sealed credentials. */
export const hidden = <T>(): HiddenColumn<T> => ({ isJson: false });

/** The same for a `jsonb` column. */
export const hiddenJson = <T>(): HiddenColumn<T> => ({ isJson: true });

export type HiddenColumns = Readonly<Record<string, HiddenColumn>>;

/** The row of a kind: the columns of every record, those of its response, and the hidden ones. */
export type RowOf<Answer, Computed extends PropertyKey, Hidden extends HiddenColumns> = RecordRow &
  Omit<Answer, Computed | keyof RecordRow> & {
    readonly [K in keyof Hidden]: Hidden[K] extends HiddenColumn<infer T> ? T : never;
  };

/** The columns that a change may set; excludes those that the core sets. */
export type ColumnValues<Row extends RecordRow> = Partial<Omit<Row, keyof RecordRow>>;

const isNull = ({ type }: JsonSchema): boolean => type === 'null';
const hasType = ({ type }: JsonSchema, wanted: string): boolean => [type].flat().includes(wanted);

/** Whether null is among the values with this schema. */
export const mayBeNull = (schema: JsonSchema): boolean => {
  const { anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return anyOf.some(mayBeNull);
  return hasType(schema, 'null') || (Array.isArray(values) && values.includes(null));
};

/** Whether values with this schema are stored as `jsonb`: objects and lists of objects. */
const isStoredAsJson = (schema: JsonSchema): boolean => {
  const { anyOf, items } = schema;
  if (Array.isArray(anyOf)) {
    return anyOf.some((option: JsonSchema) => !isNull(option) && isStoredAsJson(option));
  }
  if (hasType(schema, 'object')) return true;
  return hasType(schema, 'array') && isStoredAsJson((items ?? {}) as JsonSchema);
};

interface Columned {
  readonly answer: Shape & Field;
  readonly computed: Readonly<Record<string, unknown>>;
  readonly hidden: HiddenColumns;
  readonly deletion: 'soft' | 'permanent';
  readonly parent: { readonly column: string } | undefined;
  readonly jsonFields: Readonly<Record<string, readonly string[]>>;
}

/** The names of a kind's columns, except `tenant_id`, and whether each is `jsonb`. */
export const columnsOf = ({
  answer,
  computed,
  hidden: hiddenColumns,
  deletion,
  parent,
  jsonFields,
}: Columned): ReadonlyMap<string, boolean> => {
  const held = new Set(Object.values(jsonFields).flat());
  const own = Object.entries(answer.fields)
    .filter(([name]) => !Object.hasOwn(computed, name) && !held.has(name))
    .map(([name, { json }]) => [name, isStoredAsJson(json)] as const);
  return new Map<string, boolean>([
    ['id', false],
    ['version', false],
    ['created_at', false],
    ['updated_at', false],
    ...(deletion === 'soft' ? [['deleted_at', false] as const] : []),
    ...(parent ? [[parent.column, false] as const] : []),
    ...own,
    ...Object.entries(hiddenColumns).map(([name, { isJson }]) => [name, isJson] as const),
  ]);
};

type Present<Row, Answer> = (row: Row) => Answer;

/** Turns a row into the response: its columns, the fields of its JSON columns, and the computed fields. */
export const presenter = <Row extends object, Answer>({
  answer: { fields },
  computed,
  jsonFields,
}: {
  readonly answer: Shape;
  readonly computed: Readonly<Record<string, (row: Row) => unknown>>;
  readonly jsonFields: Columned['jsonFields'];
}): Present<Row, Answer> => {
  type Values = Readonly<Record<string, unknown>>;
  const columnOf = new Map(
    Object.entries(jsonFields).flatMap(([column, names]) => names.map((name) => [name, column])),
  );
  const readers = Object.keys(fields).map((name) => {
    const column = columnOf.get(name);
    const read = (row: Row): unknown =>
      column === undefined
        ? (row as Values)[name]
        : ((row as Record<string, Values>)[column]?.[name] ?? null);
    return [name, computed[name] ?? read] as const;
  });
  return (row) => {
    const answer: Record<string, unknown> = {};
    for (const [name, read] of readers) answer[name] = read(row);
    return answer as Answer;
  };
};
