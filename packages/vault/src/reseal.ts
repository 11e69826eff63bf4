import type { Vault } from './vault.ts';

/** A column that a vault seals. */
export interface SealedColumn {
  readonly schema: string;
  readonly table: string;
  /** May be null. */
  readonly column: string;
  /** The primary key. */
  readonly id: string;
  readonly type: 'text' | 'uuid';
  /** What the vault binds to a row's value. */
  readonly purposeOf: (id: string) => string;
}

/** The part of pg's pool that is used here. */
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
  // One that was changed or sealed anew meanwhile stays as it is.
  const update = `UPDATE ${schema}.${table} SET ${column} = given.new
    FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS given (id, old, new)
    WHERE ${table}.${id}::text = given.id AND ${table}.${column} = given.old`;
  let resealed = 0;
  let last: string | null = null;
  for (;;) {
    const rows = (await pool.query(page, [last, batch])).rows as Row[];
    const old = rows.flatMap((row) => {
      const renewed = vault.renew(row.sealed, purposeOf(row.id));
      return renewed ? [{ ...row, renewed }] : [];
    });
    if (old.length > 0) {
      const { rowCount } = await pool.query(update, [
        old.map((row) => row.id),
        old.map(({ sealed }) => sealed),
        old.map(({ renewed }) => renewed),
      ]);
      resealed += rowCount ?? 0;
    }
    if (rows.length < batch) return resealed;
    last = rows.at(-1)?.id ?? null;
  }
};

/**
 * Seals with the first of the keys what another one has sealed, in small batches: afterwards the other
 * keys are needed no more. Gives how many rows it was, by table. Throws where a key is missing.
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
