import type { Database } from '../database.ts';

/** The highest bcrypt cost of the stored passwords; 0 if there are none. An index contains it. */
export const highestStoredCost =
  (database: Pick<Database, '$queryRaw'>) => async (): Promise<number> => {
    const [found] = await database.$queryRaw<[{ cost: string | null }]>`
      SELECT max(substring(password_hash from '^\\$2[aby]\\$(\\d\\d)\\$')) AS cost FROM identity.users`;
    return Number(found.cost);
  };
