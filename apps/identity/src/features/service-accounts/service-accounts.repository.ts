import type { Transaction } from '../../database.ts';

export interface AccountFields {
  readonly name: string;
  /** Contact address of the owners; not used to sign in. */
  readonly email: string | null;
}

/** Absent fields are left unchanged. */
export type AccountChange = { readonly [K in keyof AccountFields]?: AccountFields[K] | undefined };

/** Service accounts have a single name, but users have two columns. */
const nameInRow = (name: string) => ({ firstName: name, lastName: '' });

/** How many service accounts are members of the tenant. */
export const countAccounts = (tx: Transaction, tenantId: string): Promise<number> =>
  tx.membership.count({ where: { tenantId, user: { isServiceAccount: true } } });

/** Returns the id. The account is not a member of any tenant yet. */
export const addAccount = async (
  tx: Transaction,
  tenantId: string,
  { name, email }: AccountFields,
): Promise<string> => {
  const { id } = await tx.user.create({
    data: { ...nameInRow(name), email, tenantId, isServiceAccount: true },
  });
  return id;
};

export const changeAccount = async (
  tx: Transaction,
  userId: string,
  { name, email }: AccountChange,
): Promise<void> => {
  await tx.user.update({
    where: { id: userId },
    data: { ...(name !== undefined && nameInRow(name)), ...(email !== undefined && { email }) },
  });
};

/**
 * Keeps the row, inactive and without an address, so that the activity log can still name the account.
 */
export const retireAccount = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.user.update({ where: { id: userId }, data: { isActive: false, email: null } });
};
