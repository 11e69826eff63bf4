import { isUuid } from '@tessera/fields';
import type { Database } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';

/** The user with an id, or who has confirmed an address. Throws if there is none. */
export const findUser = async (database: Database, emailOrId: string): Promise<User> => {
  const user = isUuid(emailOrId)
    ? await database.user.findUnique({ where: { id: emailOrId } })
    : await database.user.findFirst({
        where: { email: emailOrId.toLowerCase(), emailVerifiedAt: { not: null } },
      });
  if (!user) throw new Error(`There is no user ${emailOrId}.`);
  return user;
};
