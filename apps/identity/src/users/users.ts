import { isUniqueViolation } from '@tessera/database-kit';
import type { Transaction } from '../database.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';

type Users = Pick<Transaction, 'user'>;

/**
 * The unconfirmed account that an address stands for: a member of a tenant before all others, then the
 * newest. Null where there is none. `where` restricts it further.
 */
export const findClaimant = async (
  tx: Users,
  email: string,
  where: Prisma.UserWhereInput = {},
): Promise<User | null> => {
  const claims = { ...where, email, isServiceAccount: false, emailVerifiedAt: null };
  const orderBy = { id: 'desc' } as const;
  const member = { ...claims, memberships: { some: {} } };
  return (
    (await tx.user.findFirst({ where: member, orderBy })) ??
    tx.user.findFirst({ where: claims, orderBy })
  );
};

/**
 * The person whose address this is: the one who confirmed it, or else `findClaimant`. Null where there is
 * none. Service accounts may have the same address: nobody signs in with theirs (decision I20).
 */
export const findPerson = async (tx: Users, email: string): Promise<User | null> =>
  (await tx.user.findFirst({
    where: { email, isServiceAccount: false, emailVerifiedAt: { not: null } },
  })) ?? findClaimant(tx, email);

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
