import type { Vault } from '@tessera/vault';
import type { Pool } from 'pg';
import { twoFactorPurpose } from '../features/two-factor/two-factor.service.ts';
import { mailPurpose } from '../mail/outbox.ts';
import { signingKeyPurpose } from '../tokens/signing-keys.ts';

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly id: string;
  readonly type: 'text' | 'uuid';
  /** What the vault binds to a row's value. */
  readonly purposeOf: (id: string) => string;
}

/** Every column that the vault seals. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    ...{ table: 'signing_keys', column: 'sealed_private', id: 'kid', type: 'text' },
    purposeOf: signingKeyPurpose,
  },
  {
    ...{ table: 'two_factors', column: 'sealed_secret', id: 'user_id', type: 'uuid' },
    purposeOf: twoFactorPurpose,
  },
  {
    ...{ table: 'outbox_mails', column: 'sealed_message', id: 'id', type: 'uuid' },
    purposeOf: mailPurpose,
  },
];

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
}

const resealColumn = async (
  pool: Pool,
  vault: Vault,
  { table, column, id, type, purposeOf }: SealedColumn,
  batch: number,
): Promise<number> => {
  const page = `SELECT ${id}::text AS id, ${column} AS sealed FROM identity.${table}
    WHERE $1::text IS NULL OR ${id} > ($1::text)::${type} ORDER BY ${id} LIMIT $2`;
  // One that was changed or sealed anew meanwhile stays as it is.
  const update = `UPDATE identity.${table} SET ${column} = given.new
    FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS given (id, old, new)
    WHERE ${table}.${id}::text = given.id AND ${table}.${column} = given.old`;
  let resealed = 0;
  let last: string | null = null;
  for (;;) {
    const { rows }: { rows: Row[] } = await pool.query<Row>(page, [last, batch]);
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
  pool: Pool,
  vault: Vault,
  batch = 200,
): Promise<Record<string, number>> => {
  const resealed: Record<string, number> = {};
  for (const column of sealedColumns) {
    resealed[column.table] = await resealColumn(pool, vault, column, batch);
  }
  return resealed;
};
