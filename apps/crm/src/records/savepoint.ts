import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';

const { sql } = Prisma;

/** Runs work within a transaction and undoes it. */
export const rehearse = async <R>(db: TenantDb, work: () => Promise<R>): Promise<R> => {
  await db.query(sql`SAVEPOINT rehearsal`);
  const result = await work();
  await db.query(sql`ROLLBACK TO SAVEPOINT rehearsal`);
  return result;
};

/** Runs work within a transaction; if it fails, only what it did is undone, and the transaction can go on. */
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
