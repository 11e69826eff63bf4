import { jsonTypes } from '@tessera/database-kit';
import { JsonText } from '@tessera/http-kit';
import type { Kind, KindTypes } from './kind.ts';
import { type ListFormat, type Page, TOTAL } from './listing.ts';
import { declaredJson, KEYS } from './tenant-fields.ts';

/** A row of a list with its record as JSON text. */
export interface JsonRow<Item> {
  readonly item: JsonText<Item>;
}

/** The JSON text of each column's value; null without one. */
type Texts = readonly (string | null)[];

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
      const members = names.map((name, position) => ({
        label: `${position === 0 ? '{' : ','}${JSON.stringify(name)}:`,
        index: indexOf(name),
        isDeclared: name === tenantFields?.column,
      }));
      let keepDeclared: ReturnType<typeof declaredJson> | undefined;
      /** The keys are the same in all rows of a statement. */
      const declared = (text: string, texts: Texts): string => {
        keepDeclared ??= declaredJson(texts[keys] ?? null);
        return keepDeclared(text);
      };
      const jsonOf = (texts: Texts): string => {
        let json = '';
        for (const { label, index, isDeclared } of members) {
          const text = texts[index] ?? 'null';
          json += label + (isDeclared ? declared(text, texts) : text);
        }
        return `${json}}`;
      };
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

/** The body of a response with one page of records, each as an object or as JSON text. */
export const pageBody = <Item, Position extends object>(
  rows: Page<Item | JsonText<Item>>['rows'],
  position: Position,
): ({ data: Item[] } & Position) | JsonText<{ data: Item[] } & Position> => {
  const [first, ...others] = rows;
  if (!(first instanceof JsonText)) return { data: rows as Item[], ...position };
  let data = first.text;
  for (const { text } of others as JsonText<Item>[]) data += `,${text}`;
  return new JsonText(`{"data":[${data}],${JSON.stringify(position).slice(1)}`);
};
