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
