import { isUniqueViolation } from '@tessera/database-kit';
import type { Transaction } from './database.ts';
import type { User } from './generated/prisma/client.ts';

/**
 * The person whose address this is: the one who confirmed it, or else the last one who claimed it. Null
 * where there is none. Service accounts may have the same address: nobody signs in with theirs (decision
 * I20).
 */
export const findPerson = (tx: Pick<Transaction, 'user'>, email: string): Promise<User | null> =>
  tx.user.findFirst({
    where: { email, isServiceAccount: false },
    orderBy: [{ emailVerifiedAt: { sort: 'asc', nulls: 'last' } }, { createdAt: 'desc' }],
  });

/**
 * Locks a user until the transaction ends. What decides how they sign in, and what it decides, come one
 * after the other: nobody gets in by what is being taken away.
 */
export const lockUser = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM identity.users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`;
};

/**
 * Waits for whoever confirms, or registers, the same address; until the transaction ends. Taken before
 * users are locked.
 */
export const lockAddress = async (tx: Transaction, email: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM pg_advisory_xact_lock(hashtextextended(${email}, 0))`;
};

/** Whether an address could not be confirmed because another person has confirmed it. */
export const isAddressTaken = (error: unknown): boolean =>
  isUniqueViolation(error, 'users_email_key');
