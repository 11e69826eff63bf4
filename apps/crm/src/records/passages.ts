import { setImmediate as nextTurn } from 'node:timers/promises';
import { bool, described, list, named, type Out, oneOf, rawText, shape } from '@tessera/fields';
import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { markedParts } from './marked-parts.ts';
import type { RecordRow } from './row.ts';

const { sql, raw } = Prisma;

/** The columns of a kind's `search_text`, in its order, by the names that passages from them have. */
export type SearchedColumns = Readonly<
  Record<string, { readonly column: string; readonly isList?: true }>
>;

/** How many passages of a record are shown, and how many characters before and after a hit are read. */
const SHOWN = 3;
const READ = 2000;

const part = shape({
  text: rawText(Number.MAX_SAFE_INTEGER, 0),
  is_match: described(bool(), 'Whether the search found exactly this'),
});

/** The field of list items with the passages that a search found. */
export const passagesField = (columns: SearchedColumns) =>
  described(
    list(
      named(
        'SearchPassage',
        shape({
          field: described(oneOf(...Object.keys(columns)), 'The field that it is in'),
          parts: described(
            list(part, { max: Number.MAX_SAFE_INTEGER }),
            'The passage in parts, in their order. They are plain text, not HTML.',
          ),
        }),
      ),
      { max: SHOWN },
    ),
    'Where the search found the record: the first passages that contain the term. Empty without a search.',
  );

export type Passage = Out<ReturnType<typeof passagesField>>[number];

interface FoundLine {
  readonly id: string;
  /** Its place among the lines of all searched columns, from 1. */
  readonly number: number;
  readonly text: string;
  /** The folded term. */
  readonly term: string;
  /** The folded forms of the letters in `text` that are not ASCII. */
  readonly folds: Readonly<Record<string, string>> | null;
}

/**
 * The first lines that contain the term. Lines of `search_text` are those of the texts, so that only the letters around
 * a hit are folded. Some letters fold to several or to none, so its place in a long line is estimated from the lengths.
 */
const findLines = (
  db: TenantDb,
  table: string,
  columns: SearchedColumns,
  { ids, search }: { readonly ids: readonly string[]; readonly search: string },
): Promise<FoundLine[]> => {
  const texts = Object.values(columns).map(({ column, isList }) =>
    isList ? `record.${column}` : `ARRAY[record.${column}]`,
  );
  return db.read<FoundLine>(sql`
    SELECT record.id, line.number::int, line.text, key AS term, folds
    FROM (SELECT tenant_crm.search_key(${search}) COLLATE "C" AS key) AS term
    CROSS JOIN ${raw(`${db.readSchema}.${table}`)} AS record
    CROSS JOIN LATERAL (
      SELECT number,
        normalize(substr(text, greatest(
          (strpos(folded, key)::bigint * length(text) / length(folded))::int - ${READ}, 1
        ), ${2 * READ})) AS text
      FROM unnest(
        string_to_array(array_to_string(${raw(texts.join(' || '))}, E'\n'), E'\n'),
        string_to_array(record.search_text, E'\n')
      ) WITH ORDINALITY AS lines (text, folded, number)
      WHERE strpos(folded, key) > 0 ORDER BY number LIMIT ${SHOWN}
    ) AS line
    CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(letter, tenant_crm.search_key(letter)) AS folds
      FROM (SELECT DISTINCT letter FROM string_to_table(line.text, NULL) AS letter) AS letters
      WHERE octet_length(letter) > 1
    ) AS folded
    WHERE record.tenant_id = ${db.tenantId}::uuid AND record.id = ANY(${ids}::uuid[]) AND key <> ''
    ORDER BY record.id, line.number`);
};

/** The name of the searched column that a line is in. */
const fieldOf = (columns: SearchedColumns, row: object, number: number): string => {
  const names = Object.keys(columns);
  let last = 0;
  // The last column has all lines that are left; lists do not read it.
  for (const name of names.slice(0, -1)) {
    const value = (row as Readonly<Record<string, unknown>>)[columns[name]?.column ?? ''];
    for (const text of [value ?? []].flat()) last += `${text}`.split('\n').length;
    if (number <= last) return name;
  }
  return names.at(-1) ?? '';
};

/** The passages of each row that contain the term, in the order of the rows. */
export const findPassages = async (
  db: TenantDb,
  table: string,
  columns: SearchedColumns,
  rows: readonly RecordRow[],
  search: string,
): Promise<Passage[][]> => {
  if (search === '' || rows.length === 0) return rows.map(() => []);
  const lines = await findLines(db, table, columns, { ids: rows.map(({ id }) => id), search });
  const found: Passage[][] = [];
  for (const row of rows) {
    const own = lines.filter(({ id }) => id === row.id);
    const passages = own.flatMap(({ number, text, term, folds }) => {
      const parts = markedParts(text, term, (letter) => folds?.[letter] ?? letter.toLowerCase());
      return parts.length === 0 ? [] : [{ field: fieldOf(columns, row, number), parts }];
    });
    found.push(passages);
    // Three lines of 4000 letters take some milliseconds.
    if (own.length > 0) await nextTurn();
  }
  return found;
};
