import { advisoryLocks, type Transaction } from '../../database.ts';

/** Serializes changes to the set of administrators, until the transaction ends. */
export const lockAdministrators = async (tx: Transaction): Promise<void> => {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLocks.administrators}::int, 0)`;
};

export const isAdministrator = async (tx: Transaction, id: string): Promise<boolean> => {
  const where = { id, isSystemAdmin: true, isActive: true };
  return (await tx.user.count({ where })) > 0;
};

/** Whether another active administrator of the platform exists. */
export const hasOtherAdministrator = async (tx: Transaction, id: string): Promise<boolean> => {
  const where = { id: { not: id }, isSystemAdmin: true, isActive: true };
  return (await tx.user.findFirst({ where, select: { id: true } })) !== null;
};
