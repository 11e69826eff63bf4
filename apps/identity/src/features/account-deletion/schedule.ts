import { HttpError } from '@tessera/http-kit';
import type { Transaction } from '../../database.ts';
import type { AccountDeletion } from '../../generated/prisma/client.ts';

/** How often scheduling is tried while others cancel the deletion. */
const ATTEMPTS = 3;

/** Stores a deletion, or finds the one that is already scheduled. */
export const schedule = async (
  tx: Pick<Transaction, 'accountDeletion'>,
  data: AccountDeletion,
): Promise<{ readonly deletion: AccountDeletion; readonly isNew: boolean }> => {
  const { userId } = data;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { count } = await tx.accountDeletion.createMany({ data, skipDuplicates: true });
    // The one that was found first may have been cancelled since.
    const deletion = await tx.accountDeletion.findUnique({ where: { userId } });
    if (deletion) return { deletion, isNew: count > 0 };
  }
  throw new HttpError(409, 'conflict', 'The deletion was cancelled at the same time. Try again.');
};
