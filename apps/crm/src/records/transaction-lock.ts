import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql, raw } = Prisma;

/**
 * Waits until no other transaction holds the lock of this name, and holds it until this one ends. Any number of
 * transactions hold a shared lock, but not beside an exclusive one.
 */
export const lockUntilEnd = async (
  db: TenantDb,
  name: string,
  mode: 'exclusive' | 'shared' = 'exclusive',
): Promise<void> => {
  const lock = raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await db.query(sql`SELECT ${lock}(hashtextextended(${name}, 0))::text`);
};
