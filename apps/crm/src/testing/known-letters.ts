import type { Pool } from 'pg';

/**
 * Returns the SQL condition for letters that the database knows: its version of Unicode may be older than that of the runtime.
 * Before PostgreSQL 17, these are the letters of which it knows another case.
 */
export const knownLetters = async (
  pool: Pick<Pool, 'query'>,
): Promise<(letter: string) => string> => {
  const { rows } = await pool.query<{ tells: boolean }>(
    "SELECT to_regproc('unicode_assigned') IS NOT NULL AS tells",
  );
  return rows[0]?.tells
    ? (letter) => `unicode_assigned(${letter})`
    : (letter) => `(lower(${letter}) <> ${letter} OR upper(${letter}) <> ${letter})`;
};
