import { email as emailField, isUuid } from '@tessera/fields';
import type { Database } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import { valid } from '../create.ts';

/** The user with an id, or who has confirmed an address. Throws if there is none. */
export const findUser = async (database: Database, emailOrId: string): Promise<User> => {
  const where = isUuid(emailOrId)
    ? { id: emailOrId }
    : {
        email: valid(emailField(), emailOrId, 'user'),
        emailVerifiedAt: { not: null },
        // Their address says only where somebody can be reached.
        isServiceAccount: false,
      };
  const user = await database.user.findFirst({ where });
  if (!user) throw new Error(`There is no user ${emailOrId}.`);
  return user;
};
