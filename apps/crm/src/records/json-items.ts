import { jsonTypes } from '@tessera/database-kit';
import { invalidField, JsonText } from '@tessera/http-kit';
import type { Kind, KindTypes } from './kind.ts';
import { type ListFormat, type Page, TOTAL } from './listing.ts';
import { declaredJson, KEYS } from './tenant-fields.ts';

/** A row of a list with its record as JSON text. */
export interface JsonRow<Item> {
  readonly item: JsonText<Item>;
}

/** The JSON text of each column's value; null without one. */
export type Texts = readonly (string | null)[];

/** How the text of a value is changed, with those of the whole row. */
type Replace = (text: string, texts: Texts) => string;

/**
 * Returns a function that returns the JSON text of an object with these members, from the texts of a row with these columns.
 * `replacing` has members whose text is another one than that of the column.
 */
export const jsonObjects = (
  names: readonly string[],
  columns: readonly string[],
  replacing?: ReadonlyMap<string, Replace>,
): ((texts: Texts) => string) => {
  const members = names.map((name, position) => ({
    label: `${position === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    index: columns.indexOf(name),
    replace: replacing?.get(name),
  }));
  return (texts) => {
    let json = '';
    for (const { label, index, replace } of members) {
      const text = texts[index] ?? 'null';
      json += label + (replace ? replace(text, texts) : text);
    }
    return `${json}}`;
  };
};

/**
 * How lists read records as JSON text. Creating each record and serializing it again would take much of the CPU time of a page.
 * Undefined if a record needs more than its columns and expressions of them.
 */
export const jsonItems = <T extends KindTypes>({
  item,
  computed,
  computedInSql,
  jsonFields,
  searchedColumns,
  tenantFields,
}: Kind<T>): ListFormat<JsonRow<T['item']>> | undefined => {
  const names = Object.keys(item.fields);
  const isOfColumns =
    !searchedColumns &&
    Object.keys(jsonFields).length === 0 &&
    Object.keys(computed).every((name) => !names.includes(name) || computedInSql[name]);
  if (!isOfColumns) return undefined;

  return {
    types: jsonTypes,
    columns: [...new Set(['id', ...names])].map((name) =>
      computedInSql[name] ? `${computedInSql[name]} AS ${name}` : name,
    ),
    rowOf(columns) {
      const indexOf = (name: string): number => columns.indexOf(name);
      const [id, total, keys] = [indexOf('id'), indexOf(TOTAL), indexOf(KEYS)];
      let keepDeclared: ReturnType<typeof declaredJson> | undefined;
      /** The keys are the same in all rows of a statement. */
      const declared: Replace = (text, texts) => {
        keepDeclared ??= declaredJson(texts[keys] ?? null);
        return keepDeclared(text);
      };
      const replacing = tenantFields && new Map([[tenantFields.column, declared]]);
      const jsonOf = jsonObjects(names, columns, replacing);
      return (values) => {
        const texts = values as Texts;
        const own = texts[id] ?? null;
        return {
          [TOTAL]: Number(texts[total] ?? 0),
          id: own,
          item: new JsonText(own === null ? 'null' : jsonOf(texts)),
        };
      };
    },
  };
};

/** The most characters of the records of a page, unless it has no more records than a page has by default. */
const MAX_PAGE = 5_000_000;
const ALWAYS_SHOWN = 25;

/**
 * The body of a response with one page of records, each as an object or as JSON text. 422 for `per_page` if they are
 * too large.
 */
export const pageBody = <Item, Position extends object>(
  rows: Page<Item | JsonText<Item>>['rows'],
  position: Position,
): JsonText<{ data: Item[] } & Position> => {
  let data = '';
  for (const row of rows) {
    const text = row instanceof JsonText ? row.text : JSON.stringify(row);
    data += data === '' ? text : `,${text}`;
    if (rows.length > ALWAYS_SHOWN && data.length > MAX_PAGE) {
      throw invalidField(
        'per_page',
        `per_page must be less: the page would have more than ${MAX_PAGE} characters`,
      );
    }
  }
  return new JsonText(`{"data":[${data}],${JSON.stringify(position).slice(1)}`);
};
