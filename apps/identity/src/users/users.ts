import { isUniqueViolation } from '@tessera/database-kit';
import type { Transaction } from '../database.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';

type Users = Pick<Transaction, 'user'>;

/**
 * The unconfirmed account of an address: members of a tenant first, then the newest. Null if there is none.
 * `where` restricts the search further.
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

/** The user who has confirmed this address, active or not. */
export const findHolder = (tx: Users, email: string): Promise<User | null> =>
  tx.user.findFirst({ where: { email, isServiceAccount: false, emailVerifiedAt: { not: null } } });

/**
 * The person with this address: whoever confirmed it, active or not, or else the active `findClaimant`. A
 * deactivated account that has not confirmed the address must not keep its owner from using it. Null if there is
 * none. Service accounts can have the same address, since they do not sign in with it (decision I20).
 */
export const findPerson = async (tx: Users, email: string): Promise<User | null> =>
  (await findHolder(tx, email)) ?? findClaimant(tx, email, { isActive: true });

/**
 * Locks a user until the transaction ends, so that sign-ins and changes of credentials run one after the other:
 * nobody signs in with a credential that is being removed.
 */
export const lockUser = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM identity.users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`;
};

/**
 * Locks users as `lockUser` does, in the order of their ids: transactions that lock the same users wait for each other
 * instead of ending in a deadlock.
 */
export const lockUsers = async (tx: Transaction, userIds: readonly string[]): Promise<void> => {
  await tx.$queryRaw`
    SELECT 1 FROM identity.users
    WHERE id = ANY (${[...userIds]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
};

/**
 * Locks an address until the transaction ends, so that registrations and confirmations of the same address run
 * one after the other. Taken before locks of users.
 */
export const lockAddress = async (tx: Transaction, email: string): Promise<void> => {
  await tx.$queryRaw`SELECT 1 FROM pg_advisory_xact_lock(hashtextextended(${email}, 0))`;
};

/** Whether an address could not be confirmed because another person has confirmed it. */
export const isAddressTaken = (error: unknown): boolean =>
  isUniqueViolation(error, 'users_email_key');
