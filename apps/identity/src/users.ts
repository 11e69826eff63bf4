import { isUniqueViolation } from '@tessera/database-kit';
import type { Transaction } from './database.ts';
import type { User } from './generated/prisma/client.ts';

/**
 * The person whose address this is; null where there is none. Service accounts may have the same address:
 * nobody signs in with theirs (decision I20).
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

/** Whether a person could not be written because another one has the address. */
export const isAddressTaken = (error: unknown): boolean =>
  isUniqueViolation(error, 'users_email_key');
