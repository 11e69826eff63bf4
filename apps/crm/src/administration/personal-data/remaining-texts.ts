import type { CatalogueColumn, CatalogueTable } from '@tessera/database-kit';
import pg from 'pg';

const { escapeIdentifier: quoted } = pg;

/** Shorter texts are in too many others. */
const MIN_LENGTH = 4;

/** Whether a text is long enough to be looked for within others. */
export const isSearchable = (text: string): boolean => text.length >= MIN_LENGTH;

const isText = ({ type }: CatalogueColumn): boolean =>
  ['text', 'text[]', 'json', 'jsonb'].includes(type);

/** How many rows of a tenant contain one of the texts in any column, in any case, by table. */
export const countTexts = async (
  client: Pick<pg.ClientBase, 'query'>,
  tables: readonly CatalogueTable[],
  tenantId: string,
  texts: readonly string[],
): Promise<Record<string, number>> => {
  const searched = texts.filter(isSearchable);
  const found: Record<string, number> = {};
  if (searched.length === 0) return found;
  for (const { name, columns } of tables) {
    const values = columns.filter(isText).map((column) => `${quoted(column.name)}::text`);
    if (values.length === 0) continue;
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM tenant_crm.${quoted(name)} WHERE tenant_id = $1
         AND EXISTS (SELECT FROM unnest(ARRAY[${values.join(', ')}]) AS value CROSS JOIN unnest($2::text[]) AS text
           WHERE strpos(lower(value), lower(text)) > 0)`,
      [tenantId, searched],
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0) found[name] = count;
  }
  return found;
};
