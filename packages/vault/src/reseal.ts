import type { Vault } from './vault.ts';

/** A column with values that a vault has sealed. */
export interface SealedColumn {
  readonly schema: string;
  readonly table: string;
  /** The column with the sealed values; null values are skipped. */
  readonly column: string;
  /** The columns of the primary key with their types, in their order. */
  readonly key: Readonly<Record<string, 'text' | 'uuid'>>;
  /** The column whose value the sealed value is bound to. */
  readonly boundTo: string;
  /** The purpose that a value was sealed for, by the value of `boundTo`. */
  readonly purposeOf: (id: string) => string;
}

/** The part of pg's pool that resealing uses. */
export interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

interface Row {
  /** The values of the primary key. */
  readonly key: readonly string[];
  readonly id: string;
  readonly sealed: Buffer;
}

const statementsFor = ({ schema, table, column, key, boundTo }: SealedColumn) => {
  const columns = Object.entries(key);
  const names = columns.map(([name]) => name).join(', ');
  const last = columns.map(([, type], index) => `($2::text[])[${index + 1}]::${type}`).join(', ');
  const page = (condition: string) => `
    SELECT ARRAY[${columns.map(([name]) => `${name}::text`).join(', ')}] AS key,
      ${boundTo}::text AS id, ${column} AS sealed
    FROM ${schema}.${table} WHERE ${column} IS NOT NULL ${condition} ORDER BY ${names} LIMIT $1`;
  const batch = columns.map((_, index) => `key_${index}`);
  return {
    firstPage: page(''),
    nextPage: page(`AND (${names}) > (${last})`),
    // Skips values that have changed since they were read.
    update: `UPDATE ${schema}.${table} SET ${column} = batch.renewed
      FROM unnest($1::bytea[], $2::bytea[], ${batch.map((_, index) => `$${index + 3}::text[]`).join(', ')})
        AS batch (old, renewed, ${batch.join(', ')})
      WHERE ${columns.map(([name, type], index) => `${table}.${name} = batch.key_${index}::${type}`).join(' AND ')}
        AND ${table}.${column} = batch.old`,
  };
};

const resealColumn = async (
  pool: Queryable,
  vault: Vault,
  sealedColumn: SealedColumn,
  batch: number,
): Promise<number> => {
  const { firstPage, nextPage, update } = statementsFor(sealedColumn);
  let resealed = 0;
  let last: Row | undefined;
  for (;;) {
    const page = last ? pool.query(nextPage, [batch, last.key]) : pool.query(firstPage, [batch]);
    const rows = (await page).rows as Row[];
    const outdated = rows.flatMap(({ key, id, sealed }) => {
      const renewed = vault.renew(sealed, sealedColumn.purposeOf(id));
      return renewed ? [{ key, sealed, renewed }] : [];
    });
    if (outdated.length > 0) {
      const { rowCount } = await pool.query(update, [
        outdated.map(({ sealed }) => sealed),
        outdated.map(({ renewed }) => renewed),
        ...Object.keys(sealedColumn.key).map((_, index) => outdated.map(({ key }) => key[index])),
      ]);
      resealed += rowCount ?? 0;
    }
    if (rows.length < batch) return resealed;
    last = rows.at(-1);
  }
};

/**
 * Reseals, in small batches, every value that was sealed with another key than the first one; afterwards the
 * other keys can be removed. Returns the number of resealed rows by table. Throws if a key is missing.
 */
export const reseal = async (
  pool: Queryable,
  vault: Vault,
  columns: readonly SealedColumn[],
  batch = 200,
): Promise<Record<string, number>> => {
  const resealed: Record<string, number> = {};
  for (const column of columns) {
    resealed[column.table] = await resealColumn(pool, vault, column, batch);
  }
  return resealed;
};
