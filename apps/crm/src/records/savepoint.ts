import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** Runs work in a transaction and rolls back its changes. */
export const dryRun = async <R>(db: TenantDb, work: () => Promise<R>): Promise<R> => {
  await db.query(sql`SAVEPOINT dry_run`);
  const result = await work();
  await db.query(sql`ROLLBACK TO SAVEPOINT dry_run`);
  return result;
};

/** Runs work in a transaction. If it fails, only its own changes are rolled back, and the transaction continues. */
export const separately = async <R>(db: TenantDb, work: () => Promise<R>): Promise<R> => {
  await db.query(sql`SAVEPOINT separate`);
  try {
    return await work();
  } catch (error) {
    await db.query(sql`ROLLBACK TO SAVEPOINT separate`);
    throw error;
  } finally {
    await db.query(sql`RELEASE SAVEPOINT separate`);
  }
};

/**
 * Runs work in a transaction until it returns a result, at most so often. Without one, its changes are rolled back and its
 * locks released.
 */
export const retried = async <R>(
  db: TenantDb,
  attempts: number,
  work: () => Promise<R | undefined>,
): Promise<R | undefined> => {
  await db.query(sql`SAVEPOINT retried`);
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const result = await work();
    if (result !== undefined) {
      await db.query(sql`RELEASE SAVEPOINT retried`);
      return result;
    }
    await db.query(sql`ROLLBACK TO SAVEPOINT retried`);
  }
  await db.query(sql`RELEASE SAVEPOINT retried`);
  return undefined;
};
