import type { Transaction } from '../../database.ts';

export interface AccountFields {
  readonly name: string;
  /** Where those are reached who look after it; nothing signs in with it. */
  readonly email: string | null;
}

/** What is not given stays as it is. */
export type AccountChange = { readonly [K in keyof AccountFields]?: AccountFields[K] | undefined };

/** A service account has one name; the row of a user has two. */
const nameInRow = (name: string) => ({ firstName: name, lastName: '' });

/** Gives the id. The account is a member of nothing yet. */
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

/** The row stays, inactive and without an address: the activity log goes on telling what it did. */
export const retireAccount = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.user.update({ where: { id: userId }, data: { isActive: false, email: null } });
};
