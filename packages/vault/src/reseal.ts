import type { Vault } from './vault.ts';

/** A column with values that a vault has sealed. */
export interface SealedColumn {
  readonly schema: string;
  readonly table: string;
  /** The column with the sealed values; null values are skipped. */
  readonly column: string;
  /** The column that is the primary key. */
  readonly id: string;
  readonly type: 'text' | 'uuid';
  /** The purpose that the value of the row with this id was sealed for. */
  readonly purposeOf: (id: string) => string;
}

/** The part of pg's pool that resealing uses. */
export interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
}

const resealColumn = async (
  pool: Queryable,
  vault: Vault,
  { schema, table, column, id, type, purposeOf }: SealedColumn,
  batch: number,
): Promise<number> => {
  const page = `SELECT ${id}::text AS id, ${column} AS sealed FROM ${schema}.${table}
    WHERE ${column} IS NOT NULL AND ($1::text IS NULL OR ${id} > ($1::text)::${type}) ORDER BY ${id} LIMIT $2`;
  // Skips values that have changed since they were read.
  const update = `UPDATE ${schema}.${table} SET ${column} = batch.renewed
    FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS batch (id, old, renewed)
    WHERE ${table}.${id}::text = batch.id AND ${table}.${column} = batch.old`;
  let resealed = 0;
  let last: string | null = null;
  for (;;) {
    const rows = (await pool.query(page, [last, batch])).rows as Row[];
    const outdated = rows.flatMap((row) => {
      const renewed = vault.renew(row.sealed, purposeOf(row.id));
      return renewed ? [{ ...row, renewed }] : [];
    });
    if (outdated.length > 0) {
      const { rowCount } = await pool.query(update, [
        outdated.map((row) => row.id),
        outdated.map(({ sealed }) => sealed),
        outdated.map(({ renewed }) => renewed),
      ]);
      resealed += rowCount ?? 0;
    }
    if (rows.length < batch) return resealed;
    last = rows.at(-1)?.id ?? null;
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
