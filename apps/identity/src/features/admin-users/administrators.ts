import type { Transaction } from '../../database.ts';

/** The first of two numbers of an advisory lock; nothing else in this database uses it. */
const TURN = 0x0ad1;

/** Waits for every other change of who administers the platform; until the transaction ends. */
export const takeAdministratorsTurn = async (tx: Transaction): Promise<void> => {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${TURN}::int, 0)`;
};

export const isAdministrator = async (tx: Transaction, id: string): Promise<boolean> => {
  const where = { id, isSystemAdmin: true, isActive: true };
  return (await tx.user.count({ where })) > 0;
};

/** Whether somebody else can still administer the platform. */
export const hasOtherAdministrator = async (tx: Transaction, id: string): Promise<boolean> => {
  const where = { id: { not: id }, isSystemAdmin: true, isActive: true };
  return (await tx.user.findFirst({ where, select: { id: true } })) !== null;
};
